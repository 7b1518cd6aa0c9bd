"""The whole path on one screen: request -> demand -> candidates -> strategies -> plan."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial

from planner import assumptions as figures
from planner import exchange, holdings, owned, quota
from planner.answer import (
    Assumption,
    Gap,
    Inputs,
    Plan,
    PriceUsed,
    Recommendation,
    RequestedWorkload,
    Strategy,
    StrategyName,
    ThroughputUsed,
)
from planner.candidates import is_allowed, market
from planner.cashflow import Terms, terms_of
from planner.check import check, named
from planner.considered import considered
from planner.demand import Demands, Need, demands
from planner.errors import InvalidRequest
from planner.explain import break_evens, recommend
from planner.gaps import gaps, rates_used
from planner.ledger import ledger
from planner.margins import margins
from planner.overkill import reasons
from planner.prune import choose_from
from planner.replay import Setting
from planner.request import Request
from planner.risk import Case, flips, risk
from planner.risk.anew import AS_PREDICTED, Again, Throughputs, with_throughputs
from planner.rules import Rules
from planner.strategy import Solved, ownable, solve_strategy
from planner.views import views
from planner.why import unfinished, unserved
from planner.workload import accelerator_hours_rate, gang_of, written_accelerators
from pricing.catalog import Catalog, Quote
from pricing.price import Adjusted, Price
from pricing.units import HOURS_PER_MONTH
from pricing.view import View, view

SCHEMA_VERSION = "1"
DOCUMENT = Inputs("", "document", "")


def plan(
    request: Request, catalog: Catalog, inputs: Inputs = DOCUMENT, throughputs: Throughputs = AS_PREDICTED
) -> Plan:
    """The plan for `request` at the prices of `catalog`. Raises InvalidRequest with every fault of names and months."""
    if faults := check(request, catalog):
        raise InvalidRequest(faults)
    asked, again = named(request, catalog), _again(request, catalog)
    request, catalog = _in_order(asked), view(catalog, asked.currency, asked.as_of)
    assumed = figures.overridden(_defaults(request, catalog), _overrides(request), request.as_of)
    nodes, node_gaps = owned.nodes(catalog, assumed, request)
    setting, held_gaps = _setting(request, catalog, assumed, nodes, throughputs)
    missing = unserved(request, setting.demands, setting.market, catalog, nodes, assumed)
    solved = _solve(request, setting, missing)
    advice = _advice(request, setting, solved, catalog)
    case = Case(advice, solved, setting, _throughput(setting, solved), partial(_terms, request), again)
    return _told(asked, inputs, _Grounds(request, catalog, nodes, node_gaps, held_gaps), case)


@dataclass(frozen=True, slots=True)
class _Grounds:
    """What a plan stands on beside its setting: the request and the catalogue in the plan's words and currency."""

    request: Request
    catalog: Catalog
    nodes: tuple[owned.Node, ...]
    node_gaps: tuple[Gap, ...]
    held_gaps: tuple[Gap, ...]


