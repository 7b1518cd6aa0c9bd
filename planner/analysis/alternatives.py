"""Every alternative of a plan and its outcome: chosen, not chosen, dominated or refused, with reasons.

Reads the results of the market, the pruning and the strategies and decides nothing. A rule is evaluated here only where
the market leaves out one purchase option of an offering without recording a reason.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

from planner.optimization.solution import PlanningContext
from planner.optimization.strategy import SolvedStrategy
from planner.request.models import Request
from planner.result import Gap, Recommendation
from planner.result.alternatives import OfferOutcome, Outcome, RefusalCount
from planner.result.message import Message, message
from planner.supply import onprem
from planner.supply.candidates import NOT_SOLD
from planner.supply.onprem import OwnedNode
from planner.supply.payments import covered_months
from planner.supply.price_rules import is_allowed, may_run, use_refusal
from planner.supply.purchase_options import load_purchase_options
from planner.supply.resources import OWNED_KEY, Resource
from planner.workloads.demand import WorkloadDemand
from pricing.catalog.price_catalog import Catalog
from pricing.catalog.quotes import LowestPrice, Quote
from pricing.offering import Offering
from pricing.price import Price

REASONS_MAX = 3
"""Reasons listed for one offering; the rarer ones are counted together."""
NO_PRICE = message("offering_unpriced")
ATTACHED_PART_ONLY = message("offering_is_attached_part")
NO_USEFUL_WORK = message("interrupted_too_often")
NOT_PLANNED = message("option_not_planned")
NO_QUOTA = message("quota_leaves_no_room")
TOO_LATE = message("delivered_after_plan")
OWNING_NOT_REQUESTED = message("owning_not_requested")

OptionKey = tuple[str, str, str]
"""Provider, instance type and purchase option; "", the name and "owned" for a system."""
ResourceKey = tuple[str, ...]
Refusals = tuple[RefusalCount, ...]


def list_alternatives(
    request: Request,
    setting: PlanningContext,
    catalog: Catalog,
    solved: Sequence[SolvedStrategy],
    advice: Recommendation,
    nodes: Sequence[OwnedNode],
    node_gaps: Iterable[Gap],
) -> tuple[OfferOutcome, ...]:
    """Every offering of the catalogue in its order with all its purchase options, then every system."""
    level = {node.name: onprem.cost_per_month_over_life(node, setting.assumptions, setting.terms) for node in nodes}
    own = {name: cost / setting.terms.hours_per_month for name, cost in level.items()}
    question = _AlternativesQuery(request, setting, catalog)
    outcomes = _collect_outcomes(question, solved, advice, own)
    rented = (
        row for offering in catalog.offerings.values() for row in _list_offering_rows(offering, question, outcomes)
    )
    return (*rented, *_list_system_rows(question, outcomes, own, node_gaps))


@dataclass(slots=True)
class _AlternativesQuery:
    """The request and its setting. Workloads of one class have the same restrictions on purchase options and places:
    `classes` has the first workload of its class for each."""

    request: Request
    setting: PlanningContext
    catalog: Catalog
    classes: list[int] = field(init=False)
    counted: dict[tuple[int, ...], tuple[tuple[Message, ...], Refusals]] = field(default_factory=dict)
    """Counted reasons by their identity: hundreds of offerings are refused for the same ones."""

    def __post_init__(self) -> None:
        first_of_class: dict[object, int] = {}
        self.classes = [
            first_of_class.setdefault(_workload_class_key(need), index) for index, need in enumerate(self.needs)
        ]

    @property
    def needs(self) -> Sequence[WorkloadDemand]:
        return self.setting.demands.needs

    def refused(self, key: ResourceKey) -> dict[int, Message]:
        """The workloads for which the market refused an offering or a system, and why."""
        refused = self.setting.market.refused
        return {index: reasons[key] for index, reasons in enumerate(refused) if key in reasons}

    def count_reasons(self, reasons: Iterable[Message]) -> Refusals:
        """The reasons with their number of workloads."""
        each = tuple(reasons)
        key = tuple(map(id, each))
        if key not in self.counted:
            self.counted[key] = (each, _count_reasons(each))
        return self.counted[key][1]


def _workload_class_key(need: WorkloadDemand) -> object:
    w = need.workload
    return (w.interruptible, need.levels is None, tuple(w.providers), tuple(w.regions), tuple(w.residency))


@dataclass(slots=True)
class _OfferingOutcomes:
    """By row: the workloads that it can serve (`able`: keys of resources that can), the reason where a rule bars it,
    its relative cost (`against`, with the workload), the keys of chosen resources; `left` is open to the solver.
    `prices` are those that decide, by key of the resource."""

    serves: dict[OptionKey, set[int]] = field(default_factory=lambda: defaultdict(set))
    able: set[ResourceKey] = field(default_factory=set)
    barred: dict[OptionKey, Message] = field(default_factory=dict)
    against: dict[OptionKey, tuple[float, int]] = field(default_factory=dict)
    left: set[OptionKey] = field(default_factory=set)
    chosen: dict[OptionKey, set[ResourceKey]] = field(default_factory=lambda: defaultdict(set))
    prices: dict[ResourceKey, Price] = field(default_factory=dict)


def _option_key_of(resource: Resource) -> OptionKey:
    return (resource.provider, resource.name, resource.purchase_option)


def _collect_outcomes(
    question: _AlternativesQuery, solved: Sequence[SolvedStrategy], advice: Recommendation, own: Mapping[str, float]
) -> _OfferingOutcomes:
    outcomes, setting = _OfferingOutcomes(), question.setting
    resources = setting.market.resources
    outcomes.prices = {each.key: each.quote.price for each in resources if each.quote is not None}
    rows = [_option_key_of(resource) if resource.held is None else None for resource in resources]
    prices = [_node_hour_price(resource, own) for resource in resources]
    for number, (row, resource) in enumerate(zip(rows, resources, strict=True)):
        if row is not None and (why := _explain_barred_resource(resource, question)):
            outcomes.barred[row], rows[number] = why, None
    paid = _recommended_unit_costs(setting, solved, advice, prices)
    serves, able, least = outcomes.serves, outcomes.able, outcomes.against
    for candidate in setting.market.candidates:
        need, number = candidate[:2]
        row = rows[number]
        if row is None:
            continue
        serves[row].add(need)
        able.add(resources[number].key)
        if need in paid:
            against = prices[number] / candidate.units_per_node_hour / paid[need]
            if row not in least or against < least[row][0]:
                least[row] = (against, need)
    choice = setting.choice
    offered = {
        c.resource for candidates in (*choice.hourly, *(s.candidates for s in choice.shared)) for c in candidates
    }
    outcomes.left = {row for number in offered if (row := rows[number]) is not None}
    for one in solved:
        working = {share.candidate.resource for share in one.decisions.shares}
        used_resources = [
            *(resources[number] for number in working),
            *(bought.resource for bought in one.decisions.bought),
        ]
        for resource in (r for r in used_resources if r.held is None):
            outcomes.chosen[_option_key_of(resource)].add(resource.key)
    return outcomes


def _node_hour_price(resource: Resource, own: Mapping[str, float]) -> float:
    """The price of a node-hour, or the cost of an owned one over its life at full use."""
    return resource.quote.price.price_per_hour if resource.quote is not None else own.get(resource.name, 0.0)


def _explain_barred_resource(resource: Resource, question: _AlternativesQuery) -> Message | None:
    """Why no strategy could use even one of it; None where one could."""
    setting = question.setting
    if resource.node is not None:
        if not {"onprem", "hybrid"} & set(question.request.strategies):
            return OWNING_NOT_REQUESTED
        return None if covered_months(resource, 1, setting.assumptions, setting.terms) else TOO_LATE
    counted = setting.rules.counted(resource) if setting.rules.quotas else ()
    return NO_QUOTA if any(quota.limit - (quota.used or 0.0) < each for quota, each in counted) else None


def _recommended_unit_costs(
    setting: PlanningContext, solved: Iterable[SolvedStrategy], advice: Recommendation, prices: Sequence[float]
) -> dict[int, float]:
    """The recommended strategy's cost of nodes for a unit of each workload, without existing capacity."""
    cost: dict[int, float] = defaultdict(float)
    units: dict[int, float] = defaultdict(float)
    for share in (s for one in solved if one.strategy.name == advice.strategy for s in one.decisions.shares):
        candidate = share.candidate
        if setting.market.resources[candidate.resource].held is None:
            units[candidate.need] += share.units
            cost[candidate.need] += share.units * prices[candidate.resource] / candidate.units_per_node_hour
    return {need: cost[need] / amount for need, amount in units.items() if amount and cost[need]}


