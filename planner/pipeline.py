"""The whole path on one screen: request -> demand -> candidates -> strategies -> plan."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from planner.analysis.advice import recommend_strategy
from planner.analysis.alternatives import list_alternatives
from planner.analysis.audit_trail import build_audit_trail
from planner.analysis.conventions import (
    describe_workloads,
    identify_plan,
    list_conventions,
    list_prices,
    list_request_settings,
    list_throughputs,
)
from planner.analysis.emissions import list_emissions
from planner.analysis.financial_views import build_financial_views
from planner.analysis.infeasibility import ReplanningBasis, explain_infeasibility, explain_unserved_workloads
from planner.analysis.marginal_values import compute_marginal_values
from planner.analysis.recommendation import find_break_evens, list_reasons, qualify_advice
from planner.analysis.risk import BaselinePlan, assess_risk, find_switching_values
from planner.analysis.risk.replan_tasks import answer_task_elsewhere, replan_cases
from planner.analysis.risk.replanning import (
    AS_PREDICTED,
    AS_STATED,
    ReplanCase,
    ReplannedCosts,
    Replanner,
    Throughputs,
    summarise_replan,
    with_throughputs,
)
from planner.analysis.warnings import collect_gaps
from planner.finance.cashflow import Terms
from planner.optimization.dominance import build_choice_set
from planner.optimization.solution import PlanningContext, SearchEffort
from planner.optimization.solve_strategies import solve_strategies, solve_verified
from planner.optimization.solver import remember_solutions
from planner.optimization.strategy import SolvedStrategy, impossible_strategy
from planner.request import assumptions as figures
from planner.request.calendar import order_ahead_months
from planner.request.errors import InvalidRequest
from planner.request.models import Request
from planner.result import (
    SCHEMA_VERSION,
    Gap,
    InputProvenance,
    Plan,
    Recommendation,
    Strategy,
    StrategyName,
)
from planner.result.content_digest import digest_content
from planner.result.message import Message
from planner.result.risk import NegotiationTarget
from planner.result.strategies import CommitmentReport
from planner.result.uncertainty import Uncertainty
from planner.supply import existing as holdings
from planner.supply import onprem, quotas
from planner.supply.candidates import Market, build_market
from planner.supply.carbon import carbon_figures, exclude_unknown_carbon
from planner.supply.limits import LimitRules
from planner.supply.payments import build_terms
from planner.supply.price_rules import is_offered, named_providers, plan_start
from planner.supply.validation import resolve_names, validate_request
from planner.workloads.demand import PortfolioDemand, WorkloadDemand, compute_demands
from planner.workloads.eligibility import accelerator_hours_rate
from pricing import exchange_rates as exchange
from pricing.catalog.adjusted_prices import adjust_catalog, list_rates_used, select_for_plan
from pricing.catalog.catalogue_digest import digest_catalogue
from pricing.catalog.price_catalog import Catalog
from pricing.catalog.quotes import Quote
from pricing.frozen_values import dataclass
from pricing.units import HOURS_PER_MONTH

DOCUMENT_INPUT = InputProvenance("", "document", "")


def plan(request: Request, catalog: Catalog, inputs: InputProvenance = DOCUMENT_INPUT) -> Plan:
    """The plan for `request` at the prices of `catalog`. Raises InvalidRequest with every problem of the request."""
    with remember_solutions():
        request, divided = _divide_services(request, catalog)
        answer, case = _plan_with_case(request, catalog, inputs, divided)
        if not request.call_prices and all(workload.recovery is None for workload in request.workloads):
            return answer
        from planner.analysis.changed_requests import add_comparisons

        assumed = case.setting.assumptions
        return add_comparisons(request, answer, assumed, lambda other: _plan_again(catalog, other).solved[0].strategy)


def check_request(request: Request, catalog: Catalog) -> None:
    """Makes the checks of `plan` and raises its InvalidRequest, without planning."""
    _prepare_basis(request, catalog)


def _divide_services(request: Request, catalog: Catalog) -> tuple[Request, tuple[Message, ...]]:
    """The request with services that may be on several types in the parts that cost least, and a note for each."""
    if not any(workload.serving is not None and workload.serving.mixed_accelerators for workload in request.workloads):
        return request, ()
    from planner.analysis.service_division import divide_services

    _prepare_basis(request, catalog)  # every problem of the request as it is written
    return divide_services(request, partial(_plan_again, catalog))


def _plan_with_case(
    request: Request, catalog: Catalog, inputs: InputProvenance, divided: tuple[Message, ...]
) -> tuple[Plan, BaselinePlan]:
    """The plan without comparisons with plans of changed requests, and its case to price it again."""
    basis = _prepare_basis(request, catalog)
    owned, case = _solve_case(basis, _make_replanner(request, catalog))
    uncertainty = None
    if basis.request.uncertainty is not None and case.advice.strategy is not None:
        case, uncertainty = _follow_scenarios(basis, case)
    flips_known = not any(reason.code == "flips_need_planned_figures" for reason in case.advice.reasons)
    case = replace(case, advice=replace(case.advice, reasons=(*divided, *case.advice.reasons)))
    targets: tuple[NegotiationTarget, ...] = ()
    if flips_known and case.advice.runner_up is not None:
        from planner.analysis.negotiation import list_negotiation_targets

        targets = list_negotiation_targets(case, basis.catalog, basis.request.materiality_fraction)
    case = replace(case, advice=qualify_advice(case.advice, targets, case.solved, case.setting))
    settings, starts = list_request_settings(basis.request), basis.request.fiscal_year_starts
    answer = replace(_assemble_plan(basis, owned, inputs, case), negotiation=targets, uncertainty=uncertainty)
    answer = replace(answer, settings=settings, fiscal_year_starts=starts)
    return replace(answer, content_digest=digest_content(answer)), case


def _follow_scenarios(basis: _PlanBasis, case: BaselinePlan) -> tuple[BaselinePlan, Uncertainty]:
    """The case with the plans and the advice of the scenarios, and these."""
    from planner.analysis.uncertainty.choice_facts import follow_scenarios

    request, catalog = basis.request, basis.catalog

    def solve(name: StrategyName, setting: PlanningContext) -> SolvedStrategy:
        return solve_verified(request, setting, catalog, None, name)

    def advise(solved: Sequence[SolvedStrategy], chosen: StrategyName) -> Recommendation:
        return recommend_strategy(request, case.setting, solved, catalog, chosen)

    return follow_scenarios(request, case, solve, advise)


def _solve_case(
    basis: _PlanBasis, again: Replanner, throughputs: Throughputs = AS_PREDICTED, *, explain: bool = True
) -> tuple[_OwnedSupply, BaselinePlan]:
    """The strategies of a request and the advice; those that are impossible with reasons where these are asked for."""
    request, catalog, assumed = basis.request, basis.catalog, basis.assumptions
    nodes, node_gaps = onprem.buyable_nodes(catalog, assumed, request)
    context, existing_gaps = _build_context(request, catalog, assumed, nodes, throughputs)
    unserved = explain_unserved_workloads(request, context.demands, context.market, catalog, nodes, assumed)
    if unserved:
        solved = [impossible_strategy(name, unserved) for name in request.strategies]
    else:
        rebuild = partial(_rebuild_context, catalog, nodes, throughputs)
        owned = partial(_build_owned_markets, catalog, nodes)
        reasons = partial(explain_infeasibility, basis=ReplanningBasis(request, context, rebuild, owned))
        solved = solve_strategies(request, context, catalog, reasons if explain else None)
    advice = recommend_strategy(request, context, solved, catalog)
    terms_of = partial(_plan_terms, request)
    case = BaselinePlan(advice, solved, context, list_throughputs(context, solved), terms_of, again)
    return _OwnedSupply(nodes, node_gaps, existing_gaps), case


def negotiate(request: Request, catalog: Catalog, inputs: InputProvenance = DOCUMENT_INPUT) -> Plan:
    """The plan for `request`, with what to ask vendors for confirmed at each price that changes the choice."""
    from planner.analysis.flip_search import confirm_targets

    request, divided = _divide_services(request, catalog)
    answer, case = _plan_with_case(request, catalog, inputs, divided)
    prepare = partial(_prepare_at_price, request, catalog, answer)
    return replace(answer, negotiation=confirm_targets(answer.negotiation, case, request.materiality_fraction, prepare))


def _prepare_at_price(
    request: Request, catalog: Catalog, answer: Plan, target: NegotiationTarget, multiple: float
) -> tuple[PlanningContext, Callable[[StrategyName, float, SearchEffort], SolvedStrategy]]:
    """The context of the strategies, and how one is solved, with the price of a target at a multiple of today's."""
    from planner.analysis.negotiation import change_price

    basis = _prepare_basis(*change_price(request, catalog, answer, target, multiple))
    nodes, _ = onprem.buyable_nodes(basis.catalog, basis.assumptions, basis.request)
    context, _ = _build_context(basis.request, basis.catalog, basis.assumptions, nodes, AS_PREDICTED)

    def solve(name: StrategyName, bound: float, effort: SearchEffort) -> SolvedStrategy:
        return solve_verified(basis.request, replace(context, effort=effort), basis.catalog, None, name, bound)

    return context, solve


