"""The cost of a strategy's decisions under other assumptions: the same payments, made by the same functions.

For speed, decisions that are paid for in the same way (one purchase option at one provider, one owned system, in one
month) are merged first. Payments are proportional to quantity, so the sum does not change; that is checked, and where
it does not hold the decisions are left as they are.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from planner.analysis.risk.uncertain_assumptions import COMMITMENT, HARDWARE, ON_DEMAND, SPOT
from planner.finance.cashflow import Payment, Terms, present_cost, present_cost_by
from planner.finance.symbolic import SymbolicError, SymbolicValue, formula_text
from planner.optimization import solution
from planner.optimization.solution import CandidateUse, Decisions, PlanningContext, ResourceOrder
from planner.request.assumptions import Assumptions
from planner.result import Assumption
from planner.result.audit_trail import discount_factor
from planner.result.formulas import FormulaNode, parse_formula
from planner.supply.resources import Resource
from pricing.frozen_values import dataclass

AssumptionOverrides = Mapping[str, float]
"""Figures by name with the value that each takes instead of the planned one."""
TermsFunction = Callable[[Assumptions], Terms]
"""The terms of the plan under other assumptions: some assumptions act through them."""
MERGE_TOLERANCE = 1e-11
T = TypeVar("T")
LEVEL_BY_PRICE_KIND = {"on_demand": ON_DEMAND, "flex_start": ON_DEMAND, "spot": SPOT}


@dataclass(frozen=True, slots=True)
class StrategyCostModel:
    """One strategy's decisions, ready to be paid for under other figures. `setting` holds only the resources used.

    `read` are the assumptions that its payments look at; None: not known yet, so every one may matter.
    """

    name: str
    decisions: Decisions
    setting: PlanningContext
    terms_of: TermsFunction
    read: frozenset[str] | None = None
    planned: float = 0.0

    def cost(self, moves: AssumptionOverrides) -> float:
        """Present cost with `moves`; the strategy's own where there are none or no payment looks at them."""
        if self.read is not None and not self._affects_payments(moves):
            return self.planned
        rows, setting = self._list_repriced_payments(moves)
        return present_cost((payment for _, payment in rows), setting.terms.discount_rate_monthly)

    def streams(self, moves: AssumptionOverrides) -> dict[tuple[str, str], float]:
        """Present cost by resource and category; they add up to `cost`."""
        rows, setting = self._list_repriced_payments(moves)
        streams = (((title, payment.category), payment) for title, payment in rows)
        return present_cost_by(streams, setting.terms.discount_rate_monthly)

    def write_formula(self, stream: tuple[str, str], names: Iterable[str]) -> FormulaNode | None:
        """The present cost of a stream as a formula of those of `names` that are assumptions, all else as planned; None
        where one of them is a yearly change or the rate of a loan, which arrays of formulas do not compute."""
        known = self.setting.assumptions
        traced = {n: replace(known[n], value=SymbolicValue(known[n].value, n)) for n in names if n in known}
        assumptions = {**known, **traced}
        setting = replace(self.setting, assumptions=assumptions, terms=self.terms_of(assumptions))
        rate = self.setting.terms.discount_rate_monthly
        try:
            rows = solution.list_payments(self.decisions, setting)
            paid = [
                payment.amount * discount_factor(payment.month, payment.at, rate)
                for title, payment in rows
                if (title, payment.category) == stream
            ]
        except SymbolicError:
            return None
        texts = [formula_text(amount) for amount in paid]
        if any("PV(" in text for text in texts) or any(getattr(amount, "growth", None) for amount in paid):
            return None
        return parse_formula(" + ".join(texts))

    def _affects_payments(self, moves: AssumptionOverrides) -> bool:
        """Whether a payment may depend on the values that move: directly, in the terms, or in a price."""
        known = self.setting.assumptions
        assert self.read is not None
        if any(name in self.read or name not in known for name in moves):
            return True
        return self.terms_of(apply_overrides(known, moves)) != self.setting.terms

    def _list_repriced_payments(self, moves: AssumptionOverrides) -> tuple[list[tuple[str, Payment]], PlanningContext]:
        setting = self.setting
        if any(name in setting.assumptions for name in moves):
            assumptions = apply_overrides(setting.assumptions, moves)
            setting = replace(setting, assumptions=assumptions, terms=self.terms_of(assumptions))
        decisions = self.decisions
        if any(name not in setting.assumptions for name in moves):  # levels of prices
            resources = tuple(apply_price_levels(resource, moves) for resource in setting.market.resources)
            setting = replace(setting, market=replace(setting.market, resources=resources))
            orders = tuple(
                replace(each, resource=apply_price_levels(each.resource, moves)) for each in decisions.bought
            )
            decisions = replace(decisions, bought=orders)
        return solution.list_payments(decisions, setting), setting


def build_cost_model(
    name: str, decisions: Decisions, setting: PlanningContext, terms_of: TermsFunction, figures: Sequence[Assumption]
) -> StrategyCostModel:
    """The decisions of a strategy, merged where they are paid for in the same way under all `figures`."""
    whole = _select_used_resources(name, decisions, setting, terms_of)
    merged = replace(whole, decisions=_merge_decisions(whole))
    away = {figure.name: _probe_value(figure) for figure in figures}
    is_fewer = len(merged.decisions.shares) < len(whole.decisions.shares)
    is_same = is_fewer and all(
        math.isclose(merged.cost(m), whole.cost(m), rel_tol=MERGE_TOLERANCE, abs_tol=1e-6) for m in ({}, away)
    )
    chosen = merged if is_same else whole
    noted = _ReadTrackingAssumptions(setting.assumptions)
    solution.list_payments(chosen.decisions, replace(chosen.setting, assumptions=noted))
    return replace(chosen, read=frozenset(noted.read), planned=chosen.cost({}))


