"""Writes `requests.jsonl`: of each theme the first requests that are planned to the proof, and quickly."""

from __future__ import annotations

import json
import sys
import time
from typing import Any

from tests.golden.cases import REQUESTS, Case, planned, request_case
from tests.golden.draw import THEMES, Theme, draw, impossible
from tests.golden.outputs import outputs_of

EACH = 3
"""Requests kept of each theme."""
SECONDS = 4.0
"""Processor time that a plan may take, so that no limit of the solver in seconds is ever near."""
OPTIONS = {
    "money": ["--exchange-rates", "exchange-rates.csv", "--private-prices", "private-prices.csv"],
    "savings-plans": ["--private-prices", "negotiated-prices.csv"],
    "commitments": ["--private-prices", "private-prices.csv"],
}
"""Options that the requests of a theme are planned with."""


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
        found = outputs_of(_case(line))
        seconds = time.process_time() - begun
        verdict = _verdict(found, impossible=theme is impossible)
        if not verdict and seconds > SECONDS:
            verdict = "slow"
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


def _case(line: dict[str, Any]) -> Case:
    case = request_case(line)
    return Case(
        case.group, case.name, (planned("request.json", *line["options"], formats=("plan.json",)),), case.inputs
    )


def _verdict(found: dict[str, Any], *, impossible: bool) -> str:
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