@dataclass(frozen=True, slots=True)
class _PlanBasis:
    """The input of a plan: the request as written but for names, and in the catalogue's words with its workloads
    sorted; the catalogue in the plan's currency, and the assumptions."""

    named_request: Request
    request: Request
    catalog: Catalog
    assumptions: figures.Assumptions


@dataclass(frozen=True, slots=True)
class _OwnedSupply:
    """The systems that can be purchased, and gaps for systems and existing capacity that cannot be used or counted."""

    nodes: tuple[onprem.OwnedNode, ...]
    node_gaps: tuple[Gap, ...]
    existing_gaps: tuple[Gap, ...]


def _prepare_basis(request: Request, catalog: Catalog) -> _PlanBasis:
    """The basis of a plan, or InvalidRequest with every problem of the request."""
    if problems := validate_request(request, catalog):
        raise InvalidRequest(problems)
    request = named_request = resolve_names(request, catalog)
    catalog = select_for_plan(catalog, named_providers(request))
    catalog = adjust_catalog(catalog, named_request.currency, named_request.as_of)
    rate = request.discount_rate_annual
    stated = request.assumptions | ({} if rate is None else {"discount_rate_annual": rate})
    assumed = figures.override_assumptions(_default_assumptions(request, catalog), stated, request.as_of)
    if any(workload.recovery is not None for workload in request.workloads):
        from planner.supply.recovery import add_standbys

        named_request = add_standbys(request, assumed)
    # by name, so that their order in the input changes nothing
    by_name = tuple(sorted(named_request.workloads, key=lambda workload: workload.name))
    return _PlanBasis(named_request, named_request.model_copy(update={"workloads": by_name}), catalog, assumed)