def _list_offering_rows(
    offering: Offering, question: _AlternativesQuery, outcomes: _OfferingOutcomes
) -> Iterator[OfferOutcome]:
    """A row for each purchase option that could serve; one for all that were dominated and one for each set of reasons
    for which others were refused."""
    lowest = question.catalog.lowest_by_option(offering)
    never = _explain_unrentable_offering(offering, bool(lowest))
    refused = dict.fromkeys(range(len(question.needs)), never) if never else question.refused(offering.key)
    if len(refused) == len(question.needs):
        yield _build_refused_row(offering, lowest, question.count_reasons(refused.values()))
        return
    by_option = question.catalog.by_option(offering)
    fit = [index for index in range(len(question.needs)) if index not in refused]
    refused_options: dict[Refusals, dict[str, Sequence[Quote]]] = defaultdict(dict)
    dominated = []
    for option, quotes in by_option.items():
        row = (offering.provider, offering.instance_type, option)
        serves = outcomes.serves.get(row, ())
        why = _explain_unserved_options(
            row, quotes, [index for index in fit if index not in serves], question, outcomes
        )
        refusals = question.count_reasons((*refused.values(), *why))
        if not serves:
            refused_options[refusals][option] = quotes
        elif row in outcomes.chosen or row in outcomes.left:
            yield _build_served_row(row, offering, quotes, refusals, question, outcomes)
        else:
            dominated.append(_build_served_row(row, offering, quotes, refusals, question, outcomes))
    if dominated:
        dominated.sort(key=lambda one: (one.against_chosen or math.inf, one.price_per_hour or math.inf))
        yield replace(dominated[0], purchase_options=" ".join(one.purchase_options for one in dominated))
    for refusals, several in refused_options.items():
        yield _build_refused_row(offering, {name: LowestPrice.of(each) for name, each in several.items()}, refusals)


