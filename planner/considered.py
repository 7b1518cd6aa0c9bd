"""Everything that a plan could have taken and what became of it: chosen, not chosen, outdone or refused, with reasons.

Reads what the market, the pruning and the strategies found out and decides nothing: a rule is asked again only where
the market refused one way of paying of an offering without a word. Knows no report.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from planner import owned
from planner.answer import Gap, Recommendation
from planner.answer.considered import Considered, Outcome
from planner.candidates import NOT_SOLD, OWNED, Resource, is_allowed, may_run
from planner.demand import Need
from planner.options import options
from planner.owned import Node
from planner.paying import covers
from planner.replay import Setting
from planner.request import Request
from planner.strategy import Solved
from pricing.catalog import Catalog, Quote
from pricing.offering import Offering

REASONS_MAX = 3
"""Reasons told for one offering; the rarer ones are counted together."""
NO_PRICE = "no price in any region"
PART = "only runs attached to a machine"
TAKEN_BACK = "the provider may take it back, and the work may not be interrupted"
WHOLE_DAYS = "sold in whole days, and the work follows the hours"
NOTHING_STAYS = "interrupted too often for any work to stay"
NOT_PLANNED = "a way of paying that is not planned"
NO_QUOTA = "the quota leaves room for none"
TOO_LATE = "delivered after the months planned"
NOT_ASKED = "no strategy asked for may own anything"

Row = tuple[str, str, str]
"""Provider, instance type and purchase option; "", the name and "owned" for a system."""
Key = tuple[str, ...]


def considered(
    request: Request,
    setting: Setting,
    catalog: Catalog,
    solved: Sequence[Solved],
    advice: Recommendation,
    nodes: Sequence[Node],
    node_gaps: Iterable[Gap],
) -> tuple[Considered, ...]:
    """Every offering of the catalogue in its order with all its purchase options, then every system."""
    level = {node.name: owned.cost_per_month_over_life(node, setting.assumptions, setting.terms) for node in nodes}
    own = {name: cost / setting.terms.hours_per_month for name, cost in level.items()}
    question = _Question(request, setting, catalog)
    found = _found(question, solved, advice, own)
    rented = (row for offering in catalog.offerings.values() for row in _rows(offering, question, found))
    return (*rented, *_systems(question, found, own, node_gaps))


@dataclass(slots=True)
class _Question:
    """What was asked. Workloads of one class are alike in all that ways of paying and places are judged by: `classes`
    names the first of its like for each."""

    request: Request
    setting: Setting
    catalog: Catalog
    classes: list[int] = field(init=False)

    def __post_init__(self) -> None:
        seen: dict[object, int] = {}
        self.classes = [seen.setdefault(_class(need), index) for index, need in enumerate(self.needs)]

    @property
    def needs(self) -> Sequence[Need]:
        return self.setting.demands.needs

    def refused(self, key: Key) -> dict[int, str]:
        """The workloads for which the market refused an offering or a system, and why."""
        refused = self.setting.market.refused
        return {index: reasons[key] for index, reasons in enumerate(refused) if key in reasons}


def _class(need: Need) -> object:
    w = need.workload
    return (w.interruptible, need.levels is None, tuple(w.providers), tuple(w.regions), tuple(w.residency))


@dataclass(slots=True)
class _Found:
    """By row: the workloads that it can serve (`able`: the keys of what can), why none where a rule bars it, how it
    compares (`against`, with the workload), the keys of what was chosen; `left` is what the solver could take."""

    serves: dict[Row, set[int]] = field(default_factory=lambda: defaultdict(set))
    able: set[Key] = field(default_factory=set)
    barred: dict[Row, str] = field(default_factory=dict)
    against: dict[Row, tuple[float, int]] = field(default_factory=dict)
    left: set[Row] = field(default_factory=set)
    chosen: dict[Row, set[Key]] = field(default_factory=lambda: defaultdict(set))


def _row(resource: Resource) -> Row:
    return (resource.provider, resource.name, resource.purchase_option)


def _found(question: _Question, solved: Sequence[Solved], advice: Recommendation, own: Mapping[str, float]) -> _Found:
    found, setting = _Found(), question.setting
    resources = setting.market.resources
    rows = [_row(resource) if resource.held is None else None for resource in resources]
    prices = [_price(resource, own) for resource in resources]
    for number, (row, resource) in enumerate(zip(rows, resources, strict=True)):
        if row is not None and (why := _barred(resource, question)):
            found.barred[row], rows[number] = why, None
    paid = _paid(setting, solved, advice, prices)
    for candidate in setting.market.candidates:
        row = rows[candidate.resource]
        if row is None:
            continue
        found.serves[row].add(candidate.need)
        found.able.add(resources[candidate.resource].key)
        if candidate.need in paid:
            against = prices[candidate.resource] / candidate.units_per_node_hour / paid[candidate.need]
            if row not in found.against or against < found.against[row][0]:
                found.against[row] = (against, candidate.need)
    choice = setting.choice
    offered = {
        c.resource for candidates in (*choice.hourly, *(s.candidates for s in choice.shared)) for c in candidates
    }
    found.left = {row for number in offered if (row := rows[number]) is not None}
    for one in solved:
        working = {share.candidate.resource for share in one.decisions.shares}
        taken = [*(resources[number] for number in working), *(bought.resource for bought in one.decisions.bought)]
        for resource in (r for r in taken if r.held is None):
            found.chosen[_row(resource)].add(resource.key)
    return found


def _price(resource: Resource, own: Mapping[str, float]) -> float:
    """Of a node-hour: its price, or what an owned one costs over its life at full use."""
    return resource.quote.price.price_per_hour if resource.quote is not None else own.get(resource.name, 0.0)


def _barred(resource: Resource, question: _Question) -> str:
    """Why no strategy could take even one of it; empty where one could."""
    setting = question.setting
    if resource.node is not None:
        if not {"onprem", "hybrid"} & set(question.request.strategies):
            return NOT_ASKED
        return "" if covers(resource, 1, setting.assumptions, setting.terms) else TOO_LATE
    counted = setting.rules.counted(resource)
    return NO_QUOTA if any(quota.limit - (quota.used or 0.0) < each for quota, each in counted) else ""


def _paid(
    setting: Setting, solved: Iterable[Solved], advice: Recommendation, prices: Sequence[float]
) -> dict[int, float]:
    """What the recommended strategy pays for nodes to do a unit of each workload, without what is there already."""
    cost: dict[int, float] = defaultdict(float)
    units: dict[int, float] = defaultdict(float)
    for share in (s for one in solved if one.strategy.name == advice.strategy for s in one.decisions.shares):
        candidate = share.candidate
        if setting.market.resources[candidate.resource].held is None:
            units[candidate.need] += share.units
            cost[candidate.need] += share.units * prices[candidate.resource] / candidate.units_per_node_hour
    return {need: cost[need] / amount for need, amount in units.items() if amount and cost[need]}


Sold = Mapping[str, Sequence[Quote]]
"""By purchase option its prices, the lowest first."""


def _rows(offering: Offering, question: _Question, found: _Found) -> Iterator[Considered]:
    """What could serve, by way of paying; what was outdone together, what was refused together by reasons."""
    by_option = question.catalog.by_option(offering)
    never = _never(offering, bool(by_option))
    refused = dict.fromkeys(range(len(question.needs)), never) if never else question.refused(offering.key)
    if len(refused) == len(question.needs):
        yield _together(offering, by_option, _told(refused.values()))
        return
    fit = [index for index in range(len(question.needs)) if index not in refused]
    alike: dict[str, dict[str, Sequence[Quote]]] = defaultdict(dict)
    outdone = []
    for option, quotes in by_option.items():
        row = (offering.provider, offering.instance_type, option)
        serves = found.serves.get(row, ())
        why = _why_not(row, quotes, [index for index in fit if index not in serves], question, found)
        told = _told((*refused.values(), *why))
        if not serves:
            alike[told][option] = quotes
        elif row in found.chosen or row in found.left:
            yield _served(row, offering, quotes, told, question, found)
        else:
            outdone.append(_served(row, offering, quotes, told, question, found))
    if outdone:
        outdone.sort(key=lambda one: (one.against_chosen or math.inf, one.price_per_hour or math.inf))
        yield replace(outdone[0], purchase_options=" ".join(one.purchase_options for one in outdone))
    for told, several in alike.items():
        yield _together(offering, several, told)


def _never(offering: Offering, is_priced: bool) -> str:
    """Why nobody can rent it at all; empty where one can."""
    if offering.status == "retired":
        return f"retired; its successor is {offering.successor}" if offering.successor else "retired"
    if offering.part:
        return PART
    return "" if is_priced else NO_PRICE


def _served(
    row: Row, offering: Offering, quotes: Sequence[Quote], told: str, question: _Question, found: _Found
) -> Considered:
    keys = found.chosen.get(row, found.able)
    price = next(quote.price for quote in quotes if quote.price.key in keys)
    return Considered(
        *_what(offering), row[2], *_fate(row, found), len(quotes), price.price_per_hour, price.region, price.as_of,
        price.source_id, *_compared(row, question, found), told,
    )  # fmt: skip


def _together(offering: Offering, by_option: Sold, told: str) -> Considered:
    """Ways of paying that can serve nothing."""
    if not by_option:
        return Considered(*_what(offering), "", "refused", 0, 0, None, "", None, "", None, "", told)
    names = sorted(by_option, key=lambda name: by_option[name][0].rank)
    quotes = by_option[names[0]]
    price = quotes[0].price
    return Considered(
        *_what(offering), " ".join(names), "refused", 0, len(quotes), price.price_per_hour, price.region, price.as_of,
        price.source_id, None, "", told,
    )  # fmt: skip


def _what(offering: Offering) -> tuple[str, str, str, float | None]:
    return offering.provider, offering.instance_type, offering.accelerator, offering.accelerator_count


def _fate(row: Row, found: _Found) -> tuple[Outcome, int]:
    outcome: Outcome = "chosen" if row in found.chosen else "not_chosen" if row in found.left else "outdone"
    return outcome, len(found.serves[row])


def _compared(row: Row, question: _Question, found: _Found) -> tuple[float | None, str]:
    if row not in found.against:
        return None, ""
    against, need = found.against[row]
    return against, question.needs[need].workload.name


def _why_not(
    row: Row, quotes: Sequence[Quote], unserved: Iterable[int], question: _Question, found: _Found
) -> Iterator[str]:
    """For each workload that fits and is not served in this way of paying, why."""
    known: dict[int, str] = {}
    for index in unserved:
        first = question.classes[index]
        if first not in known:
            known[first] = found.barred.get(row) or _way_refused(quotes, question.needs[first], question)
        yield known[first] or _nothing_left(quotes, index, question)


def _way_refused(quotes: Sequence[Quote], need: Need, question: _Question) -> str:
    """Why a way of paying is not for workloads of a class, wherever it is sold; empty where it is for them."""
    option = options().get(quotes[0].price.kind)
    if option is None:
        return NOT_PLANNED
    if option.INTERRUPTS and not need.workload.interruptible:
        return TAKEN_BACK
    if option.UNIT == "node_day" and need.levels is not None:
        return WHOLE_DAYS
    request, catalog = question.request, question.catalog
    sold = any(is_allowed(quote, request) and may_run(catalog, request, need.workload, quote) for quote in quotes)
    return "" if sold else NOT_SOLD


def _nothing_left(quotes: Sequence[Quote], index: int, question: _Question) -> str:
    refused = question.setting.market.refused[index]
    return next((refused[quote.price.key] for quote in quotes if quote.price.key in refused), NOTHING_STAYS)


def _systems(question: _Question, found: _Found, own: Mapping[str, float], gaps: Iterable[Gap]) -> Iterator[Considered]:
    """The systems that can be owned; those that cannot be planned say why."""
    missing = {gap.subject: gap.effect for gap in gaps}  # what leaves a system out is the last that is told of it
    for system in owned.systems(question.catalog, question.request):
        row, refused = ("", system.name, "owned"), question.refused((OWNED, system.name))
        if system.name not in own:
            refused = dict.fromkeys(range(len(question.needs)), missing[system.name])
        serves = found.serves.get(row, ())
        rest = [index for index in range(len(question.needs)) if index not in refused and index not in serves]
        told = _told((*refused.values(), *(found.barred.get(row, NOTHING_STAYS) for _ in rest)))
        outcome, count = _fate(row, found) if serves else ("refused", 0)
        yield Considered(
            "", system.name, system.accelerator, system.accelerator_count, "owned", outcome, count, 0,
            own.get(system.name), "", system.price_as_of, system.source, *_compared(row, question, found), told,
        )  # fmt: skip


def _told(reasons: Iterable[str]) -> str:
    """The reasons with the number of workloads in brackets, the most frequent first; rare ones are added up."""
    counted = sorted(Counter(reasons).items(), key=lambda item: (-item[1], item[0]))
    told = [f"{reason} ({count})" for reason, count in counted[:REASONS_MAX]]
    if rest := counted[REASONS_MAX:]:
        told.append(f"{len(rest)} other reasons ({sum(count for _, count in rest)})")
    return "; ".join(told)
