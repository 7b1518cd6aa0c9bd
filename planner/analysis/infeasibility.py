"""Why a workload cannot be served, and the smallest change that would let it be served."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial

from planner.analysis.relaxations import (
    NO_WAIT,
    LiftedLimits,
    find_sufficient,
    list_market_relaxations,
    list_plan_relaxations,
)
from planner.optimization.limit_relief import (
    Shortage,
    compute_shortage,
    relax_each_limit,
    relax_each_target,
)
from planner.optimization.linear_program import RequestLimit
from planner.optimization.solution import PlanningContext
from planner.optimization.strategy import ownable_workloads
from planner.request.assumptions import Assumptions
from planner.request.models import Request, Workload
from planner.result import StrategyName
from planner.result.message import Message, message
from planner.supply.candidates import Market, build_market
from planner.supply.carbon import exclude_unknown_carbon
from planner.supply.limits import LimitRules
from planner.supply.onprem import OwnedNode
from planner.supply.payments import covered_months
from planner.supply.price_rules import is_allowed, may_run
from planner.workloads.demand import PortfolioDemand, WorkloadDemand
from planner.workloads.eligibility import is_tied_to_accelerator
from planner.workloads.placement import parallel_limit
from pricing.catalog.price_catalog import Catalog
from pricing.catalog.quotes import usable_accelerator_memory
from pricing.frozen_values import dataclass

Rebuild = Callable[[Request, Assumptions], PlanningContext]
"""Prepares the question of another request under other assumptions."""


@dataclass(frozen=True, slots=True)
class ReplanningBasis:
    """An impossible question, and the ways to prepare it again with a limit lifted: whole, or only what can be
    bought and owned."""

    request: Request
    setting: PlanningContext
    rebuild: Rebuild
    list_owned: Callable[[Request, Assumptions], Iterable[Market]]


def explain_unserved_workloads(
    request: Request,
    demands: PortfolioDemand,
    priced_market: Market,
    catalog: Catalog,
    nodes: tuple[OwnedNode, ...],
    assumptions: Assumptions,
) -> tuple[Message, ...]:
    """For each workload without any candidate: why, and which single limits would have to be lifted."""
    served = {candidate.need for candidate in priced_market.candidates}
    reasons: list[Message] = []
    for index, need in enumerate(demands.needs):
        if index in served:
            continue
        counted = priced_market.refusals[index].most_common()
        reasons += [
            message(
                "workload_unserved",
                workload=need.workload.name,
                reasons=tuple(reason for reason, _ in counted),
                offerings=tuple(count for _, count in counted),
            ),
            *_list_retired_offerings(need.workload, catalog),
            *_name_holding_slice(request, need.workload, (reason for reason, _ in counted), catalog),
            *_list_sufficient_relaxations(request, demands, index, catalog, nodes, assumptions),
        ]
    return tuple(reasons)


def explain_infeasibility(name: StrategyName, basis: ReplanningBasis, *, is_proven: bool) -> tuple[Message, ...]:
    """Why a strategy is infeasible, and what would let it be planned. Not `is_proven`: its search ended before it came
    to a plan; then the targets on commitments that are in the way alone, with the shares that have a plan."""
    if not is_proven:
        return _describe_targets(name, basis.setting, is_proven=False)
    if name == "onprem" and not any(ownable_workloads(basis.setting)):
        return _explain_nothing_owned(basis)
    return _explain_shortfall(name, basis)


def _explain_shortfall(name: StrategyName, basis: ReplanningBasis) -> tuple[Message, ...]:
    """Limits that are in its way alone come with the least sufficient increase of each.
    Where not even all of them are in the way, each workload that is left with work undone comes with what would let all
    of it be done: more jobs at once, a later deadline, or single limits of the request that would have to be lifted."""
    setting = basis.setting
    if targets := _describe_targets(name, setting, is_proven=True):
        return targets
    reliefs = relax_each_limit(name, setting)
    too_low = [_describe_low_limit(each.limit, each.enough) for each in reliefs if each.enough is not None]
    unknown = [message("limit_not_examined", limit=each.limit.title) for each in reliefs if not each.is_known]
    physical = None if too_low else compute_shortage(name, _without_limits(setting))
    if physical is None or (physical.is_known and not physical.shares):
        # a target that no share of commitments alone would meet is in the way together with the limits
        titles = (*(each.limit.title for each in reliefs), *setting.rules.commitment_targets)
        if unknown:
            together = message("limits_in_the_way_together", limits=titles)
        else:
            together = message("no_single_limit_in_the_way", limits=titles)
        limits = too_low or ([together] if titles else [])
        return (*limits, *unknown, *_describe_undone_work(compute_shortage(name, setting), setting))
    if not physical.is_known:
        return (*unknown, message("shortage_not_examined"))
    return tuple(
        reason
        for index, fraction in physical.shares.items()
        for reason in (
            _explain_parallel_work(index, fraction, setting)
            or _describe_undone(index, fraction, physical.is_least, setting),
            *_list_ways_to_finish(name, index, basis),
        )
    )


def _explain_nothing_owned(basis: ReplanningBasis) -> tuple[Message, ...]:
    """Why no owned system can do any work within the plan: it comes too late; or none is for the work, with each limit
    that rules all of them out, and the lead time where that is in the way then."""
    needs = basis.setting.demands.needs
    if any(_can_be_owned_at_once(need, basis, LiftedLimits(())) for need in needs):
        lead_time = round(basis.setting.assumptions["lead_time_months"].value)
        return (message("no_owned_system_in_time", lead_time_months=lead_time, plan_months=basis.request.months),)
    ways = (
        message("would_be_owned", workload=need.workload.name, without=(*sufficient.limits, *late))
        for need in needs
        for sufficient in find_sufficient(
            list_plan_relaxations(basis.request, need, basis.setting.assumptions),
            partial(_can_be_owned_at_once, need, basis),
        )
        for late in (() if _can_be_owned(need, basis, sufficient) else ("lead_time_months",),)
    )
    return (message("nothing_to_own"), *ways)


def _can_be_owned_at_once(need: WorkloadDemand, basis: ReplanningBasis, relaxation: LiftedLimits) -> bool:
    """Whether an owned system can do the work of a workload without some limits, were it there today."""
    return _can_be_owned(need, basis, replace(relaxation, on_assumptions=NO_WAIT))


def _can_be_owned(need: WorkloadDemand, basis: ReplanningBasis, relaxation: LiftedLimits) -> bool:
    """Whether an owned system that arrives within the plan can do the work of a workload without some limits."""
    relaxed, workload, assumed = relaxation.apply(basis.request, need.workload, basis.setting.assumptions)
    if not workload.may_be_owned:
        return False  # whatever else is lifted
    return any(
        covered_months(market.resources[candidate.resource], 1, assumed, basis.setting.terms)
        for market in basis.list_owned(relaxed, assumed)
        for candidate in market.candidates
    )


def _without_limits(setting: PlanningContext) -> PlanningContext:
    """The same question without budgets, limits of the site, quotas and shares of spot of work at any hour; standing
    work keeps its share of spot, which rules out nodes."""
    needs = tuple(
        replace(need, workload=need.workload.model_copy(update={"spot_fraction_max": share}))
        for need in setting.demands.needs
        for share in ((setting.rules.spot_share(need) if need.serving else 1.0),)
    )
    rules = LimitRules(site=setting.rules.site)
    return replace(setting, rules=rules, demands=replace(setting.demands, needs=needs))


def _list_ways_to_finish(name: StrategyName, index: int, basis: ReplanningBasis) -> Iterator[Message]:
    """Each single limit without which all work of a workload can be done; else a smallest set of limits. It is planned
    alone, unless the others are what is in its way: then all are."""
    need, assumptions = basis.setting.demands.needs[index], basis.setting.assumptions

    def can_be_done(relaxation: LiftedLimits, *, beside_others: bool) -> bool:
        relaxed, workload, assumed = relaxation.apply(basis.request, need.workload, assumptions)
        if beside_others:
            all_of_them = (workload if each.name == workload.name else each for each in basis.request.workloads)
            relaxed = relaxed.model_copy(update={"workloads": tuple(all_of_them)})
        setting = _without_limits(basis.rebuild(relaxed, assumed))
        if not setting.market.candidates:
            return False
        left = compute_shortage(name, setting)
        return left.is_known and (index if beside_others else 0) not in left.shares

    others_in_the_way = can_be_done(LiftedLimits(()), beside_others=False)
    if others_in_the_way:
        yield message("would_be_done_alone", workload=need.workload.name)
    suffices = partial(can_be_done, beside_others=others_in_the_way)
    for sufficient in find_sufficient(list_plan_relaxations(basis.request, need, assumptions), suffices):
        yield message("would_be_done", workload=need.workload.name, without=sufficient.limits)


def _describe_targets(name: StrategyName, setting: PlanningContext, *, is_proven: bool) -> tuple[Message, ...]:
    """The targets that are in the way alone; where the choice is partial, what was left out was not looked at."""
    return tuple(
        message(
            "target_too_high",
            limit=each.name,
            target=each.target,
            attainable=each.attainable,
            in_part=setting.choice.is_partial,
            is_proven=is_proven,
        )
        for each in relax_each_target(name, setting)
        if each.attainable is not None
    )


def _describe_low_limit(limit: RequestLimit, enough: float) -> Message:
    return message("limit_too_low", limit=limit.title, amount=limit.amount, needed=enough, unit=limit.unit)


def _describe_undone_work(shortage: Shortage, setting: PlanningContext) -> Iterator[Message]:
    for index, fraction in shortage.shares.items():
        yield _describe_undone(index, fraction, shortage.is_least, setting)


def _describe_undone(index: int, fraction: float, is_least: bool, setting: PlanningContext) -> Message:
    name = setting.demands.needs[index].workload.name
    if is_least:
        return message("work_not_done", workload=name, fraction=fraction)
    return message("work_not_done_at_most", workload=name, fraction=fraction)


def _explain_parallel_work(index: int, fraction: float, setting: PlanningContext) -> Message | None:
    """Work with a deadline that takes longer than that at the fastest offering with so many gangs at once: the deadline
    or the number of gangs that would do. None where time is not what is short."""
    need = setting.demands.needs[index]
    limit = parallel_limit(need)
    fastest = max(
        (c.units_per_node_hour * c.granule for c in setting.market.candidates if c.need == index), default=0.0
    )
    if limit is None or need.deadline is None or not fastest:
        return None
    months = need.total / (fastest * limit * setting.terms.hours_per_month)
    if months <= need.deadline:
        return None
    return message(
        "work_not_done_in_parallel",
        workload=need.workload.name,
        fraction=fraction,
        parallel_jobs=limit,
        months=months,
        units_per_hour=fastest,
        unit=need.unit,
        deadline_needed=math.ceil(months),
        parallel_jobs_needed=math.ceil(limit * months / need.deadline),
    )


def _name_holding_slice(
    request: Request, workload: Workload, reasons: Iterable[Message], catalog: Catalog
) -> Iterator[Message]:
    """The smallest slice that holds the gang of a workload, for each accelerator of which only smaller slices are
    sold; none where a slice with a price has just its chips, or where no slice has a price in a place that the workload
    may run in: other limits keep that from it."""
    unjoined = [reason.parameters for reason in reasons if reason.code == "slices_not_joined"]
    for accelerator, gang in sorted({(str(each["accelerator"]), float(str(each["gang"]))) for each in unjoined}):
        quotes = catalog.quotes(accelerators=[accelerator])
        providers = {
            quote.price.provider
            for quote in quotes
            if is_allowed(quote, request) and may_run(catalog, request, workload, quote)
        }
        slices = [
            (offering.accelerator_count, offering.provider, offering.instance_type)
            for offering in catalog.offerings.values()
            if offering.accelerator == accelerator
            and (offering.accelerator_count or 0) >= gang
            and offering.provider in providers
        ]
        is_sold = any(quote.offering.accelerator_count == gang for quote in quotes)
        if slices and not is_sold:
            chips, provider, instance_type = min(slices)
            yield message(
                "slice_holds_gang", workload=workload.name, provider=provider, instance_type=instance_type, chips=chips
            )


def _list_retired_offerings(workload: Workload, catalog: Catalog) -> Iterator[Message]:
    """Types with the requested accelerators that can no longer be started, with their successors."""
    written = [workload.demand.accelerator or ""] if is_tied_to_accelerator(workload) else list(workload.accelerators)
    requested = {part.name for name in written if name for part in catalog.names.match(name)}
    for offering in catalog.offerings.values():
        if offering.accelerator in requested and offering.status == "retired":
            yield message(
                "requested_offering_retired",
                workload=workload.name,
                provider=offering.provider,
                instance_type=offering.instance_type,
                accelerator=offering.accelerator,
                successor=offering.successor or None,
            )


def _list_sufficient_relaxations(
    request: Request,
    demands: PortfolioDemand,
    index: int,
    catalog: Catalog,
    nodes: tuple[OwnedNode, ...],
    assumptions: Assumptions,
) -> Iterator[Message]:
    """Each single limit whose removal lets something serve the workload; else a smallest set of limits."""
    need = demands.needs[index]

    def find_market(relaxation: LiftedLimits) -> Market:
        relaxed_request, workload, _ = relaxation.apply(request, need.workload, assumptions)
        alone = replace(demands, needs=(replace(need, workload=workload),))
        market = build_market(relaxed_request, alone, catalog, nodes, assumptions)
        return exclude_unknown_carbon(market, relaxed_request, catalog, assumptions)

    relaxations = list_market_relaxations(request, need.workload)
    for sufficient in find_sufficient(relaxations, lambda each: bool(find_market(each).candidates)):
        market = find_market(sufficient)
        yield message(
            "would_be_served",
            workload=need.workload.name,
            without=sufficient.limits,
            candidates=len(market.candidates),
            accelerators=tuple(sorted({market.resources[c.resource].accelerator for c in market.candidates})),
            memory_gib_max=_largest_memory_gib(market, catalog) if "memory" in sufficient.limits else None,
        )


def _largest_memory_gib(priced_market: Market, catalog: Catalog) -> float:
    """The most memory that an accelerator of any candidate has, in GiB; 0 where none is known."""
    most = 0.0
    for candidate in priced_market.candidates:
        resource = priced_market.resources[candidate.resource]
        part = catalog.names.by_name[resource.accelerator]
        has = part.memory_gib if resource.quote is None else usable_accelerator_memory(resource.quote.offering, part)
        most = max(most, has or 0.0)
    return most