def _told(asked: Request, inputs: Inputs, grounds: _Grounds, case: Case) -> Plan:
    """The answer in full."""
    request, catalog, nodes = grounds.request, grounds.catalog, grounds.nodes
    advice, solved, setting = case.advice, case.solved, case.setting
    needed, terms, assumed = setting.demands, setting.terms, setting.assumptions
    strategies = tuple(s.strategy for s in solved)
    chosen = next((s for s in strategies if s.name == advice.strategy), None)
    evens, compared = break_evens(nodes, _rented(nodes, request, catalog), assumed, terms)
    prices = _prices(solved, compared, catalog)
    missing = gaps(request, setting, catalog, solved, chosen)
    assumptions = (*assumed.values(), *owned.as_assumptions((*nodes, *_there(setting)), request, catalog))
    return Plan(
        schema_version=SCHEMA_VERSION,
        plan_id=_identity(asked, catalog),
        status=chosen.status if chosen else "infeasible",
        as_of=request.as_of,
        start=needed.month_names[0],
        months=request.months,
        month_names=needed.month_names,
        currency=request.currency,
        hours_per_month=terms.hours_per_month,
        discount_rate_annual=terms.discount_rate_annual,
        conventions=_conventions(request, setting, prices, catalog),
        recommendation=advice,
        strategies=tuple(_in_asked_order(s, asked) for s in strategies),
        break_even=evens,
        workloads=_workloads(asked, setting, inputs),
        throughput=case.throughput,
        prices=prices,
        oldest_price=min((price.as_of for price in prices), default=None),
        assumptions=assumptions,
        gaps=tuple(dict.fromkeys((*missing, *grounds.node_gaps, *grounds.held_gaps))),
        inputs=inputs,
        catalog_digest=catalog.digest,
        reasons=() if chosen else tuple(dict.fromkeys(reason for s in strategies for reason in s.reasons)),
        exchange_rates=exchange.used(rates_used(request, catalog)),
        quota_requests=quota.requests(request, catalog, strategies),
        margins=margins(solved, advice.strategy, setting, of_demand=request.risk is not None),
        flips=flips(case),
        risk=risk(request.risk, case),
        views=views(request.finance, advice, solved, setting),
        ledger=ledger(solved, setting, prices, assumptions, case.terms_of),
        considered=considered(request, setting, catalog, solved, advice, nodes, grounds.node_gaps),
    )


def _advice(request: Request, setting: Setting, solved: Sequence[Solved], catalog: Catalog) -> Recommendation:
    strategies = tuple(s.strategy for s in solved)
    advice = recommend(strategies, request.months, request.currency, request.materiality_fraction)
    return replace(advice, reasons=reasons(setting, solved, advice.strategy, catalog))


def needs_of(request: Request, catalog: Catalog) -> tuple[Request, Catalog, tuple[Need, ...]]:
    """What a plan of `request` would start from: the request and the catalogue in the plan's words and currency, and
    the work of each workload. Raises InvalidRequest as `plan` does."""
    if faults := check(request, catalog):
        raise InvalidRequest(faults)
    asked = named(request, catalog)
    request, catalog = _in_order(asked), view(catalog, asked.currency, asked.as_of)
    assumed = figures.overridden(_defaults(request, catalog), _overrides(request), request.as_of)
    needs = {need.workload.name: need for need in _demands(request, catalog, _terms(request, assumed)).needs}
    return request, catalog, tuple(needs[workload.name] for workload in asked.workloads)


def _demands(request: Request, catalog: Catalog, terms: Terms) -> Demands:
    rates = {workload.name: accelerator_hours_rate(workload, catalog.names) for workload in request.workloads}
    return demands(request, terms.hours_per_month, rates)


def _setting(
    request: Request,
    catalog: Catalog,
    assumed: figures.Assumptions,
    nodes: Sequence[owned.Node],
    throughputs: Throughputs,
) -> tuple[Setting, tuple[Gap, ...]]:
    """What could be done and what it costs, and what there is already that cannot be used or counted.

    `throughputs` are taken at an end of their interval, to plan anew.
    """
    terms = _terms(request, assumed)
    needed = _demands(request, catalog, terms)
    held, held_gaps = holdings.existing(request, catalog, assumed, terms, needed.month_names)
    found = with_throughputs(market(request, needed, catalog, nodes, assumed, held), needed, throughputs)
    rules = Rules(request.limits, request.site, quota.held(request))
    choice = choose_from(found, needed, assumed, terms, rules)
    return Setting(needed, found, choice, assumed, terms, rules), held_gaps


def _again(request: Request, catalog: Catalog) -> Again:
    """The same question with other assumptions and throughputs, and nothing asked of its risk."""

    def planned(assumptions: Mapping[str, float], throughputs: Throughputs = AS_PREDICTED) -> Plan:
        given = {"assumptions": {**request.assumptions, **assumptions}, "risk": None}
        return plan(request.model_copy(update=given), catalog, throughputs=throughputs)

    return planned


def _there(setting: Setting) -> list[owned.Node]:
    """What is owned already."""
    return [r.node for r in setting.market.resources if r.node is not None and r.held is not None]


