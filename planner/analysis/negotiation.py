"""What to ask vendors for: prices at which another strategy becomes the choice.

With the decisions of the recommended strategy and its rival fixed, payments are in proportion to prices, so the
difference between the two is linear in each price, and the price at which the choice changes follows at once;
`flip_search` then confirms it or finds the right one.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date

from planner.analysis.recommendation import SIMPLEST_FIRST
from planner.analysis.risk import BaselinePlan
from planner.analysis.risk.cost_model import apply_price_levels
from planner.analysis.risk.uncertain_assumptions import HARDWARE, SEARCH_FACTOR_MAX
from planner.finance.cashflow import present_cost
from planner.optimization.solution import CandidateUse, PlanningContext, ResourceOrder, purchase_payments
from planner.optimization.strategy import SolvedStrategy
from planner.request.assumptions import override_names
from planner.request.models import Request
from planner.result import Plan
from planner.result.risk import NegotiationTarget
from planner.supply.payments import quoted_payments, resource_use_payments
from planner.supply.purchase_options import load_purchase_options
from pricing.catalog.price_catalog import Catalog
from pricing.catalog.quotes import Quote
from pricing.frozen_values import dataclass
from pricing.private_prices import PrivatePriceRule

SPEND_FRACTION_MIN = 0.01
"""Of a strategy's present cost: what is paid less on is not listed."""
TERMS_MONTHS = (36, 12)
"""Terms of commitments that are asked for, the longest that the plan holds first."""
SYSTEMS_SEPARATOR = ", "
"""Between the names of systems of one target."""
PriceKey = tuple[str, str, str, str]
Place = tuple[str, str, str]
"""Provider, region and instance type."""
_BlockNodes = tuple[int, float, float]
"""A load block, its hours in a month, and the nodes at work in it."""


def list_negotiation_targets(case: BaselinePlan, catalog: Catalog, materiality: float) -> tuple[NegotiationTarget, ...]:
    """Hardware, every price that the plan or its runner-up spends much on, and commitments without a known price that
    could change the choice. Empty without a runner-up."""
    named = {each.strategy.name: each for each in case.solved if each.strategy.status != "infeasible"}
    chosen, rival = (next((s for n, s in named.items() if n == name), None) for name in case.pair)
    if chosen is None or rival is None:
        return ()
    pair = _Pair(chosen, rival, materiality)
    targets = [*_list_quotes(case, pair), *_list_rates(case.setting, pair)]
    cloud = named.get("cloud")
    if cloud is not None and cloud is not chosen:
        targets += _list_terms(case.setting, catalog, _Pair(chosen, cloud, materiality))
    return tuple(sorted(targets, key=lambda t: (t.change_fraction is None, abs(t.change_fraction or 0.0), -t.spend)))


@dataclass(frozen=True, slots=True)
class _Pair:
    """The recommended strategy and another. The simpler of the two is the choice up to a cost of `factor` times that
    of the other, `materiality` (a fraction) above it."""

    chosen: SolvedStrategy
    rival: SolvedStrategy
    materiality: float

    @property
    def at_stake(self) -> float:
        return abs(self.rival.strategy.present_cost - self.chosen.strategy.present_cost)

    def excess(self, chosen: float, rival: float) -> float:
        """Of amounts of both, that of the rival above what it may be for the choice to change: 0 where it does."""
        rival_is_simpler = SIMPLEST_FIRST.index(self.rival.strategy.name) < SIMPLEST_FIRST.index(
            self.chosen.strategy.name
        )
        factor = 1 + self.materiality
        return rival - chosen * factor if rival_is_simpler else rival * factor - chosen

    @property
    def advantage(self) -> float:
        return self.excess(self.chosen.strategy.present_cost, self.rival.strategy.present_cost)

    def flip_multiple(self, spent: float, by_rival: float) -> float | None:
        """The multiple of a price, of which the chosen strategy and its rival spend so much, at which the choice
        changes; None where no price up to ten times today's does it."""
        slope = self.excess(spent, by_rival)
        multiple = 1 - self.advantage / slope if slope else -1.0
        return multiple if 0 <= multiple <= SEARCH_FACTOR_MAX else None


def _list_quotes(case: BaselinePlan, pair: _Pair) -> Iterator[NegotiationTarget]:
    """All owned systems together: what their vendor has to quote."""
    bought = [o.resource.node for each in (pair.chosen, pair.rival) for o in each.decisions.bought if _is_bought(o)]
    systems = {node.name: node for node in bought if node is not None}
    spent = [_spend_on_systems(each, case.setting, systems) for each in (pair.chosen, pair.rival)]
    if not systems:
        return
    discount = case.setting.assumptions["hardware_discount_fraction"].value
    single = next(iter(systems.values())).price * (1 - discount) if len(systems) == 1 else None
    yield _build_target(
        pair, "quote", ("", "", SYSTEMS_SEPARATOR.join(sorted(systems)), "owned"), single, spent[0], spent[1]
    )


