"""The order in which savings plans apply to an hour's usage, and the bill: validates the provider's rule, which plans
do not use; they commit money against the use of whole months."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Literal

from planner.request.field_types import Amount
from planner.studies.comparison import Nested
from planner.studies.formulas import SavingsPlanUse, order_savings_plan_uses, savings_plan_bill
from planner.studies.inputs import StudyInputs
from pricing.frozen_values import dataclass

LEAVES_OUT = "It leaves out every other hour, and that the owner's account is served before those that share its plans."
NO_FULL_COST = "a bill, no hardware is owned"
PlanKind = Literal["ec2_instance", "compute"]
ORDER: tuple[PlanKind, ...] = ("ec2_instance", "compute")
"""Reservations apply first, then plans for one family in one region, then those for all compute."""


class OrderedPlanItem(StudyInputs):
    """What ran in the hour, and its rates under each kind of plan; without a rate that kind does not cover it."""

    name: str
    units: Amount = 1.0
    reserved_units: Amount = 0.0
    on_demand: Amount
    ec2_instance_rate: Amount | None = None
    compute_rate: Amount | None = None

    def use(self, kind: PlanKind, units: float) -> SavingsPlanUse:
        return SavingsPlanUse(
            units, self.on_demand, self.ec2_instance_rate if kind == "ec2_instance" else self.compute_rate
        )


class SavingsPlanOrderInputs(StudyInputs):
    """Usage of an hour, and the commitment per hour to each kind of plan: plans of a kind apply together."""

    usage: list[OrderedPlanItem]
    commitments: dict[PlanKind, Amount]


@dataclass(frozen=True, slots=True)
class AppliedPlan:
    """A kind of plan applied: figures of each use by its name."""

    position: dict[str, float]
    savings_percent: dict[str, float]
    covered_units: dict[str, float]
    wasted: float
    units_left: tuple[float, ...]


INPUTS = SavingsPlanOrderInputs


def outputs(inputs: SavingsPlanOrderInputs) -> Mapping[str, Nested]:
    left = tuple(max(0.0, item.units - item.reserved_units) for item in inputs.usage)
    before = _cost_on_demand(inputs.usage, left)
    applied: dict[str, AppliedPlan] = {}
    for kind in ORDER:
        if kind in inputs.commitments:
            applied[kind] = _apply_plan(inputs.usage, left, kind, inputs.commitments[kind])
            left = applied[kind].units_left
    rest = _cost_on_demand(inputs.usage, left)
    charge = math.fsum((*inputs.commitments.values(), *rest))
    return {
        "position": _one_or_all({kind: plan.position for kind, plan in applied.items()}),
        "savings_percent": _one_or_all({kind: plan.savings_percent for kind, plan in applied.items()}),
        "covered_units": _one_or_all({kind: plan.covered_units for kind, plan in applied.items()}),
        "wasted_usd": _one_or_all({kind: plan.wasted for kind, plan in applied.items()}),
        "on_demand_usd": {item.name: cost for item, cost in zip(inputs.usage, rest, strict=True)},
        "on_demand_remainder_usd": math.fsum(rest),
        "all_on_demand_usd": math.fsum(before),
        "charge_usd": charge,
        "saving_usd": math.fsum(before) - charge,
    }


def _apply_plan(
    usage: Sequence[OrderedPlanItem], units: Sequence[float], kind: PlanKind, commitment: float
) -> AppliedPlan:
    uses = [item.use(kind, left) for item, left in zip(usage, units, strict=True)]
    order = order_savings_plan_uses(uses)
    bill = savings_plan_bill(uses, commitment)
    units_left = tuple(
        rest / use.on_demand if use.on_demand else use.units for rest, use in zip(bill.remainders, uses, strict=True)
    )
    return AppliedPlan(
        position={usage[index].name: float(place) for place, index in enumerate(order, start=1)},
        savings_percent={
            usage[index].name: 100 * (1 - (uses[index].plan_rate or 0.0) / uses[index].on_demand) for index in order
        },
        covered_units={usage[index].name: units[index] - units_left[index] for index in order},
        wasted=bill.wasted,
        units_left=units_left,
    )


def _cost_on_demand(usage: Sequence[OrderedPlanItem], units: Sequence[float]) -> list[float]:
    return [item.on_demand * left for item, left in zip(usage, units, strict=True)]


def _one_or_all(by_kind: Mapping[str, Nested]) -> Nested:
    """The figures of the only kind of plan there is, without its name."""
    return next(iter(by_kind.values())) if len(by_kind) == 1 else by_kind
