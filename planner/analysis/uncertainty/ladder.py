"""The ladder: what to commit to now, and what later at which trigger."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise

from planner.analysis.uncertainty.scenarios import Scenario
from planner.optimization.solution import PlanningContext
from planner.optimization.two_stage import FollowedPlan, ScenarioProgram
from planner.result.uncertainty import LadderStep, TriggerValue
from planner.supply.candidates import Candidate
from planner.supply.costs import SharedResource
from planner.supply.resources import Resource
from pricing.frozen_values import dataclass

PERIOD_MONTHS = 3
LEAST_PART = 0.05
"""Of a unit: less, in a later decision in fractions, is no step."""
ALWAYS = 1 - 1e-9


@dataclass(frozen=True, slots=True)
class _Period:
    first: int
    last: int


def build_ladder(
    best: FollowedPlan,
    programs: Sequence[ScenarioProgram],
    scenarios: Sequence[Scenario],
    planned: PlanningContext,
    decide_months: int,
) -> tuple[LadderStep, ...]:
    """The steps by time; of a period the likeliest first."""
    taken: dict[tuple[_Period, tuple[str, ...]], list[float]] = defaultdict(lambda: [0.0] * len(programs))
    resources: dict[tuple[str, ...], Resource] = {}
    for number, (program, values) in enumerate(zip(programs, best.values, strict=True)):
        for resource, month, quantity in program.list_starts(values):
            period = _find_period(month, decide_months, planned.terms.months)
            taken[period, resource.key][number] += quantity
            resources[resource.key] = resource
    steps = []
    for (period, key), quantities in taken.items():
        known = [quantity if quantity >= LEAST_PART else 0.0 for quantity in quantities]
        if any(known):
            is_now = period.first <= decide_months
            steps.append(_build_step(resources[key], period, known, scenarios, planned, is_now=is_now))
    return tuple(sorted(steps, key=lambda step: (step.first_month, -step.probability, step.name, step.purchase_option)))


def _find_period(month: int, decide_months: int, months: int) -> _Period:
    """The months decided now, or the quarter after them."""
    if month <= decide_months:
        return _Period(1, min(decide_months, months))
    first = decide_months + 1 + (month - decide_months - 1) // PERIOD_MONTHS * PERIOD_MONTHS
    return _Period(first, min(first + PERIOD_MONTHS - 1, months))


def _build_step(
    resource: Resource,
    period: _Period,
    quantities: Sequence[float],
    scenarios: Sequence[Scenario],
    planned: PlanningContext,
    *,
    is_now: bool,
) -> LadderStep:
    weights = [scenario.weight for scenario in scenarios]
    is_taken = [quantity > 0 for quantity in quantities]
    probability = math.fsum(weight for weight, taken in zip(weights, is_taken, strict=True) if taken)
    return LadderStep(
        first_month=period.first,
        last_month=period.last,
        is_now=is_now,
        what="owned" if resource.node is not None else "commitment",
        name=resource.name,
        provider=resource.provider,
        region=resource.region,
        purchase_option=resource.purchase_option,
        unit=resource.unit,
        least=min(quantity for quantity in quantities if quantity),
        mean=math.fsum(quantity * weight for quantity, weight in zip(quantities, weights, strict=True)),
        most=max(quantities),
        probability=min(probability, 1.0),
        trigger=None if is_now or probability >= ALWAYS else find_trigger(is_taken, scenarios),
        break_even_utilisation=_find_break_even(resource.key, period.first, planned),
    )


def find_trigger(is_taken: Sequence[bool], scenarios: Sequence[Scenario]) -> TriggerValue | None:
    """The figure and value that tell most of the weight rightly; None where always or never taking the step would tell
    as much. Of equals the first figure in the order of the scenarios' figures."""
    weights = [scenario.weight for scenario in scenarios]
    taken = math.fsum(weight for weight, is_so in zip(weights, is_taken, strict=True) if is_so)
    best: TriggerValue | None = None
    told = max(taken, 1 - taken) + 1e-9
    for name in scenarios[0].values:
        for at, below in _list_splits(name, scenarios):
            rightly = math.fsum(w for w, is_so, low in zip(weights, is_taken, below, strict=True) if is_so != low)
            for is_above, accuracy in ((True, rightly), (False, 1 - rightly)):
                if accuracy > told:
                    best, told = TriggerValue(name, is_above, at, min(accuracy, 1.0)), accuracy + 1e-9
    return best


def _list_splits(name: str, scenarios: Sequence[Scenario]) -> Iterator[tuple[float, list[bool]]]:
    """Values between those of the scenarios, with whether each scenario is below."""
    values = [scenario.values[name] for scenario in scenarios]
    ordered = sorted(set(values))
    for low, high in pairwise(ordered):
        at = (low + high) / 2
        yield at, [value < at for value in values]


def _find_break_even(key: tuple[str, ...], month: int, planned: PlanningContext) -> float | None:
    """The share of its hours from which one unit started in a month costs less than the same work by the hour, with the
    planned figures; None where that is never so, or nothing is rented by the hour instead."""
    item = next((each for each in planned.choice.shared if each.resource.key == key), None)
    start = next((s for s in item.starts if s.month == month), None) if item else None
    if item is None or start is None or not start.covers:
        return None
    hours = item.hours(planned.terms.hours_per_month)
    saved = max((_hourly_cost(item, c, planned, start.covers) for c in item.candidates), default=0.0) * hours
    return start.present_cost / saved if 0 < start.present_cost <= saved else None


def _hourly_cost(item: SharedResource, candidate: Candidate, planned: PlanningContext, months: range) -> float:
    """What the work of one unit in an hour costs by the hour, over months; 0 where it is not sold."""
    resources, rates = planned.market.resources, planned.choice.rates
    place = resources[candidate.resource].place
    by_hour = [*planned.choice.hourly[candidate.need], *planned.choice.overflow[candidate.need]]
    rivals = [
        rival for rival in by_hour
        if not resources[rival.resource].interrupts
        and (item.resource.node is not None or resources[rival.resource].place == place)
    ]  # fmt: skip
    if not rivals:
        return 0.0
    units = candidate.units_per_node_hour / item.weight(candidate)
    cost = math.fsum(min(rates[r.resource][month - 1] / r.units_per_node_hour for r in rivals) for month in months)
    return units * cost if math.isfinite(cost) else 0.0
