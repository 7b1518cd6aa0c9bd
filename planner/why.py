"""Why a workload cannot be served, and the smallest change that would help."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from planner.answer import StrategyName
from planner.assumptions import Assumptions
from planner.candidates import Market, market
from planner.demand import Demands, Need
from planner.fit import parallel_limit
from planner.owned import Node
from planner.replay import Setting
from planner.request import Request, Workload
from planner.strategy import relaxations, shortage
from planner.workload import stays
from pricing.catalog import Catalog, memory_of_one

SHOWN = 6


def unserved(
    request: Request,
    demands: Demands,
    found: Market,
    catalog: Catalog,
    nodes: tuple[Node, ...],
    assumptions: Assumptions,
) -> tuple[str, ...]:
    """For each workload without any candidate: why, and which single limits would have to give."""
    served = {candidate.need for candidate in found.candidates}
    lines = []
    for index, need in enumerate(demands.needs):
        if index in served:
            continue
        name = need.workload.name
        counted = [f"{reason} ({count})" for reason, count in found.refusals[index].most_common(SHOWN)]
        lines.append(f"{name}: nothing can serve it: {'; '.join(counted) or 'no offering is priced'}")
        lines += [f"{name}: {text}" for text in _retired(need.workload, catalog)]
        lines += [f"{name}: {text}" for text in _relaxations(request, demands, index, catalog, nodes, assumptions)]
    return tuple(lines)


def unfinished(name: StrategyName, setting: Setting) -> tuple[str, ...]:
    """What a strategy cannot do: the limits in its way, with the least by which each alone would have to give, and each
    workload that is left with work undone."""
    lines = list(_in_the_way(name, setting))
    for index, share in shortage(name, setting).items():
        need = setting.demands.needs[index]
        text = f"{need.workload.name}: {share:.1%} of its work cannot be done in time"
        lines.append(f"{text}{_sooner(need, index, setting)}")
    return tuple(lines)


def _in_the_way(name: StrategyName, setting: Setting) -> Iterator[str]:
    found = relaxations(name, setting)
    for limit, over in found:
        if over is not None:
            needed = limit.amount + over
            text = f"{limit.title}: {limit.amount:,.6g} {limit.unit} is too little; {_rounded_up(needed)} would do"
            yield f"{text}, all other limits kept"
    if found and all(over is None for _, over in found):
        names = ", ".join(limit.title for limit, _ in found)
        yield f"no limit alone is in the way, of these: {names}"


def _rounded_up(amount: float) -> str:
    """To four digits, never below the amount, so that what is told is enough."""
    if amount <= 0:
        return "0"
    step = 10.0 ** (math.floor(math.log10(amount)) - 3)
    return f"{math.ceil(amount / step - 1e-9) * step:,.10g}"


def _sooner(need: Need, index: int, setting: Setting) -> str:
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


def _retired(workload: Workload, catalog: Catalog) -> Iterator[str]:
    """Types of the accelerators asked for that can no longer be started, with their successors."""
    written = [workload.demand.accelerator or ""] if stays(workload) else list(workload.accelerators)
    wanted = {part.name for name in written if name for part in catalog.names.match(name)}
    for offering in catalog.offerings.values():
        if offering.accelerator in wanted and offering.status == "retired":
            successor = f"its successor is {offering.successor}" if offering.successor else "no successor is recorded"
            yield f"{offering.provider} {offering.instance_type} ({offering.accelerator}) is retired; {successor}"


def _relaxations(
    request: Request, demands: Demands, index: int, catalog: Catalog, nodes: tuple[Node, ...], assumptions: Assumptions
) -> Iterator[str]:
    """Each single limit whose removal lets something serve the workload."""
    need = demands.needs[index]
    for text, on_request, on_workload in _limits(request, need.workload):
        workload = need.workload.model_copy(update=on_workload)
        asked = request.model_copy(update={**on_request, "workloads": (workload,)})
        alone = replace(demands, needs=(replace(need, workload=workload),))
        found = market(asked, alone, catalog, nodes, assumptions)
        if found.candidates:
            parts = sorted({found.resources[c.resource].accelerator for c in found.candidates})
            listed = ", ".join(parts[:SHOWN]) + (" ..." if len(parts) > SHOWN else "")
            most = f", at most {_most_memory(found, catalog):g} GiB" if "memory_gib_total" in on_workload else ""
            yield f"would be served {text}{most} ({len(found.candidates)} candidates on {listed})"


def _most_memory(found: Market, catalog: Catalog) -> float:
    """The most memory that an accelerator of any candidate has, in GiB; 0 where none is known."""
    most = 0.0
    for candidate in found.candidates:
        resource = found.resources[candidate.resource]
        part = catalog.names.by_name[resource.accelerator]
        has = part.memory_gib if resource.quote is None else memory_of_one(resource.quote.offering, part)
        most = max(most, has or 0.0)
    return most


def _limits(request: Request, workload: Workload) -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
    memory = {"memory_gib_per_accelerator": None, "memory_gib_total": None}
    if workload.memory_gib_per_accelerator or workload.memory_gib_total:
        yield "with less memory per accelerator", {}, memory
    for field in ("providers", "regions", "residency"):
        if getattr(request, field) or getattr(workload, field):
            yield f"without its limit of {field}", {field: ()}, {field: ()}
    if workload.accelerators:
        yield "without its limit of accelerators", {}, {"accelerators": ()}
    if stays(workload):
        yield "on another accelerator (substitution: true)", {}, {"substitution": True}
    if workload.accelerators_per_node or (workload.gang or 1) > 1:
        yield "on nodes with fewer accelerators (accelerators_per_node: 1)", {}, {"accelerators_per_node": 1.0}
    if request.measured_only:
        yield "with predicted throughput (measured_only: false)", {"measured_only": False}, {}
    if not request.allow_estimates:
        yield "with estimates (allow_estimates: true)", {"allow_estimates": True}, {}
