"""Cost of a million tokens on an owned and on a rented system that run at full speed around the clock.

Plans cost work by allocating the payments of a strategy, so cost per hour over throughput has no counterpart there:
this validates the study's formula. Its full cost is that of a plan's node.
"""

from __future__ import annotations

from collections.abc import Mapping

from planner.request.field_types import Amount, Positive
from planner.studies.comparison import Nested
from planner.studies.conventions import FullCost, PlanningConventions
from planner.studies.formulas import cost_per_unit
from planner.studies.inputs import PositiveFraction, Positives, StudyInputs, apply_to_each

LEAVES_OUT = "It leaves out network, staff, resale, discounting and idle hours, unless a utilisation is stated."
SECONDS, MILLION = 3600, 1e6


class TokensCostInputs(StudyInputs):
    """Tokens a second of the whole system, rents and speeds singly or by name."""

    capex_usd: Amount | None = None
    life_hours: Positive | None = None
    onprem_usd_per_hour: Amount = 0.0
    cloud_usd_per_hour: Positives | None = None
    tokens_per_second: Positives
    utilisation: PositiveFraction = 1.0

    def per_million(self, usd_per_hour: float) -> Nested:
        def cost(speed: float) -> float:
            return cost_per_unit(usd_per_hour, speed * SECONDS * self.utilisation, MILLION)

        return _as_nested(apply_to_each(cost, self.tokens_per_second))

    @property
    def own_per_hour(self) -> float | None:
        """The rent that owning equals over its life: capital / hours of life + running costs."""
        if self.capex_usd is None or self.life_hours is None:
            return None
        return (self.capex_usd + self.onprem_usd_per_hour * self.life_hours) / self.life_hours


INPUTS = TokensCostInputs


def outputs(inputs: TokensCostInputs) -> Mapping[str, Nested]:
    results: dict[str, Nested] = {}
    own, rents = inputs.own_per_hour, inputs.cloud_usd_per_hour
    if own is not None:
        results["onprem_amortised_usd_per_hour"] = own
        results["onprem_usd_per_million_tokens"] = inputs.per_million(own)
    if rents is not None:
        results["cloud_usd_per_million_tokens"] = _as_nested(apply_to_each(inputs.per_million, rents))
    if own and rents is not None:
        results["ratio"] = _as_nested(apply_to_each(lambda rent: rent / own, rents))
        results["saving_fraction"] = _as_nested(apply_to_each(lambda rent: 1 - own / rent, rents))
    return results


def _as_nested(value: Nested | Mapping[str, Nested] | list[Nested]) -> Nested:
    return value


def full_cost(inputs: TokensCostInputs, house: PlanningConventions) -> FullCost:
    if inputs.capex_usd is None:
        return FullCost({}, "no price of a system is given")
    node, basis = house.system(house.title, inputs.capex_usd)
    if node is None:
        return FullCost({}, basis)
    own = house.per_hour(node)
    results: dict[str, Nested] = {"own_usd_per_hour": own, "own_usd_per_million_tokens": inputs.per_million(own)}
    if inputs.cloud_usd_per_hour is not None:
        results["ratio"] = _as_nested(apply_to_each(lambda rent: rent / own, inputs.cloud_usd_per_hour))
    return FullCost(results, f"{basis}; {house.all_in}")
