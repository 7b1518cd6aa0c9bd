"""The exchange rates of two plans: the old plan in the new plan's currency, and the effect of rates that changed."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace

from planner.analysis.comparison.strategy_state import Place, StrategyState, is_money_commitment, price_place
from planner.request import assumptions as figures
from planner.result import Assumption, Plan
from pricing.frozen_values import dataclass
from pricing.price import Price


class NoCommonCurrency(Exception):
    """Two currencies, and neither plan has a rate between them."""


@dataclass(frozen=True, slots=True)
class ComparisonRates:
    """`join` converts amounts of the old plan, in its `own` currency, to `currency`.

    `old` and `new` are the price of one unit of a currency in each plan's own.
    """

    join: float
    own: str
    currency: str
    old: Mapping[str, float]
    new: Mapping[str, float]
    listed_in: Mapping[Place, str]

    def restated(self, state: StrategyState) -> StrategyState:
        """The old state with every amount in the new currency."""
        f = self.join
        return replace(
            state,
            assumptions={name: self._in_currency(each) for name, each in state.assumptions.items()},
            prices={place: _scale_price(p, f) if place in self.listed_in else p for place, p in state.prices.items()},
            work={key: replace(each, data=each.data * f) for key, each in state.work.items()},
            purchases={
                lot: amount * f if is_money_commitment(lot[0]) else amount for lot, amount in state.purchases.items()
            },
            unexplained={moment: amount * f for moment, amount in state.unexplained.items()},
        )

    def moved(self) -> Iterator[tuple[str, float, float]]:
        """Each currency whose rate is another: what one unit costs in the new currency by the old plan and by the
        new one."""
        for source in sorted(self.old.keys() & self.new.keys()):
            old, new = self.old[source] * self.join, self.new[source]
            if not math.isclose(old, new, rel_tol=1e-12):
                yield source, old, new

    def listed_at(self, state: StrategyState, source: str, factor: float) -> StrategyState:
        """The state with what is listed in a currency at another rate: prices, and where it is that of the default
        assumptions, these and what data costs."""
        prices = {
            place: _scale_price(price, factor) if self.listed_in.get(place) == source else price
            for place, price in state.prices.items()
        }
        if source != figures.DEFAULTS_CURRENCY:
            return replace(state, prices=prices)
        assumptions = {
            name: replace(each, value=each.value * factor) if self._is_listed(each) else each
            for name, each in state.assumptions.items()
        }
        work = {key: replace(each, data=each.data * factor) for key, each in state.work.items()}
        return replace(state, prices=prices, assumptions=assumptions, work=work)

    def _is_listed(self, each: Assumption) -> bool:
        return not each.overridden and each.unit.startswith(self.currency)

    def _in_currency(self, each: Assumption) -> Assumption:
        if not each.unit.startswith(self.own):
            return each
        unit = each.unit.replace(self.own, self.currency, 1)
        return replace(each, value=each.value * self.join, unit=unit)


def find_comparison_rates(old: Plan, new: Plan) -> ComparisonRates:
    """The rates of both plans. NoCommonCurrency where no rate leads from the old plan's currency to the new one's."""
    tables = [{rate.from_currency: rate.value for rate in plan.exchange_rates} for plan in (old, new)]
    own, other = tables
    through = [other[code] / own[code] for code in sorted(own.keys() & other.keys())]
    joins = [
        *([1.0] if old.currency == new.currency else []),
        *([other[old.currency]] if old.currency in other else []),
        *([1 / own[new.currency]] if new.currency in own else []),
        *through,
    ]
    if not joins:
        raise NoCommonCurrency(f"no rate between {old.currency} and {new.currency} in either plan")
    listed = {price_place(price): price.list_currency or price.currency for price in old.prices}
    return ComparisonRates(
        joins[0], old.currency, new.currency, {**own, old.currency: 1.0}, {**other, new.currency: 1.0}, listed
    )


def _scale_price(price: Price, factor: float) -> Price:
    return replace(price, price_per_hour=price.price_per_hour * factor)
