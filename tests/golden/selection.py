"""Writes `requests.jsonl`: of each theme the first requests that are planned to the proof, quickly, and steadily."""

from __future__ import annotations

import contextlib
import json
import sys
import time
from collections.abc import Iterator
from typing import Any
from unittest import mock

from tests.golden.cases import REQUESTS, request_case
from tests.golden.comparison import differences
from tests.golden.draw import THEMES, Theme, draw, impossible
from tests.golden.outputs import outputs_of

EACH = 3
"""Requests kept of each theme."""
SECONDS = 5.0
"""Processor time that a case may take, so that no limit of the solver in seconds is ever near."""
NODES = 300
"""Nodes of the solver's search after which a request is given up."""
DISTURBANCES = (1, 2, 3)
ROUNDING = 4e-16
"""By about how much a cost may change where it is computed in another order."""
OPTIONS = {
    "money": ["--exchange-rates", "exchange-rates.csv", "--private-prices", "private-prices.csv"],
    "savings-plans": ["--private-prices", "negotiated-prices.csv"],
    "commitments": ["--private-prices", "private-prices.csv"],
}
"""Options that the requests of a theme are planned with."""

Outputs = dict[str, Any]


def select() -> int:
    """Draw, try and write the requests; the number written."""
    lines = [line for theme in THEMES for line in _of_theme(theme)]
    REQUESTS.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return len(lines)


def _of_theme(theme: Theme) -> list[dict[str, Any]]:
    kept: list[dict[str, Any]] = []
    seed = 0
    while len(kept) < EACH:
        seed += 1
        line = _line(theme, seed, len(kept))
        begun = time.process_time()
        with _solver(rounding=0.0):
            found = outputs_of(request_case(line))
        seconds = time.process_time() - begun
        verdict = _verdict(found, impossible=theme is impossible)
        verdict = verdict or ("slow" if seconds > SECONDS else _unsteady(line, found))
        sys.stdout.write(f"{line['name']} (seed {seed}): {verdict or 'kept'}, {seconds:.1f} s\n")
        kept += [] if verdict else [line]
    return kept


def _line(theme: Theme, seed: int, index: int) -> dict[str, Any]:
    """What is stored of a request: how it is planned, and which other commands read it."""
    name = theme.__name__.replace("_", "-")
    line = {"name": f"{name}-{index + 1}", "options": OPTIONS.get(name, []), "request": draw(theme, seed)}
    if "networks" in name:
        line["also"] = ["memory", "throughput"]
    if index == 1 and name not in ("risk", "impossible"):
        line["then"] = ["--discount-rate", "0.13"]
    return line


def _verdict(found: Outputs, *, impossible: bool) -> str:
    """Why a request is not kept; empty where it is."""
    plan = found.get("plan.json")
    if plan is None:
        return f"exit {found['estimate.exit']}: {found.get('estimate.errors')}"
    statuses = {strategy["status"] for strategy in plan["strategies"]}
    if not statuses <= {"optimal", "infeasible"}:
        return f"statuses {sorted(statuses)}"
    if impossible != (statuses == {"infeasible"}):
        return "possible" if impossible else "impossible"
    return ""


def _unsteady(line: dict[str, Any], found: Outputs) -> str:
    """Whether rounding makes another plan: of several that cost the same, the last digit of a cost may decide."""
    for seed in DISTURBANCES:
        with _solver(ROUNDING, seed):
            other = outputs_of(request_case(line))
        if difference := next(differences(found, other), None):
            return f"not steady: {difference}"
    return ""


@contextlib.contextmanager
def _solver(rounding: float, seed: int = 0) -> Iterator[None]:
    """Every program that the solver gets has its costs changed in their last digit, and is given up after NODES."""
    import highspy
    import numpy as np

    chance = np.random.default_rng(seed)
    original = highspy.Highs.passModel

    def passed(solver: Any, program: Any) -> Any:
        costs = np.array(program.col_cost_)
        program.col_cost_ = costs * (1 + rounding * chance.integers(-2, 3, len(costs)))
        solver.setOptionValue("mip_max_nodes", NODES)
        return original(solver, program)

    with mock.patch.object(highspy.Highs, "passModel", passed):
        yield
