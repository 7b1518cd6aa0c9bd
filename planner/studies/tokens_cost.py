"""Cost of a million tokens on an owned and on a rented system that run at full speed around the clock."""

from __future__ import annotations

from collections.abc import Mapping

from planner.fields import Amount, Positive
from planner.finance import break_even_price, cost_per_unit
from planner.studies import _inputs
from planner.studies._compare import Nested
from planner.studies._house import FullCost, House
from planner.studies._inputs import Positives, Share, each

LEAVES_OUT = "It leaves out network, staff, resale, discounting and idle hours, unless a utilisation is stated."
SECONDS, MILLION = 3600, 1e6


class Inputs(_inputs.Inputs):
    """Tokens a second of the whole system, rents and speeds singly or by name."""

    capex_usd: Amount | None = None
    life_hours: Positive | None = None
    onprem_usd_per_hour: Amount = 0.0
    cloud_usd_per_hour: Positives | None = None
    tokens_per_second: Positives
    utilisation: Share = 1.0

    def per_million(self, usd_per_hour: float) -> Nested:
        def cost(speed: float) -> float:
            return cost_per_unit(usd_per_hour, speed * SECONDS * self.utilisation, MILLION)

        return _nested(each(cost, self.tokens_per_second))

    @property
    def own_per_hour(self) -> float | None:
        """The rent that owning equals over its life: capital / hours of life + running costs."""
        if self.capex_usd is None or self.life_hours is None:
            return None
        return break_even_price(self.capex_usd + self.onprem_usd_per_hour * self.life_hours, self.life_hours)


def outputs(inputs: Inputs) -> Mapping[str, Nested]:
    found: dict[str, Nested] = {}
    own, rents = inputs.own_per_hour, inputs.cloud_usd_per_hour
    if own is not None:
        found["onprem_amortised_usd_per_hour"] = own
        found["onprem_usd_per_million_tokens"] = inputs.per_million(own)
    if rents is not None:
        found["cloud_usd_per_million_tokens"] = _nested(each(inputs.per_million, rents))
    if own and rents is not None:
        found["ratio"] = _nested(each(lambda rent: rent / own, rents))
        found["saving_fraction"] = _nested(each(lambda rent: 1 - own / rent, rents))
    return found


def _nested(found: Nested | Mapping[str, Nested] | list[Nested]) -> Nested:
    return found


def full_cost(inputs: Inputs, house: House) -> FullCost:
    if inputs.capex_usd is None:
        return FullCost({}, "no price of a system is given")
    node, basis = house.system(house.title, inputs.capex_usd)
    if node is None:
        return FullCost({}, basis)
    own = house.per_hour(node)
    found: dict[str, Nested] = {"own_usd_per_hour": own, "own_usd_per_million_tokens": inputs.per_million(own)}
    if inputs.cloud_usd_per_hour is not None:
        found["ratio"] = _nested(each(lambda rent: rent / own, inputs.cloud_usd_per_hour))
    return FullCost(found, f"{basis}; {house.all_in}")