class _ReadTrackingAssumptions(Mapping[str, Assumption]):
    """Assumptions that record which of them payments read."""

    def __init__(self, known: Assumptions) -> None:
        self.known = known
        self.read: set[str] = set()

    def __getitem__(self, name: str) -> Assumption:
        self.read.add(name)
        return self.known[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.known)

    def __len__(self) -> int:
        return len(self.known)


def apply_overrides(known: Assumptions, moves: AssumptionOverrides) -> Assumptions:
    """The assumptions with those of `moves` that are among them at their values."""
    there = {name: replace(known[name], value=value) for name, value in moves.items() if name in known}
    return {**known, **there}


def _probe_value(figure: Assumption) -> float:
    """A value off the planned one, for checks that hold everywhere or nowhere."""
    low, high = figure.low, figure.high
    if low is None or high is None or low == high:
        return figure.value * 1.03
    return figure.value + (high - figure.value) * 0.37 if high > figure.value else low + (high - low) * 0.61


def _select_used_resources(
    name: str, decisions: Decisions, setting: PlanningContext, terms_of: TermsFunction
) -> StrategyCostModel:
    """Only the resources that the decisions name, renumbered: a market has thousands."""
    resources: list[Resource] = []
    numbers: dict[int, int] = {}
    shares = []
    for share in decisions.shares:
        number = share.candidate.resource
        if number not in numbers:
            numbers[number] = len(resources)
            resources.append(setting.market.resources[number])
        shares.append(replace(share, candidate=share.candidate._replace(resource=numbers[number])))
    market = replace(setting.market, resources=tuple(resources), candidates=())
    return StrategyCostModel(name, replace(decisions, shares=tuple(shares)), replace(setting, market=market), terms_of)


def name_price_level(resource: Resource) -> str | None:
    """The level that its price moves with; None without a price: existing capacity was paid at its own."""
    if resource.held is not None:
        return None
    if resource.node is not None:
        return HARDWARE
    return None if resource.quote is None else LEVEL_BY_PRICE_KIND.get(resource.quote.price.kind, COMMITMENT)


def apply_price_levels(resource: Resource, moves: AssumptionOverrides) -> Resource:
    """The resource at other levels of prices."""
    name = name_price_level(resource)
    level = 1.0 if name is None else moves.get(name, 1.0)
    if level == 1:
        return resource
    if resource.node is not None:
        return replace(resource, node=replace(resource.node, price=resource.node.price * level))
    assert resource.quote is not None
    price = resource.quote.price
    return replace(
        resource, quote=replace(resource.quote, price=replace(price, price_per_hour=price.price_per_hour * level))
    )


def _merge_decisions(whole: StrategyCostModel) -> Decisions:
    """One decision for all that are paid for in the same way, as large as they are together."""
    setting, resources = whole.setting, whole.setting.market.resources

    def total_cost(decisions: Decisions) -> float:
        return math.fsum(payment.amount for _, payment in solution.list_payments(decisions, setting))

    orders: dict[object, list[tuple[ResourceOrder, float]]] = defaultdict(list)
    for each in whole.decisions.bought:
        orders[_payment_group_key(each.resource), each.month].append((each, total_cost(Decisions((each,), ()))))
    hours: dict[object, list[tuple[CandidateUse, float]]] = defaultdict(list)
    data: dict[object, list[tuple[CandidateUse, float]]] = defaultdict(list)
    for share in whole.decisions.shares:
        resource = resources[share.candidate.resource]
        only_hours, only_data = replace(share, units=0.0), replace(share, node_hours=0.0, nodes=0.0)
        hours[_payment_group_key(resource), share.month].append((only_hours, total_cost(Decisions((), (only_hours,)))))
        data[resource.node is None, share.month].append((only_data, total_cost(Decisions((), (only_data,)))))
    return replace(
        whole.decisions,
        bought=tuple(replace(each, quantity=each.quantity * times) for each, times in _combine_groups(orders.values())),
        shares=(
            *(replace(share, node_hours=share.node_hours * times) for share, times in _combine_groups(hours.values())),
            *(replace(share, units=share.units * times) for share, times in _combine_groups(data.values())),
        ),
    )


def _payment_group_key(resource: Resource) -> object:
    """Equal for two resources whose payments are proportional under all assumptions."""
    if resource.node is not None or resource.quote is None:
        return resource.key
    price = resource.quote.price
    return price.provider, price.purchase_option, bool(getattr(price, "adjustment", "")), resource.what


def _combine_groups(groups: Iterable[Sequence[tuple[T, float]]]) -> Iterable[tuple[T, float]]:
    """Of each group the item of the largest cost, and its multiple that costs as much as the group; free ones are left
    out."""
    for group in groups:
        item, most = max(group, key=lambda pair: abs(pair[1]))
        if most:
            yield item, math.fsum(cost for _, cost in group) / most
