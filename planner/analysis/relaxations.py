"""The limits of a request that can be lifted for one workload, each as changes of request, workload and assumptions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import field, replace
from typing import Any

from planner.request.assumptions import Assumptions
from planner.request.limits import PlanLimits
from planner.request.models import Request, Workload
from planner.workloads.demand import WorkloadDemand
from planner.workloads.eligibility import is_tied_to_accelerator
from pricing.frozen_values import dataclass

NO_WAIT = {"lead_time_months": 0.0, "migration_months": 0.0}


@dataclass(frozen=True, slots=True)
class LiftedLimits:
    """Limits by their names, and what changes where they are lifted: of the request, its workload, the assumptions and
    the request's own `limits`."""

    limits: tuple[str, ...]
    on_request: Mapping[str, Any] = field(default_factory=dict)
    on_workload: Mapping[str, Any] = field(default_factory=dict)
    on_assumptions: Mapping[str, float] = field(default_factory=dict)
    on_limits: Mapping[str, Any] = field(default_factory=dict)

    def apply(
        self, request: Request, workload: Workload, assumptions: Assumptions
    ) -> tuple[Request, Workload, Assumptions]:
        """Request (of this workload alone), workload and assumptions without the limits."""
        relaxed = workload.model_copy(update=dict(self.on_workload))
        values = {name: replace(assumptions[name], value=value) for name, value in self.on_assumptions.items()}
        limits = request.limits.model_copy(update=dict(self.on_limits))
        changes = {**self.on_request, "limits": limits, "workloads": (relaxed,)}
        return request.model_copy(update=changes), relaxed, {**assumptions, **values}


def find_sufficient(
    relaxations: Iterable[LiftedLimits], suffices: Callable[[LiftedLimits], bool]
) -> tuple[LiftedLimits, ...]:
    """Each single relaxation that suffices; where none does, a smallest set of them that does together (none of it can
    be left out), as one. Empty where not even all do."""
    listed = tuple(relaxations)
    if single := tuple(each for each in listed if suffices(each)):
        return single
    if not listed or not suffices(_join_relaxations(listed)):
        return ()
    needed = listed
    for each in listed:
        fewer = tuple(other for other in needed if other is not each)
        if fewer and suffices(_join_relaxations(fewer)):
            needed = fewer
    return (_join_relaxations(needed),)


def _join_relaxations(relaxations: Iterable[LiftedLimits]) -> LiftedLimits:
    joined = LiftedLimits(())
    for each in relaxations:
        joined = LiftedLimits(
            (*joined.limits, *each.limits),
            {**joined.on_request, **each.on_request},
            {**joined.on_workload, **each.on_workload},
            {**joined.on_assumptions, **each.on_assumptions},
            {**joined.on_limits, **each.on_limits},
        )
    return joined


def _list_choice_limits(limits: PlanLimits) -> Iterator[LiftedLimits]:
    """The limits of the plan that leave out offerings: ways of paying, and carbon where an emission is unknown."""
    if limits.purchase_options:
        yield LiftedLimits(("purchase_options",), on_limits={"purchase_options": ()})
    if limits.carbon_kg_per_year is not None:
        yield LiftedLimits(("carbon_kg_per_year",), on_limits={"carbon_kg_per_year": None})


def list_market_relaxations(request: Request, workload: Workload) -> Iterator[LiftedLimits]:
    """The limits in force that keep offerings and owned systems from a workload."""
    yield from _list_choice_limits(request.limits)
    if not workload.interruptible:
        yield LiftedLimits(("interruptible",), {}, {"interruptible": True})
    if not workload.may_be_owned:
        yield LiftedLimits(("may_be_owned",), {}, {"may_be_owned": True})
    if workload.memory_gib_per_accelerator or workload.memory_gib_total:
        yield LiftedLimits(("memory",), {}, {"memory_gib_per_accelerator": None, "memory_gib_total": None})
    for name in ("providers", "regions", "residency"):
        if getattr(request, name) or getattr(workload, name):
            yield LiftedLimits((name,), {name: ()}, {name: ()})
    if workload.accelerators:
        yield LiftedLimits(("accelerators",), {}, {"accelerators": ()})
    if is_tied_to_accelerator(workload):
        yield LiftedLimits(("substitution",), {}, {"substitution": True})
    if workload.accelerators_per_node or (workload.gang or 1) > 1:
        yield LiftedLimits(("accelerators_per_node",), {}, {"accelerators_per_node": 1.0})
    if request.measured_only:
        yield LiftedLimits(("measured_only",), {"measured_only": False})
    if not request.allow_estimates:
        yield LiftedLimits(("allow_estimates",), {"allow_estimates": True})


def list_plan_relaxations(request: Request, need: WorkloadDemand, assumptions: Assumptions) -> Iterator[LiftedLimits]:
    """The limits in force that keep the work of a workload from being done where it can be served: in time, in one
    place and by the ways of paying allowed."""
    workload, limits = need.workload, request.limits
    if (
        workload.interruptible
        and need.serving
        and (workload.spot_fraction_max, limits.spot_fraction_max) != (None, None)
    ):
        yield LiftedLimits(("spot_fraction_max",), {}, {"spot_fraction_max": 1.0})
    if not need.serving and not workload.spread:
        yield LiftedLimits(("spread",), {}, {"spread": True})
    if any(assumptions[name].value for name in NO_WAIT):
        yield LiftedLimits(("lead_time_months",), on_assumptions=NO_WAIT)
    if not assumptions["capacity_blocks_beyond_window"].value:
        yield LiftedLimits(("capacity_blocks_beyond_window",), on_assumptions={"capacity_blocks_beyond_window": 1.0})
    if workload.sweep is not None and workload.parallel_jobs is not None:
        at_once = workload.sweep.model_copy(update={"at_once": None})
        yield LiftedLimits(("parallel_jobs",), {}, {"sweep": at_once, "parallel_jobs": workload.sweep.due_together})
    elif workload.parallel_jobs is not None:
        yield LiftedLimits(("parallel_jobs",), {}, {"parallel_jobs": None})
    yield from list_market_relaxations(request, workload)
