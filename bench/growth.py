"""How the time of one strategy grows with workloads, months and prices, up to the market, the program and the proof."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Iterator, Sequence

from measure import Figure
from portfolio import portfolio, setting_of

from planner.optimization.model import build_program
from planner.optimization.solver import solve_program
from planner.optimization.strategy import strategy_scope
from planner.request.models import Request
from pricing.catalog.price_catalog import Catalog

LIMIT_S = 20.0
WORKLOADS, MONTHS = (1, 2, 5, 10, 20, 50), (6, 12, 24, 36, 60)
PARTS = (10, 2, 1)
"""Every tenth, every second and every region."""


def growth() -> Iterator[Figure]:
    """One strategy (cloud): market, pruning and program, and the search of at most 20 s, as powers of the size."""
    catalog = Catalog.embedded()
    yield from series("workloads, 12 months", [(n, portfolio(n, 12)) for n in WORKLOADS], catalog)
    yield from series("months, 2 workloads", [(n, portfolio(2, n)) for n in MONTHS], catalog)
    everywhere = sorted({quote.price.region for quote in catalog.quotes()})
    parts = []
    for part in PARTS:
        regions = set(everywhere[::part]) | {"us-east-1", "us-central1", "eastus", "europe-west4", "eu-north-1"}
        count = sum(quote.price.region in regions for quote in catalog.quotes())
        parts.append((count, portfolio(5, 12, regions=sorted(regions))))
    yield from series("prices, 5 workloads x 12 months", parts, catalog)


def series(title: str, asked: Sequence[tuple[int, Request]], catalog: Catalog) -> Iterator[Figure]:
    """Milliseconds of each size; of the last, the power of the size that the time grew by since the first."""
    before: list[tuple[int, float]] = []
    for size, request in asked:
        setting_of(request, catalog)
        began = time.perf_counter()
        setting = setting_of(request, catalog)
        program = build_program(setting, strategy_scope("cloud", setting))
        made = (time.perf_counter() - began) * 1000
        found = solve_program(program, LIMIT_S)
        took = (time.perf_counter() - began) * 1000
        gap = (found.objective - found.bound) / found.objective if found.values else math.inf
        sys.stderr.write(f"  {title}: {size}, {len(program.columns):,} columns, {took:,.0f} ms, {100 * gap:.3f} %\n")
        before.append((size, made))
        proof = "proven" if found.status == "optimal" else f"{100 * gap:.2f} % open"
        yield Figure(f"{size:,} {title}: program", made)
        yield Figure(f"{size:,} {title}: search, {proof}", took - made)
    (first, least), (last, most) = before[0], before[-1]
    power = math.log(most / least) / math.log(last / first)
    yield Figure(f"program, {first:,} to {last:,} {title}", most, power, "as power of the size", 1.0)