@lru_cache
def _explain_retirement(successor: str) -> Message:
    """One message for all types with the same successor: reasons are counted by their identity."""
    return message("offering_retired", successor=successor or None)


def _explain_unrentable_offering(offering: Offering, is_priced: bool) -> Message | None:
    """Why it cannot be rented at all; None where it can."""
    if offering.status == "retired":
        return _explain_retirement(offering.successor)
    if offering.part:
        return ATTACHED_PART_ONLY
    return None if is_priced else NO_PRICE


def _build_served_row(
    row: OptionKey,
    offering: Offering,
    quotes: Sequence[Quote],
    refusals: Refusals,
    question: _AlternativesQuery,
    outcomes: _OfferingOutcomes,
) -> OfferOutcome:
    keys = outcomes.chosen.get(row, outcomes.able)
    key = next(quote.price.key for quote in quotes if quote.price.key in keys)
    price = outcomes.prices[key]
    return OfferOutcome(
        *_identify_offering(offering),
        row[2],
        *_classify_outcome(row, outcomes),
        len(quotes),
        price.price_per_hour,
        price.region,
        price.as_of,
        price.source_id,
        *_relative_price(row, question, outcomes),
        refusals,
    )


def _build_refused_row(offering: Offering, lowest: Mapping[str, LowestPrice], refusals: Refusals) -> OfferOutcome:
    """Purchase options that can serve no workload."""
    if not lowest:
        return OfferOutcome(*_identify_offering(offering), "", "refused", 0, 0, None, "", None, "", None, "", refusals)
    names = sorted(lowest, key=lambda name: lowest[name].rank)
    price, _, prices = lowest[names[0]]
    return OfferOutcome(
        *_identify_offering(offering),
        " ".join(names),
        "refused",
        0,
        prices,
        price.price_per_hour,
        price.region,
        price.as_of,
        price.source_id,
        None,
        "",
        refusals,
    )