def _rented(nodes: Iterable[owned.Node], request: Request, catalog: Catalog) -> list[Quote]:
    """What could be rented by the hour instead of owned nodes."""
    quotes = catalog.quotes(accelerators={node.accelerator for node in nodes}, options=["on_demand"])
    return [quote for quote in quotes if is_allowed(quote, request)]


def _in_order(request: Request) -> Request:
    """The workloads by name, so that their order in the input changes nothing."""
    return request.model_copy(update={"workloads": tuple(sorted(request.workloads, key=lambda w: w.name))})


def _in_asked_order(strategy: Strategy, asked: Request) -> Strategy:
    order = {workload.name: index for index, workload in enumerate(asked.workloads)}
    return replace(strategy, workloads=tuple(sorted(strategy.workloads, key=lambda row: order[row.workload])))


def _defaults(request: Request, catalog: Catalog) -> dict[str, Assumption]:
    """The default assumptions in the plan's currency."""
    if request.currency == figures.CURRENCY:
        return figures.defaults()
    rate = catalog.exchange.rate(figures.CURRENCY, request.currency, request.as_of)
    return figures.converted(figures.defaults(), rate)


def _overrides(request: Request) -> dict[str, float]:
    given = dict(request.assumptions)
    if request.discount_rate_annual is not None:
        given["discount_rate_annual"] = request.discount_rate_annual
    return given


def _terms(request: Request, assumed: figures.Assumptions) -> Terms:
    return terms_of(assumed, request.months, HOURS_PER_MONTH, request.commitments_beyond_horizon == "full")


def _solve(request: Request, setting: Setting, missing: tuple[str, ...]) -> list[Solved]:
    """Every strategy asked for; those that cannot be say why. Hybrid takes over a cheaper one found for less."""

    def one(name: StrategyName) -> Solved:
        if missing:
            return Solved(Strategy(name, "infeasible", 0.0, 0.0, 0.0, 0.0, reasons=missing))
        result = solve_strategy(name, setting)
        if result.strategy.status == "infeasible" and not result.strategy.reasons:
            return replace(result, strategy=replace(result.strategy, reasons=_reasons(name, setting)))
        return result

    with ThreadPoolExecutor(len(request.strategies)) as pool:  # the solver works outside the interpreter's lock
        solved = list(pool.map(one, request.strategies))
    feasible = [s for s in solved if s.strategy.status != "infeasible"]
    best = min(feasible, key=lambda s: s.strategy.present_cost, default=None)
    if best is None:
        return solved
    # Each proof holds within the gap; inside it, hybrid may not look dearer than a strategy it contains.
    return [_as_hybrid(best, s) if s.strategy.name == "hybrid" and s in feasible else s for s in solved]


def _as_hybrid(best: Solved, hybrid: Solved) -> Solved:
    cost = best.strategy.present_cost
    if cost >= hybrid.strategy.present_cost:
        return hybrid
    bound = min(hybrid.strategy.bound, cost)
    gap = (cost - bound) / abs(cost) if cost else 0.0
    return replace(best, strategy=replace(best.strategy, name="hybrid", bound=bound, gap_fraction=gap))


def _reasons(name: StrategyName, setting: Setting) -> tuple[str, ...]:
    if name == "onprem" and not any(ownable(setting)):
        lead = round(setting.assumptions["lead_time_months"].value)
        text = f"no owned system arrives after {lead} months of lead time"
        return (f"{text}, within the {setting.terms.months} months planned, and can do any of the work",)
    return unfinished(name, setting)