def _assemble_plan(basis: _PlanBasis, owned: _OwnedSupply, inputs: InputProvenance, case: BaselinePlan) -> Plan:
    """The whole plan, from the solved strategies."""
    request, catalog, nodes = basis.request, basis.catalog, owned.nodes
    advice, solved, context = case.advice, case.solved, case.setting
    needed, terms, assumed = context.demands, context.terms, context.assumptions
    strategies = tuple(replace(s.strategy, emissions=list_emissions(s, context)) for s in solved)
    chosen = next((s for s in strategies if s.name == advice.strategy), None)
    evens, compared = find_break_evens(nodes, _rentable_quotes(nodes, request, catalog), assumed, terms)
    prices = list_prices(solved, compared, catalog, plan_start(request))
    gaps = collect_gaps(request, context, catalog, solved, chosen)
    existing = [r.node for r in context.market.resources if r.node is not None and r.held is not None]
    assumptions = (*assumed.values(), *onprem.node_assumptions((*nodes, *existing), request, catalog))
    ledger = build_audit_trail(solved, context, prices, assumptions, case.terms_of)
    return Plan(
        schema_version=SCHEMA_VERSION,
        plan_id=identify_plan(basis.named_request, catalog),
        status=chosen.status if chosen else "infeasible",
        as_of=request.as_of,
        start=needed.month_names[0],
        months=request.months,
        month_names=needed.month_names,
        currency=request.currency,
        hours_per_month=terms.hours_per_month,
        discount_rate_annual=terms.discount_rate_annual,
        conventions=list_conventions(request, context, prices, catalog, case.throughput),
        recommendation=advice,
        strategies=tuple(_in_request_order(s, basis.named_request) for s in strategies),
        break_even=evens,
        workloads=describe_workloads(basis.named_request, context, inputs),
        throughput=case.throughput,
        prices=prices,
        oldest_price=min((price.as_of for price in prices), default=None),
        assumptions=assumptions,
        gaps=tuple(dict.fromkeys((*gaps, *owned.node_gaps, *owned.existing_gaps))),
        inputs=inputs,
        catalog_digest=catalog.digest,
        reasons=() if chosen else tuple(list_reasons(strategies)),
        exchange_rates=exchange.applied_rates(
            list_rates_used(catalog, figures.DEFAULTS_CURRENCY, request.currency, request.as_of)
        ),
        quota_requests=quotas.list_quota_requests(request, catalog, strategies),
        margins=compute_marginal_values(solved, advice.strategy, case.chosen_setting, request.risk is not None),
        flips=find_switching_values(case, ledger, assumptions, prices),
        risk=assess_risk(request.risk, case),
        commitments=_report_commitments(case, catalog, request),
        views=build_financial_views(request.finance, advice, solved, context, request.fiscal_year_starts),
        ledger=ledger,
        considered=list_alternatives(request, context, catalog, solved, advice, nodes, owned.node_gaps),
        block_of_hour=needed.block_of_hour,
    )