def spend_at_price(target: NegotiationTarget, solved: SolvedStrategy, setting: PlanningContext) -> float:
    """Present cost of what a strategy pays at the price of a target."""
    if target.kind == "quote":
        return _spend_on_systems(solved, setting, target.name.split(SYSTEMS_SEPARATOR))
    key = (target.provider, target.region, target.name, target.purchase_option)
    return _spend_by_price(solved, setting)[0].get(key, 0.0)


def _spend_on_systems(solved: SolvedStrategy, setting: PlanningContext, systems: Collection[str]) -> float:
    """Present cost of all that is in proportion to the price of these systems: payment, support, less resale."""
    rate = setting.terms.discount_rate_monthly

    def paid(order: ResourceOrder, level: float) -> float:
        dearer = replace(order, resource=apply_price_levels(order.resource, {HARDWARE: level}))
        return present_cost(purchase_payments(setting, dearer), rate)

    return math.fsum(
        paid(order, 2.0) - paid(order, 1.0)
        for order in solved.decisions.bought
        if _is_bought(order) and order.resource.node is not None and order.resource.node.name in systems
    )


def _is_bought(order: ResourceOrder) -> bool:
    return order.resource.node is not None and order.resource.held is None


def _list_rates(setting: PlanningContext, pair: _Pair) -> Iterator[NegotiationTarget]:
    """The prices of rented and committed nodes."""
    chosen, quotes = _spend_by_price(pair.chosen, setting)
    by_rival, more = _spend_by_price(pair.rival, setting)
    least = SPEND_FRACTION_MIN * min(pair.chosen.strategy.present_cost, pair.rival.strategy.present_cost)
    for key in sorted({*chosen, *by_rival}):
        amounts = chosen.get(key, 0.0), by_rival.get(key, 0.0)
        if max(amounts) > least:
            price = (quotes | more)[key].price.price_per_hour
            yield _build_target(pair, "rate", key, price, *amounts)


def _spend_by_price(
    solved: SolvedStrategy, setting: PlanningContext
) -> tuple[dict[PriceKey, float], dict[PriceKey, Quote]]:
    """Present cost of what is paid at each price, and the price; committed money by the use that it covers."""
    rate, resources = setting.terms.discount_rate_monthly, setting.market.resources
    amounts: dict[PriceKey, float] = defaultdict(float)
    quotes: dict[PriceKey, Quote] = {}
    covered: dict[tuple[str, ...], dict[PriceKey, float]] = defaultdict(lambda: defaultdict(float))
    for share in solved.decisions.shares:
        resource = resources[share.candidate.resource]
        if resource.quote is None or resource.held is not None:
            continue
        key = resource.quote.price.key
        quotes[key] = resource.quote
        if resource.what == "covered":
            covered[resource.pool][key] += share.node_hours * resource.quote.price.price_per_hour
        paid = resource_use_payments(resource, share.month, share.node_hours, setting.assumptions, setting.terms)
        amounts[key] += present_cost(paid, rate)
    for order in solved.decisions.bought:
        quote = order.resource.quote
        if quote is None or order.resource.held is not None:
            continue
        paid_at_once = present_cost(purchase_payments(setting, order), rate)
        parts: Mapping[PriceKey, float] = covered.get(order.resource.key) or {quote.price.key: 1.0}
        quotes.setdefault(quote.price.key, quote)
        for key, part in parts.items():
            amounts[key] += paid_at_once * part / math.fsum(parts.values())
    return dict(amounts), quotes


def _list_terms(setting: PlanningContext, catalog: Catalog, pair: _Pair) -> Iterator[NegotiationTarget]:
    """For each place where the rival rents on demand and no commitment has a price, the price of a commitment for the
    whole of a term at which it would be the choice, for as many nodes as are best then."""
    months = setting.terms.months
    term = next((each for each in TERMS_MONTHS if each <= months), None)
    if term is None:
        return
    hours: dict[Place, list[list[_BlockNodes]]] = defaultdict(lambda: [[] for _ in range(months)])
    quotes: dict[Place, Quote] = {}
    for share in pair.rival.decisions.shares:
        quote = setting.market.resources[share.candidate.resource].quote
        if quote is None or quote.price.kind != "on_demand":
            continue
        place = quote.price.key[:3]
        quotes[place] = quote
        hours[place][share.month - 1] += _split_by_block(share, setting)
    for place, by_month in sorted(hours.items()):
        option = _unpriced_term(quotes[place], catalog, term)
        if option is not None:
            yield from _find_term_price(pair, setting, quotes[place], option, by_month)


def _split_by_block(share: CandidateUse, setting: PlanningContext) -> list[_BlockNodes]:
    """The load blocks of a month's use, each with its hours and the nodes at work in it on average."""
    lengths = (*setting.demands.block_hours, setting.terms.hours_per_month)  # block -1 is the whole month
    return [(part.block, lengths[part.block], part.node_hours / lengths[part.block]) for part in share.blocks]


