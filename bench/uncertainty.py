"""Decisions under uncertainty against the plan that they stand beside: 50 scenarios of the review of the examples."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

from measure import ROOT, Figure

from planner.application import plan
from planner.inputs.file_reader import read_isolated
from planner.inputs.sheet_options import SheetOptions
from planner.request.models import Request, parse_request
from pricing.catalog.price_catalog import Catalog

GOAL = 10.0
"""Times the plan without uncertainty."""
RANGES = {"demand_change_annual": {"low": -0.4, "high": 0.8}}


def uncertainty() -> Iterator[Figure]:
    """CPU time of 50 scenarios of the review (14 workloads, 12 months), with the plan, against the plan alone."""
    catalog = Catalog.embedded()
    document = _read_review(catalog)
    plain = _time_plan(parse_request(document), catalog)
    yield Figure("the review's plan alone", plain)
    for title, weight in (("least mean", 0.0), ("mean and the dearest tenth at 0.3", 0.3)):
        asked = {"ranges": RANGES, "scenarios": 50, "tail_weight": weight}
        took = _time_plan(parse_request({**document, "uncertainty": asked}), catalog)
        yield Figure(f"50 scenarios, {title}", took, took / plain, "of the plan alone", GOAL)


def _read_review(catalog: Catalog) -> dict[str, Any]:
    path = ROOT / "examples" / "capacity-review.xlsx"
    source = read_isolated(path.read_bytes(), path.name, SheetOptions({}, {}, "", catalog))
    return {**source.document, "as_of": "2026-11-21", "start": "2026-12", "months": 12}


def _time_plan(request: Request, catalog: Catalog) -> float:
    """Milliseconds of processor time."""
    began = time.process_time()
    plan(request, catalog)
    return (time.process_time() - began) * 1000
