"""Portfolios of any size over a real catalogue: mixed kinds of work, made from a seed. Synthetic, nobody's demand."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any
from unittest.mock import patch

from planner import pipeline as planning
from planner.optimization import solve_strategies
from planner.optimization.solution import PlanningContext
from planner.optimization.strategy import SolvedStrategy
from planner.request.models import Request, parse_request
from pricing.catalog.price_catalog import Catalog

AS_OF = "2026-11-21"
TEN = ((5, 6), (6, 12), (7, 6), (8, 6), (5, 9), (9, 6), (10, 6), (6, 12), (12, 6), (7, 9))
"""Workloads and months of ten small portfolios, made from the seeds 1 to 10."""
PLACES = ({}, {}, {"residency": ["EU"]}, {"providers": ["aws", "azure"]}, {"providers": ["gcp"]})
Job = dict[str, Any]


def portfolio(workloads: int, months: int, seed: int = 1, **settings: object) -> Request:
    """A request for so many workloads; the first ones of a longer portfolio are those of a shorter one."""
    return parse_request(portfolio_document(workloads, months, seed, **settings))


def portfolio_document(workloads: int, months: int, seed: int = 1, **settings: object) -> Job:
    """The same as a JSON document."""
    chance = random.Random(seed)
    makers = (_hours, _batch, _service, _deadline, _night)
    jobs = [makers[number % len(makers)](chance, months) for number in range(workloads)]
    for number, job in enumerate(jobs):
        job["name"] = f"job {number:03d}"
    return {"as_of": AS_OF, "months": months, "workloads": jobs, **settings}


class _Seen(Exception):
    """Carries a setting out of a plan that is not solved."""

    def __init__(self, setting: PlanningContext) -> None:
        super().__init__()
        self.setting = setting


def setting_of(request: Request, catalog: Catalog) -> PlanningContext:
    """All that the strategies of a request's plan share, as the product makes it, and nothing solved."""

    def stop(_: str, setting: PlanningContext, *_more: float) -> SolvedStrategy:
        raise _Seen(setting)

    with patch.object(solve_strategies, "solve_strategy", stop):
        try:
            planning.plan(request, catalog)
        except _Seen as seen:
            return seen.setting
    raise ValueError("some workload cannot be served: there is nothing to solve")


def _hours(chance: random.Random, months: int) -> Job:
    """Training in accelerator-hours that stays on its accelerator."""
    accelerator, gang = chance.choice([("H100-SXM", 8), ("A100-80GB-SXM", 8), ("H200", 8), ("L4", 4), ("H100-SXM", 16)])
    demand = {"accelerator_hours_per_month": _path(chance, 40_000, months), "accelerator": accelerator}
    return {"kind": "training", "demand": demand, "gang": gang, "storage_gb": 5000, **_common(chance)}


def _batch(chance: random.Random, months: int) -> Job:
    """Batch work measured on one accelerator and free to run on any of its maker."""
    accelerator, rate = chance.choice([("L4", 400.0), ("A100-80GB-SXM", 2500.0), ("H100-SXM", 5000.0)])
    measurement = {"accelerator": accelerator, "count": 1, "units_per_second": rate, "per": "job"}
    units = [value * rate * 3600 for value in _path(chance, 8000, months)]
    demand = {"units_per_month": units}
    return {"kind": "batch", "unit": "tokens", "demand": demand, "measurements": [measurement], **_common(chance)}


def _service(chance: random.Random, months: int) -> Job:
    """A service whose replicas follow the day."""
    accelerator, count, rate = chance.choice([("L4", 1, 6.0), ("L40S", 1, 20.0), ("H100-SXM", 2, 90.0)])
    measurement = {"accelerator": accelerator, "count": count, "units_per_second": rate, "per": "job"}
    per_second = [value * rate for value in _path(chance, 30, months)]
    shape = chance.choice(["flat", "day_and_evening", "business_hours"])
    demand = {"requests_per_second": per_second, "daily_shape": shape}
    return {"kind": "inference", "demand": demand, "measurements": [measurement], **_common(chance)}


def _deadline(chance: random.Random, months: int) -> Job:
    """One job with an amount of work and a month to have it done."""
    accelerator, rate = chance.choice([("A100-80GB-SXM", 22_000.0), ("H100-SXM", 45_000.0)])
    due = chance.randint(min(3, months), min(12, months))
    measurement = {"accelerator": accelerator, "count": 8, "units_per_second": rate, "per": "job"}
    demand = {"total_units": chance.uniform(0.4, 4.0) * due * 730 * 3600 * rate, "deadline_month": due}
    return {"kind": "training", "unit": "tokens", "demand": demand, "measurements": [measurement], **_common(chance)}


def _night(chance: random.Random, months: int) -> Job:
    """Interactive work in office hours."""
    demand = {
        "accelerator_hours_per_month": _path(chance, 4000, months),
        "accelerator": chance.choice(["T4", "L4"]),
        "daily_shape": "business_hours",
    }
    return {"kind": "interactive", "demand": demand, **_common(chance)}


def _path(chance: random.Random, most: float, months: int) -> list[float]:
    """Growing, flat, falling or seasonal, never nothing."""
    level, kind = chance.uniform(0.1, 1.0) * most, chance.choice(["flat", "growing", "falling", "waves"])
    step: Callable[[int], float] = {
        "flat": lambda _: 1.0,
        "growing": lambda month: 1.03**month,
        "falling": lambda month: 0.97**month,
        "waves": lambda month: 1.4 if month % 12 in (2, 3, 10, 11) else 0.8,
    }[kind]
    return [level * step(month) * chance.uniform(0.9, 1.1) for month in range(months)]


def _common(chance: random.Random) -> Job:
    return {"interruptible": chance.random() < 0.4, **chance.choice(PLACES)}