def _unpriced_term(quote: Quote, catalog: Catalog, term_months: int) -> Quote | None:
    """A commitment for such a term as it is priced elsewhere: for the type, its family or its provider; None where the
    type has one in its region already, or its provider none."""
    price = quote.price
    same_family = [
        offering
        for offering in catalog.offerings.values()
        if offering.provider == price.provider and _family_of(offering.instance_type) == _family_of(price.instance_type)
    ]
    known = [q for offering in same_family for q in catalog.of_type(offering) if _is_commitment(q)]
    if any(q.price.key[:3] == price.key[:3] for q in known):
        return None
    alike = [q for q in known if q.price.term_months == term_months]
    return min(
        alike,
        key=lambda q: (q.price.instance_type != price.instance_type, q.price.upfront not in ("", "none"), q.price.key),
        default=None,
    )


def _family_of(instance_type: str) -> str:
    return instance_type.partition(".")[0]


def _is_commitment(quote: Quote) -> bool:
    option = load_purchase_options().get(quote.price.kind)
    return option is not None and option.COMMITS and option.UNIT in ("node", "money")


def _find_term_price(
    pair: _Pair, setting: PlanningContext, quote: Quote, like: Quote, by_month: Sequence[Sequence[_BlockNodes]]
) -> Iterator[NegotiationTarget]:
    """The highest price of a commitment at which it makes the rival the choice, over all numbers of nodes."""
    terms = setting.terms
    named = replace(
        quote.price,
        purchase_option=like.price.purchase_option, kind=like.price.kind, term_months=like.price.term_months,
        upfront=like.price.upfront, offering_class=like.price.offering_class, price_per_hour=1.0,
    )  # fmt: skip
    starts = range(1, terms.months - like.price.term_months + 2, like.price.term_months)
    each = math.fsum(
        present_cost(quoted_payments(named, start, 1.0, terms), terms.discount_rate_monthly) for start in starts
    )
    last = starts[-1] + like.price.term_months - 1
    an_hour = [
        present_cost(quoted_payments(quote.price, month, 1.0, terms), terms.discount_rate_monthly)
        for month in range(1, last + 1)
    ]
    best: tuple[float, int] | None = None
    for nodes in sorted({round(math.ceil(n - 1e-6)) for parts in by_month for _, _, n in parts}):
        saved = math.fsum(rate * _covered_hours(parts, nodes) for rate, parts in zip(an_hour, by_month, strict=False))
        price = (saved - pair.advantage) / (nodes * each)
        if best is None or price > best[0]:
            best = price, nodes
    on_demand = quote.price.price_per_hour
    if best is None or not 0 < best[0] < on_demand:
        return
    key = (*quote.price.key[:3], like.price.purchase_option)
    yield NegotiationTarget(
        "term", *key, paid_by=pair.rival.strategy.name, price=on_demand, flip_price=best[0],
        change_fraction=best[0] / on_demand - 1, becomes=pair.rival.strategy.name,
        spend=best[0] * best[1] * each, at_stake=pair.at_stake,
    )  # fmt: skip


def _covered_hours(parts: Iterable[_BlockNodes], nodes: int) -> float:
    """Node-hours of a month that so many committed nodes take over; workloads are added up by block."""
    together: dict[tuple[int, float], float] = defaultdict(float)
    for block, length, used in parts:
        together[block, length] += used
    return math.fsum(length * min(used, nodes) for (_, length), used in together.items())


def _build_target(
    pair: _Pair, kind: str, key: PriceKey, price: float | None, spent: float, by_rival: float
) -> NegotiationTarget:
    multiple = pair.flip_multiple(spent, by_rival)
    payer = pair.chosen if spent >= by_rival else pair.rival
    return NegotiationTarget(
        kind,  # type: ignore[arg-type]  # one of the three
        *key,
        paid_by=payer.strategy.name,
        price=price,
        flip_price=None if multiple is None or price is None else price * multiple,
        change_fraction=None if multiple is None else multiple - 1,
        becomes="" if multiple is None else pair.rival.strategy.name,
        spend=max(spent, by_rival),
        at_stake=pair.at_stake,
    )


def change_price(
    request: Request, catalog: Catalog, found: Plan, target: NegotiationTarget, multiple: float
) -> tuple[Request, Catalog]:
    """The input of a plan with the price of a target at a multiple of today's."""
    from pricing.catalog.agreed_prices import agree_price

    if target.kind == "quote":
        known = {each.name: each.value for each in found.assumptions}
        names = [override_names(system)[0] for system in target.name.split(SYSTEMS_SEPARATOR)]
        quoted = {name: known[name] * multiple for name in names}
        return request.model_copy(update={"assumptions": {**request.assumptions, **quoted}}), catalog
    assert target.price is not None
    agreed = PrivatePriceRule(
        target.provider, "", target.name, target.region, target.purchase_option, None, target.price * multiple,
        found.currency, date.min, None, "negotiated", "negotiation:1",
    )  # fmt: skip
    return request, agree_price(catalog, agreed)
