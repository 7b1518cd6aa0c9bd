"""One hour's bill under commitments of money, at each commitment alone: validates the provider's rule of billing an
hour, which plans do not use; they commit money against the use of whole months."""

from __future__ import annotations

import math
from collections.abc import Mapping

from pydantic import Field

from planner.request.field_types import Amount
from planner.studies.comparison import Nested
from planner.studies.formulas import SavingsPlanBill, SavingsPlanUse, savings_plan_bill
from planner.studies.inputs import StudyInputs

LEAVES_OUT = "It leaves out every other hour: what a commitment wastes shows only over all hours of its term."
NO_FULL_COST = "a bill, no hardware is owned"
ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")


class SavingsPlanItem(StudyInputs):
    """What ran; without a plan rate it is not covered."""

    name: str = ""
    units: Amount = 1.0
    on_demand: Amount
    plan_rate: Amount | None = None


class SavingsPlanInputs(StudyInputs):
    """Usage of an hour, and commitments to try."""

    usage: list[SavingsPlanItem]
    commitments: list[Amount] = Field(default_factory=list)

    def bills(self) -> list[SavingsPlanBill]:
        usage = [SavingsPlanUse(item.units, item.on_demand, item.plan_rate) for item in self.usage]
        return [savings_plan_bill(usage, commitment) for commitment in self.commitments]


INPUTS = SavingsPlanInputs


def outputs(inputs: SavingsPlanInputs) -> Mapping[str, Nested]:
    bills = inputs.bills()
    on_demand = math.fsum(item.units * item.on_demand for item in inputs.usage)
    results: dict[str, Nested] = {
        "plan_cost_of_all_usage": math.fsum(
            item.units * (item.on_demand if item.plan_rate is None else item.plan_rate) for item in inputs.usage
        ),
        "on_demand_cost_of_all_usage": on_demand,
        "on_demand_remainder": [bill.on_demand for bill in bills],
        "total_charge": [bill.charge for bill in bills],
        "waste": [bill.wasted for bill in bills],
        "used_commitment": [c - bill.wasted for c, bill in zip(inputs.commitments, bills, strict=True)],
        "saving": [on_demand - bill.charge for bill in bills],
        "remainder_by_item": [list(bill.remainders) for bill in bills],
    }
    for case, bill in zip(ORDINALS, bills, strict=False):
        for item, left in zip(ORDINALS, bill.remainders, strict=False):
            results[f"{item}_item_remainder_in_{case}_case"] = left
    return results