def _report_commitments(case: BaselinePlan, catalog: Catalog, request: Request) -> CommitmentReport | None:
    """Savings of the commitments of the recommended strategy; its module is loaded only where there are any."""
    chosen = next((s for s in case.solved if s.strategy.name == case.advice.strategy), None)
    if chosen is None or not any(order.resource.node is None for order in chosen.decisions.bought):
        return None
    from planner.analysis.commitments import report_commitments

    return report_commitments(chosen, case.setting, catalog, request)


def prepare_needs(request: Request, catalog: Catalog) -> tuple[Request, Catalog, tuple[WorkloadDemand, ...]]:
    """The input of a plan of `request`: the request and the catalogue in the plan's words and currency, and
    the work of each workload. Raises InvalidRequest as `plan` does."""
    basis = _prepare_basis(request, catalog)
    terms = _plan_terms(basis.request, basis.assumptions)
    demands = _compute_demands(basis.request, basis.catalog, terms)
    needs = {need.workload.name: need for need in demands.needs}
    return basis.request, basis.catalog, tuple(needs[workload.name] for workload in basis.named_request.workloads)


def _compute_demands(request: Request, catalog: Catalog, terms: Terms) -> PortfolioDemand:
    rates = {workload.name: accelerator_hours_rate(workload, catalog.names) for workload in request.workloads}
    return compute_demands(request, terms.hours_per_month, rates)


