"""How a gang of a workload sits on nodes of one type, and how fast it is there; or why it does not.

Knows accelerators and counts; neither places nor prices.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

from planner.answer import Gap
from planner.demand import Need
from planner.request import Request, Workload
from planner.throughput import Throughput, predict
from planner.workload import allowed_accelerators, gang_of, known, stays, vendors
from pricing.accelerator import Accelerator, Names

NODE_MAX = 8
"""Accelerators of a gang that must share a node unless the request says otherwise: the usual size of a server."""
GANG_GROWTH = (1, 2, 4, 8, 16, 32, 64)
"""Multiples of a node tried for one job that may grow to meet its deadline."""


@dataclass(frozen=True, slots=True)
class Fit:
    """How a gang of a workload sits on one type of node."""

    gang: float
    nodes_per_gang: int
    gangs_per_node: int
    throughput: Throughput


@dataclass(slots=True)
class Seat:
    """One workload and what was found out about it so far: `rates` by accelerator and gang, `gaps` of the whole
    search."""

    need: Need
    request: Request
    names: Names
    gaps: dict[Gap, None]
    rates: dict[tuple[str, float], Throughput | str] = field(default_factory=dict)
    allowed: frozenset[str] | None = field(init=False)
    vendors: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        self.allowed = allowed_accelerators(self.need.workload, self.names)
        self.vendors = vendors(self.need.workload, self.names)


def fits(seat: Seat, part: Accelerator, per_node: float | None, memory_gib: float | None) -> list[Fit] | str:
    """How the workload's gang sits on nodes of `per_node` accelerators, or why it does not."""
    workload, allowed, rates = seat.need.workload, seat.allowed, seat.rates
    if allowed is not None and part.name not in allowed:
        return f"not on {', '.join(sorted(allowed))}"
    if allowed is None and part.vendor not in seat.vendors:
        return "another vendor's software stack, neither measured nor allowed by name"
    if per_node is None:
        return "its number of accelerators is unknown"
    found = []
    for gang in _gangs(seat.need, per_node):
        problem = _memory_problem(workload, part, memory_gib, gang) or _node_problem(workload, per_node, gang)
        if problem is not None:
            return problem
        rate = rates.get((part.name, gang))
        if rate is None:
            rate = rates[part.name, gang] = _rate(seat, part, gang)
        if isinstance(rate, str):
            return rate
        per = max(1, math.floor(per_node / gang + 1e-9))
        found.append(Fit(gang, max(1, math.ceil(gang / per_node - 1e-9)), per, rate))
    return found


def _node_problem(workload: Workload, per_node: float, gang: float) -> str | None:
    together = min(workload.accelerators_per_node or min(gang, NODE_MAX), gang)
    return f"fewer than {together:g} accelerators a node" if per_node < together * (1 - 1e-9) else None


def _gangs(need: Need, per_node: float) -> Iterator[float]:
    """The gang stated; for one job with a deadline and no stated gang, also whole nodes in growing numbers."""
    workload = need.workload
    stated = gang_of(workload)
    yield stated
    if need.deadline is not None and parallel_limit(need) is not None and workload.gang is None and per_node >= 1:
        for multiple in GANG_GROWTH:
            if (gang := per_node * multiple) > stated:
                yield gang


def parallel_limit(need: Need) -> int | None:
    """Gangs that may run at once: as stated; one for training with a deadline; else no limit."""
    workload = need.workload
    if workload.parallel_jobs is not None:
        return workload.parallel_jobs
    return 1 if workload.kind == "training" and need.deadline is not None else None


def _rate(seat: Seat, part: Accelerator, gang: float) -> Throughput | str:
    """Work per hour of a gang, or why it is not known; what no measurement can tell becomes a gap."""
    workload, names = seat.need.workload, seat.names
    own = part.name == names.resolve(workload.demand.accelerator or part.name).name
    if not workload.measurements and (stays(workload) or own):
        return Throughput(gang, gang, gang, "definition", "an accelerator-hour is one accelerator for one hour")
    found = predict(known(workload, names), part, gang)
    if isinstance(found, str):
        seat.gaps[Gap("no_throughput", part.name, f"cannot serve: {found}", workload.name)] = None
        return found
    if seat.request.measured_only and found.basis != "measured":
        return "its throughput would be a prediction and only measured ones are allowed"
    return found


def _memory_problem(workload: Workload, part: Accelerator, memory_gib: float | None, gang: float) -> str | None:
    wanted = workload.memory_gib_per_accelerator
    if wanted is None and workload.memory_gib_total is not None:
        wanted = workload.memory_gib_total / gang
    if wanted is None:
        return None
    if memory_gib is None:
        return f"the memory of {part.name} is unknown"
    return f"less than {wanted:g} GiB of memory per accelerator" if memory_gib < wanted else None
