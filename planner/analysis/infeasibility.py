"""Why a workload cannot be served, and the smallest change that would help."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from planner.optimization.solution import PlanningContext
from planner.optimization.strategy import compute_shortage, relax_each_limit
from planner.request.assumptions import Assumptions
from planner.request.models import Request, Workload
from planner.result import StrategyName
from planner.supply.candidates import Market, build_market
from planner.supply.onprem import OwnedNode
from planner.workloads.demand import PortfolioDemand, WorkloadDemand
from planner.workloads.eligibility import is_tied_to_accelerator
from planner.workloads.placement import parallel_limit
from pricing.catalog.price_catalog import Catalog, usable_accelerator_memory

REASONS_LISTED_MAX = 6


def explain_unserved_workloads(
    request: Request,
    demands: PortfolioDemand,
    priced_market: Market,
    catalog: Catalog,
    nodes: tuple[OwnedNode, ...],
    assumptions: Assumptions,
) -> tuple[str, ...]:
    """For each workload without any candidate: why, and which single limits would have to give."""
    served = {candidate.need for candidate in priced_market.candidates}
    lines = []
    for index, need in enumerate(demands.needs):
        if index in served:
            continue
        name = need.workload.name
        counted = [
            f"{reason} ({count})" for reason, count in priced_market.refusals[index].most_common(REASONS_LISTED_MAX)
        ]
        lines.append(f"{name}: nothing can serve it: {'; '.join(counted) or 'no offering is priced'}")
        lines += [f"{name}: {text}" for text in _describe_retired_offerings(need.workload, catalog)]
        lines += [
            f"{name}: {text}" for text in _describe_relaxations(request, demands, index, catalog, nodes, assumptions)
        ]
    return tuple(lines)


def explain_shortfall(name: StrategyName, setting: PlanningContext) -> tuple[str, ...]:
    """What a strategy cannot do: the limits in its way, with the least by which each alone would have to give, and each
    workload that is left with work undone."""
    lines = list(_describe_binding_limits(name, setting))
    for index, share in compute_shortage(name, setting).items():
        need = setting.demands.needs[index]
        text = f"{need.workload.name}: {share:.1%} of its work cannot be done in time"
        lines.append(f"{text}{_describe_deadline_relief(need, index, setting)}")
    return tuple(lines)


def _describe_binding_limits(name: StrategyName, setting: PlanningContext) -> Iterator[str]:
    limit_shortfalls = relax_each_limit(name, setting)
    for limit, over in limit_shortfalls:
        if over is not None:
            needed = limit.amount + over
            text = (
                f"{limit.title}: {limit.amount:,.6g} {limit.unit} is too little; {_format_rounded_up(needed)} would do"
            )
            yield f"{text}, all other limits kept"
    if limit_shortfalls and all(over is None for _, over in limit_shortfalls):
        names = ", ".join(limit.title for limit, _ in limit_shortfalls)
        yield f"no limit alone is in the way, of these: {names}"


def _format_rounded_up(amount: float) -> str:
    """To four digits, never below the amount, so that what is told is enough."""
    if amount <= 0:
        return "0"
    step = 10.0 ** (math.floor(math.log10(amount)) - 3)
    return f"{math.ceil(amount / step - 1e-9) * step:,.10g}"


def _describe_deadline_relief(need: WorkloadDemand, index: int, setting: PlanningContext) -> str:
    limit = parallel_limit(need)
    if limit is None:
        return ""
    fastest = max(
        (c.units_per_node_hour * c.granule for c in setting.market.candidates if c.need == index), default=0.0
    )
    if not fastest:
        return ""
    months = need.total / (fastest * limit * setting.terms.hours_per_month)
    deadline = need.deadline or setting.terms.months
    jobs = -(-limit * months // deadline)
    return (
        f": {limit} job at a time takes {months:.1f} months at the fastest offering"
        f" ({fastest:,.0f} {need.unit} an hour);"
        f" a deadline in month {-(-months // 1):.0f} or parallel_jobs of {jobs:.0f} would do"
    )


def _describe_retired_offerings(workload: Workload, catalog: Catalog) -> Iterator[str]:
    """Types of the accelerators asked for that can no longer be started, with their successors."""
    written = [workload.demand.accelerator or ""] if is_tied_to_accelerator(workload) else list(workload.accelerators)
    wanted = {part.name for name in written if name for part in catalog.names.match(name)}
    for offering in catalog.offerings.values():
        if offering.accelerator in wanted and offering.status == "retired":
            successor = f"its successor is {offering.successor}" if offering.successor else "no successor is recorded"
            yield f"{offering.provider} {offering.instance_type} ({offering.accelerator}) is retired; {successor}"


def _describe_relaxations(
    request: Request,
    demands: PortfolioDemand,
    index: int,
    catalog: Catalog,
    nodes: tuple[OwnedNode, ...],
    assumptions: Assumptions,
) -> Iterator[str]:
    """Each single limit whose removal lets something serve the workload."""
    need = demands.needs[index]
    for text, on_request, on_workload in _list_relaxable_limits(request, need.workload):
        workload = need.workload.model_copy(update=on_workload)
        relaxed_request = request.model_copy(update={**on_request, "workloads": (workload,)})
        alone = replace(demands, needs=(replace(need, workload=workload),))
        relaxed_market = build_market(relaxed_request, alone, catalog, nodes, assumptions)
        if relaxed_market.candidates:
            parts = sorted({relaxed_market.resources[c.resource].accelerator for c in relaxed_market.candidates})
            listed = ", ".join(parts[:REASONS_LISTED_MAX]) + (" ..." if len(parts) > REASONS_LISTED_MAX else "")
            most = (
                f", at most {_largest_memory_gib(relaxed_market, catalog):g} GiB"
                if "memory_gib_total" in on_workload
                else ""
            )
            yield f"would be served {text}{most} ({len(relaxed_market.candidates)} candidates on {listed})"


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
    memory = {"memory_gib_per_accelerator": None, "memory_gib_total": None}
    if workload.memory_gib_per_accelerator or workload.memory_gib_total:
        yield "with less memory per accelerator", {}, memory
    for field in ("providers", "regions", "residency"):
        if getattr(request, field) or getattr(workload, field):
            yield f"without its limit of {field}", {field: ()}, {field: ()}
    if workload.accelerators:
        yield "without its limit of accelerators", {}, {"accelerators": ()}
    if is_tied_to_accelerator(workload):
        yield "on another accelerator (substitution: true)", {}, {"substitution": True}
    if workload.accelerators_per_node or (workload.gang or 1) > 1:
        yield "on nodes with fewer accelerators (accelerators_per_node: 1)", {}, {"accelerators_per_node": 1.0}
    if request.measured_only:
        yield "with predicted throughput (measured_only: false)", {"measured_only": False}, {}
    if not request.allow_estimates:
        yield "with estimates (allow_estimates: true)", {"allow_estimates": True}, {}