def _build_context(
    request: Request,
    catalog: Catalog,
    assumed: figures.Assumptions,
    nodes: Sequence[onprem.OwnedNode],
    throughputs: Throughputs,
) -> tuple[PlanningContext, tuple[Gap, ...]]:
    """All that the strategies share, and a gap for existing capacity that cannot be used or counted.

    `throughputs` replaces predicted rates by an end of their interval, for replanning.
    """
    terms = _plan_terms(request, assumed)
    needed = _compute_demands(request, catalog, terms)
    existing, existing_gaps = holdings.list_existing_resources(request, catalog, assumed, terms, needed.month_names)
    rules = LimitRules(request.limits, request.site, quotas.enforced_quotas(request), carbon_figures(request, catalog))
    market = build_market(request, needed, catalog, nodes, assumed, existing)
    market = exclude_unknown_carbon(market, request, catalog, assumed)
    market = with_throughputs(market, needed, throughputs)
    choice = build_choice_set(market, needed, assumed, terms, rules)
    return PlanningContext(needed, market, choice, assumed, terms, rules, request.effort), existing_gaps


def _rebuild_context(
    catalog: Catalog,
    nodes: Sequence[onprem.OwnedNode],
    throughputs: Throughputs,
    request: Request,
    assumed: figures.Assumptions,
) -> PlanningContext:
    return _build_context(request, catalog, assumed, nodes, throughputs)[0]


def _build_owned_markets(
    catalog: Catalog, nodes: Sequence[onprem.OwnedNode], request: Request, assumed: figures.Assumptions
) -> Iterator[Market]:
    """The candidates on each system that can be bought and owned, with nothing to rent."""
    needed = _compute_demands(request, catalog, _plan_terms(request, assumed))
    for node in nodes:
        market = build_market(request, needed, catalog, (node,), assumed, offerings=())
        yield exclude_unknown_carbon(market, request, catalog, assumed)


def _make_replanner(request: Request, catalog: Catalog) -> Replanner:
    """Solves the same request with other assumptions and throughputs."""
    return partial(replan_cases, request, partial(_replan_case, catalog), partial(digest_catalogue, catalog))


def _plan_again(catalog: Catalog, request: Request, case: ReplanCase = AS_STATED) -> BaselinePlan:
    """The strategies of a request in a case, without reasons."""
    changed = request.model_copy(update={"assumptions": {**request.assumptions, **case.assumptions}})
    again = _make_replanner(request, catalog)
    return _solve_case(_prepare_basis(changed, catalog), again, case.throughputs, explain=False)[1]


def _replan_case(catalog: Catalog, request: Request, case: ReplanCase) -> ReplannedCosts:
    return summarise_replan(_plan_again(catalog, request, case))


def answer_replan_task(task: str, catalog: Catalog, deadline: float | None) -> str:
    """The outcome of a task of another process, whose searches end at a time."""
    return answer_task_elsewhere(task, partial(_replan_case, catalog), deadline)


def _rentable_quotes(nodes: Iterable[onprem.OwnedNode], request: Request, catalog: Catalog) -> list[Quote]:
    """On-demand prices of the same accelerators as owned nodes."""
    start = plan_start(request)
    quotes = catalog.quotes(accelerators={node.accelerator for node in nodes}, options=["on_demand"])
    return [quote for quote in quotes if is_offered(quote, request, start)]


def _in_request_order(strategy: Strategy, request: Request) -> Strategy:
    order = {workload.name: index for index, workload in enumerate(request.workloads)}
    return replace(strategy, workloads=tuple(sorted(strategy.workloads, key=lambda row: order[row.workload])))


def _default_assumptions(request: Request, catalog: Catalog) -> figures.Assumptions:
    """The default assumptions in the plan's currency."""
    if request.currency == figures.DEFAULTS_CURRENCY:
        return figures.load_defaults()
    rate = catalog.exchange.rate(figures.DEFAULTS_CURRENCY, request.currency, request.as_of)
    return figures.convert_assumptions(figures.load_defaults(), rate)


def _plan_terms(request: Request, assumed: figures.Assumptions) -> Terms:
    in_full = request.commitments_beyond_horizon == "full"
    return build_terms(assumed, request.months, HOURS_PER_MONTH, in_full, order_ahead_months(request))