def _identify_offering(offering: Offering) -> tuple[str, str, str, float | None]:
    return offering.provider, offering.instance_type, offering.accelerator, offering.accelerator_count


def _classify_outcome(row: OptionKey, outcomes: _OfferingOutcomes) -> tuple[Outcome, int]:
    outcome: Outcome = "chosen" if row in outcomes.chosen else "not_chosen" if row in outcomes.left else "outdone"
    return outcome, len(outcomes.serves[row])


def _relative_price(
    row: OptionKey, question: _AlternativesQuery, outcomes: _OfferingOutcomes
) -> tuple[float | None, str]:
    if row not in outcomes.against:
        return None, ""
    against, need = outcomes.against[row]
    return against, question.needs[need].workload.name


def _explain_unserved_options(
    row: OptionKey,
    quotes: Sequence[Quote],
    unserved: Iterable[int],
    question: _AlternativesQuery,
    outcomes: _OfferingOutcomes,
) -> Iterator[Message]:
    """For each workload that fits and is not served by this purchase option, why."""
    known: dict[int, Message | None] = {}
    for index in unserved:
        first = question.classes[index]
        if first not in known:
            known[first] = outcomes.barred.get(row) or _explain_refused_option(quotes, question.needs[first], question)
        yield known[first] or _explain_unusable_quotes(quotes, index, question)


def _explain_refused_option(
    quotes: Sequence[Quote], need: WorkloadDemand, question: _AlternativesQuery
) -> Message | None:
    """Why a purchase option is not for workloads of a class, wherever it is sold; None where it is for them."""
    option = load_purchase_options().get(quotes[0].price.kind)
    if option is None:
        return NOT_PLANNED
    if (why := use_refusal(quotes[0], option, need)) is not None:
        return why
    request, catalog = question.request, question.catalog
    sold = any(is_allowed(quote, request) and may_run(catalog, request, need.workload, quote) for quote in quotes)
    return None if sold else NOT_SOLD


def _explain_unusable_quotes(quotes: Sequence[Quote], index: int, question: _AlternativesQuery) -> Message:
    refused = question.setting.market.refused[index]
    return next((refused[quote.price.key] for quote in quotes if quote.price.key in refused), NO_USEFUL_WORK)


def _list_system_rows(
    question: _AlternativesQuery, outcomes: _OfferingOutcomes, own: Mapping[str, float], gaps: Iterable[Gap]
) -> Iterator[OfferOutcome]:
    """The systems that can be owned; those that cannot be planned with their reason."""
    missing = {gap.subject: gap.effect for gap in gaps}  # of several gaps of a system, the last is why it is left out
    for system in onprem.list_systems(question.catalog, question.request):
        row, refused = ("", system.name, "owned"), question.refused((OWNED_KEY, system.name))
        if system.name not in own:
            refused = dict.fromkeys(range(len(question.needs)), missing[system.name])
        serves = outcomes.serves.get(row, ())
        rest = [index for index in range(len(question.needs)) if index not in refused and index not in serves]
        refusals = question.count_reasons(
            (*refused.values(), *(outcomes.barred.get(row, NO_USEFUL_WORK) for _ in rest))
        )
        outcome, count = _classify_outcome(row, outcomes) if serves else ("refused", 0)
        yield OfferOutcome(
            "",
            system.name,
            system.accelerator,
            system.accelerator_count,
            "owned",
            outcome,
            count,
            0,
            own.get(system.name),
            "",
            system.price_as_of,
            system.source,
            *_relative_price(row, question, outcomes),
            refusals,
        )


def _count_reasons(reasons: Sequence[Message]) -> Refusals:
    """The reasons with their number of workloads, the most frequent first; rare ones are added up."""
    if len(reasons) == 1:  # of one workload, nothing is to be counted
        return (RefusalCount(reasons[0], 1),)
    counted = sorted(Counter(reasons).items(), key=lambda item: (-item[1], str(item[0])))
    listed = [RefusalCount(reason, count) for reason, count in counted[:REASONS_MAX]]
    if rest := counted[REASONS_MAX:]:
        listed.append(RefusalCount(message("other_reasons", reasons=len(rest)), sum(count for _, count in rest)))
    return tuple(listed)
