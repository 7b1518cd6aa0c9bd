"""Why a workload cannot be served, and the smallest change that would let it be served."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from planner.optimization.solution import PlanningContext
from planner.optimization.strategy import compute_shortage, relax_each_limit
from planner.request.assumptions import Assumptions
from planner.request.models import Request, Workload
from planner.result import StrategyName
from planner.result.message import Message, message
from planner.supply.candidates import Market, build_market
from planner.supply.onprem import OwnedNode
from planner.workloads.demand import PortfolioDemand
from planner.workloads.eligibility import is_tied_to_accelerator
from planner.workloads.placement import parallel_limit
from pricing.catalog.price_catalog import Catalog
from pricing.catalog.quotes import usable_accelerator_memory


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
            *_name_holding_slice(need.workload.name, (reason for reason, _ in counted), catalog),
            *_list_sufficient_relaxations(request, demands, index, catalog, nodes, assumptions),
        ]
    return tuple(reasons)


def explain_shortfall(name: StrategyName, setting: PlanningContext) -> tuple[Message, ...]:
    """Why a strategy is infeasible: the limits in its way, with the least sufficient increase of each, and workloads
    that are left with work undone."""
    undone = (
        _explain_undone_work(index, fraction, setting) for index, fraction in compute_shortage(name, setting).items()
    )
    return (*_list_binding_limits(name, setting), *undone)


def _list_binding_limits(name: StrategyName, setting: PlanningContext) -> Iterator[Message]:
    limit_shortfalls = relax_each_limit(name, setting)
    for limit, over in limit_shortfalls:
        if over is not None:
            yield message(
                "limit_too_low",
                limit=limit.title,
                amount=limit.amount,
                needed=_round_up(limit.amount + over),
                unit=limit.unit,
            )
    if limit_shortfalls and all(over is None for _, over in limit_shortfalls):
        yield message("no_single_limit_in_the_way", limits=tuple(limit.title for limit, _ in limit_shortfalls))


def _round_up(amount: float) -> float:
    """To four digits and never below the amount, so that the limit reported as enough is enough."""
    if amount <= 0:
        return 0.0
    step = 10.0 ** (math.floor(math.log10(amount)) - 3)
    return math.ceil(amount / step - 1e-9) * step


def _explain_undone_work(index: int, fraction: float, setting: PlanningContext) -> Message:
    """The share of a workload's work that cannot be done; where the gangs at once are limited, with the deadline or the
    number of gangs that would do at the fastest offering."""
    need = setting.demands.needs[index]
    limit = parallel_limit(need)
    fastest = max(
        (c.units_per_node_hour * c.granule for c in setting.market.candidates if c.need == index), default=0.0
    )
    if limit is None or not fastest:
        return message("work_not_done", workload=need.workload.name, fraction=fraction)
    months = need.total / (fastest * limit * setting.terms.hours_per_month)
    deadline = need.deadline or setting.terms.months
    return message(
        "work_not_done_in_parallel",
        workload=need.workload.name,
        fraction=fraction,
        parallel_jobs=limit,
        months=months,
        units_per_hour=fastest,
        unit=need.unit,
        deadline_needed=math.ceil(months),
        parallel_jobs_needed=math.ceil(limit * months / deadline),
    )


def _name_holding_slice(workload: str, reasons: Iterable[Message], catalog: Catalog) -> Iterator[Message]:
    """The smallest slice that holds the gang of a workload, for each accelerator of which only smaller slices are
    sold."""
    unjoined = [reason.parameters for reason in reasons if reason.code == "slices_not_joined"]
    for accelerator, gang in sorted({(str(each["accelerator"]), float(str(each["gang"]))) for each in unjoined}):
        slices = [
            (offering.accelerator_count, offering.provider, offering.instance_type)
            for offering in catalog.offerings.values()
            if offering.accelerator == accelerator and (offering.accelerator_count or 0) >= gang
        ]
        if slices:
            chips, provider, instance_type = min(slices)
            yield message(
                "slice_holds_gang", workload=workload, provider=provider, instance_type=instance_type, chips=chips
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
    """Each single limit whose removal lets something serve the workload."""
    need = demands.needs[index]
    for limit, on_request, on_workload in _list_relaxable_limits(request, need.workload):
        workload = need.workload.model_copy(update=on_workload)
        relaxed_request = request.model_copy(update={**on_request, "workloads": (workload,)})
        alone = replace(demands, needs=(replace(need, workload=workload),))
        relaxed_market = build_market(relaxed_request, alone, catalog, nodes, assumptions)
        if relaxed_market.candidates:
            parts = sorted({relaxed_market.resources[c.resource].accelerator for c in relaxed_market.candidates})
            yield message(
                "would_be_served",
                workload=workload.name,
                without=limit,
                candidates=len(relaxed_market.candidates),
                accelerators=tuple(parts),
                memory_gib_max=_largest_memory_gib(relaxed_market, catalog) if limit == "memory" else None,
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


def _list_relaxable_limits(
    request: Request, workload: Workload
) -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
    """The limits that are in force, each with the changes of request and workload that lift it."""
    if workload.memory_gib_per_accelerator or workload.memory_gib_total:
        yield "memory", {}, {"memory_gib_per_accelerator": None, "memory_gib_total": None}
    for field in ("providers", "regions", "residency"):
        if getattr(request, field) or getattr(workload, field):
            yield field, {field: ()}, {field: ()}
    if workload.accelerators:
        yield "accelerators", {}, {"accelerators": ()}
    if is_tied_to_accelerator(workload):
        yield "substitution", {}, {"substitution": True}
    if workload.accelerators_per_node or (workload.gang or 1) > 1:
        yield "accelerators_per_node", {}, {"accelerators_per_node": 1.0}
    if request.measured_only:
        yield "measured_only", {"measured_only": False}, {}
    if not request.allow_estimates:
        yield "allow_estimates", {"allow_estimates": True}, {}