def _workloads(asked: Request, setting: Setting, inputs: Inputs) -> tuple[RequestedWorkload, ...]:
    needs = {need.workload.name: need for need in setting.demands.needs}
    places = {reading.path: reading.place for reading in inputs.readings}
    rows = []
    for index, workload in enumerate(asked.workloads):
        need = needs[workload.name]
        wanted = workload.accelerators or tuple(dict.fromkeys(written_accelerators(workload)))
        rows.append(
            RequestedWorkload(
                name=workload.name,
                team=workload.team,
                kind=workload.kind,
                unit=need.unit,
                demand=need.monthly,
                accelerators=wanted,
                gang=gang_of(workload),
                interruptible=workload.interruptible,
                place=places.get(f"workloads[{index}].name", f"workloads[{index}]"),
                budget_per_month=workload.budget_per_month,
                notes=workload.notes,
            )
        )
    return tuple(rows)


def _throughput(setting: Setting, solved: Sequence[Solved]) -> tuple[ThroughputUsed, ...]:
    rows = {}
    for candidate in (c for s in solved for c in s.candidates):
        rate = candidate.throughput
        name = setting.demands.needs[candidate.need].workload.name
        part = setting.market.resources[candidate.resource].accelerator
        rows[name, part, candidate.gang, rate.explanation] = ThroughputUsed(
            name, part, candidate.gang, rate.units_per_hour, rate.low, rate.high, rate.basis, rate.explanation
        )
    return tuple(rows[key] for key in sorted(rows))


def _prices(solved: Iterable[Solved], compared: Iterable[Quote], catalog: Catalog) -> tuple[PriceUsed, ...]:
    paid = [r.quote for s in solved for r in s.resources if r.quote is not None and r.is_listed]
    used = {quote.price.key: quote.price for quote in (*paid, *compared)}
    return tuple(_price(price, catalog) for _, price in sorted(used.items()))


def _price(price: Price, catalog: Catalog) -> PriceUsed:
    used = PriceUsed(
        price.provider,
        price.region,
        price.instance_type,
        price.purchase_option,
        price.price_per_hour,
        price.currency,
        price.as_of,
        price.source_id,
        catalog.sources[price.source_id].reference,
        price.method,
    )
    if not isinstance(price, Adjusted):
        return used
    return replace(
        used,
        list_price_per_hour=price.list_price_per_hour,
        list_currency=price.list_currency,
        adjustment=price.adjustment,
    )


def _identity(request: Request, catalog: Catalog) -> str:
    """A short name of the question and the prices it was asked of: equal inputs, equal name."""
    text = request.model_dump_json() + catalog.digest
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _conventions(request: Request, setting: Setting, prices: Sequence[PriceUsed], catalog: Catalog) -> tuple[str, ...]:
    terms = setting.terms
    beyond = "in full" if terms.charge_beyond_horizon else "pro rata"
    rates = rates_used(request, catalog)
    converted = f"Converted at {'; '.join(rate.words for rate in rates)}. The rate of that day stands for every month."
    return (
        f"A month is {terms.hours_per_month:g} hours (8,760 / 12).",
        "Purchases fall at the start of a month, running costs at its end; the monthly rate is (1+r)^(1/12)-1.",
        _kind_of_prices(request, prices, catalog),
        *([converted] if rates else []),
        f"Commitments that outlive the plan are charged {beyond}.",
        *owned.conventions(request, setting.assumptions),
        "Storage and egress are charged where the work runs, in proportion to the work done there in a month.",
        "Training and batch work may run at any hour of its month; services and interactive work follow their shape.",
        "A service rents whole nodes of one type in one place; on committed or owned nodes others use what it leaves.",
        "A job that runs a stated number of gangs at once keeps one accelerator and size of gang from start to end.",
        *quota.convention(request),
    )


def _kind_of_prices(request: Request, prices: Sequence[PriceUsed], catalog: Catalog) -> str:
    if not isinstance(catalog, View) or not catalog.card.in_force(request.as_of):
        return (
            f"Prices are list prices in {request.currency}, Linux, before tax, support plans and negotiated discounts."
        )
    negotiated, of_all = sum(bool(price.adjustment) for price in prices), len(prices)
    text = f"Prices are in {request.currency}, Linux, before tax and support plans: {negotiated} of the {of_all} used"
    text += f" are negotiated ({catalog.card.name}, as in force on {request.as_of})"
    return f"{text}, the others list prices." if negotiated < of_all else f"{text}."
