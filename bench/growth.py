"""How the processor time of one strategy grows with workloads, months and prices: of a plan that is asked for quickly,
and of market, pruning and the program of all that is sold, which such a plan builds and searches only in part."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from statistics import median

from measure import Figure
from portfolio import portfolio, setting_of
from portfolios import planned

from planner.optimization.model import build_program
from planner.optimization.strategy import strategy_scope
from planner.request.models import Request
from pricing.catalog.price_catalog import Catalog

GOAL = 1.2
"""The most that a time may grow by, as a power of the size."""
PARTS = (10, 2, 1)
"""Every tenth, every second and every region."""


def growth() -> Iterator[Figure]:
    """The whole program of one strategy, and its plan asked for quickly: processor time, and powers of the size."""
    catalog = Catalog.embedded()
    yield from _series("workloads, 12 months: program", [(n, _asked(n, 12)) for n in (1, 2, 5, 10, 20, 50)], _build)
    yield from _series("months, 2 workloads: program", [(n, _asked(2, n)) for n in (6, 12, 24, 36, 60)], _build)
    yield from _series("prices, 5 workloads x 12 months: program", _by_prices(5, catalog), _build)
    yield from _series("workloads, 12 months: plan", [(n, _asked(n, 12)) for n in (10, 20, 50, 100, 200)], _plan)
    yield from _series("months, 10 workloads: plan", [(n, _asked(10, n)) for n in (12, 24, 36, 60)], _plan)
    yield from _series("prices, 14 workloads x 12 months: plan", _by_prices(14, catalog), _plan)


def _asked(workloads: int, months: int, **more: object) -> Request:
    return portfolio(workloads, months, effort="quick", strategies=["hybrid"], **more)


def _by_prices(workloads: int, catalog: Catalog) -> list[tuple[int, Request]]:
    """A request for each part of the regions, with the number of prices there."""
    everywhere = sorted({quote.price.region for quote in catalog.quotes()})
    asked = []
    for part in PARTS:
        regions = set(everywhere[::part]) | {"us-east-1", "us-central1", "eastus", "europe-west4", "eu-north-1"}
        count = sum(quote.price.region in regions for quote in catalog.quotes())
        asked.append((count, _asked(workloads, 12, regions=sorted(regions))))
    return asked


def _build(request: Request) -> str:
    setting = setting_of(request, Catalog.embedded())
    program = build_program(setting, strategy_scope("hybrid", setting))
    return f"{len(program.columns):,} columns"


def _plan(request: Request) -> str:
    best = planned(request).solution
    return f"{100 * (best.objective - best.bound) / best.objective:.1f} % above the bound"


def _series(title: str, asked: Sequence[tuple[int, Request]], work: Callable[[Request], str]) -> Iterator[Figure]:
    """Milliseconds of each size, and the power that they grow by from the first to the last."""
    took: list[float] = []
    for size, request in asked:
        result, spent = _timed(work, request)
        took.append(spent)
        sys.stderr.write(f"  {size:,} {title}: {result}, {spent:,.0f} ms\n")
        yield Figure(f"{size:,} {title}, {result}", spent)
    (first, _), (last, _) = asked[0], asked[-1]
    power = math.log(took[-1] / took[0]) / math.log(last / first)
    yield Figure(f"{first:,} to {last:,} {title}", took[-1], power, "as power of the size", GOAL)


def _timed(work: Callable[[Request], str], request: Request) -> tuple[str, float]:
    """What came of it, and its milliseconds of the processor: the median of three where the first takes under 2 s."""
    result, took = "", []
    while not took or (len(took) < 3 and took[0] < 2000):
        began = time.process_time()
        result = work(request)
        took.append((time.process_time() - began) * 1000)
    return result, median(took)
