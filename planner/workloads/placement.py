"""How a gang of a workload sits on nodes of one type, and how fast it is there; or why it does not.

Knows accelerators and counts; neither places nor prices.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

from planner.performance.memory import USABLE_FRACTIONS, MemoryEstimate, estimate_memory, judge_fit, smallest_gang
from planner.performance.parallelism import GangLinks
from planner.performance.throughput import Throughput, predict_throughput
from planner.request.models import Request, Workload
from planner.result import Gap
from planner.workloads.demand import WorkloadDemand
from planner.workloads.eligibility import (
    allowed_accelerators,
    compatible_stacks,
    described_throughput,
    gang_size_on,
    is_described,
    is_tied_to_accelerator,
    measured_rates,
    software_stack,
)
from planner.workloads.gangs import limit_by_parallelism
from planner.workloads.gpu_sharing import AcceleratorShare, assign_share, share_throughput, throughput_in_share
from pricing.accelerator import Accelerator, AcceleratorNames

NODE_MAX = 8
"""Accelerators of a gang that must share a node unless the request says otherwise: the usual size of a server."""
GANG_GROWTH = (1, 2, 4, 8, 16, 32, 64)
"""Multiples of a node tried for one job that may grow to meet its deadline."""


@dataclass(frozen=True, slots=True)
class Placement:
    """How a gang of a workload sits on one type of node."""

    gang: float
    nodes_per_gang: int
    gangs_per_node: int
    throughput: Throughput


@dataclass(slots=True)
class PlacementSearch:
    """One workload and what was found out about it so far: `rates` by accelerator and gang, `memory` by gang, `gaps`
    of the whole search."""

    need: WorkloadDemand
    request: Request
    names: AcceleratorNames
    gaps: dict[Gap, None]
    rates: dict[tuple[str, float], Throughput | str] = field(default_factory=dict)
    memory: dict[float, MemoryEstimate | str] = field(default_factory=dict)
    least: dict[str, float | str] = field(default_factory=dict)
    allowed: frozenset[str] | None = field(init=False)
    vendors: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        self.allowed = allowed_accelerators(self.need.workload, self.names)
        self.vendors = compatible_stacks(self.need.workload, self.names)


def find_placements(
    seat: PlacementSearch,
    part: Accelerator,
    per_node: float | None,
    memory_gib: float | None,
    network_gbps: float | None = None,
) -> list[Placement] | str:
    """How the workload's gang sits on nodes of `per_node` accelerators, or why it does not.

    `network_gbps` is that of a node to others; None where it is unknown.
    """
    workload, rates = seat.need.workload, seat.rates
    least = _eligibility_problem(seat, part) or _minimum_gang(seat, part)
    if per_node is None:
        return "its number of accelerators is unknown"
    if isinstance(least, str):
        return least
    shared = _place_shared(seat, part, per_node, memory_gib)
    if shared is not None:
        return shared if isinstance(shared, str) else [shared]
    placements = []
    for gang in _gang_sizes(seat.need, per_node, least):
        problem = _memory_problem(seat, part, memory_gib, gang) or _node_size_problem(workload, per_node, gang)
        if problem is not None:
            return problem
        rate = rates.get((part.name, gang))
        if rate is None:
            rate = rates[part.name, gang] = _gang_throughput(seat, part, gang)
        if isinstance(rate, str):
            return rate
        node = GangLinks(per_node, part.interconnect_gbs, network_gbps)
        rate = limit_by_parallelism(workload, seat.names, rate, part, gang, node, NODE_MAX)
        per = _busy_gangs(workload, max(1, math.floor(per_node / gang + 1e-9)))
        placements.append(Placement(gang, max(1, math.ceil(gang / per_node - 1e-9)), per, rate))
    return placements


def _place_shared(
    seat: PlacementSearch, part: Accelerator, per_node: float, memory_gib: float | None
) -> Placement | str | None:
    """How an experiment that shares an accelerator sits there, or why it does not; None where nothing is shared."""
    sweep = seat.need.workload.sweep
    if sweep is None or sweep.share == "none":
        return None
    one = assign_share(sweep, part, per_node, memory_gib, _required_gib(seat.need.workload))
    if isinstance(one, str):
        return one
    problem = _memory_problem(seat, part, one.memory_gib, 1)
    if problem is not None:
        return f"{problem}, {one.words}"
    throughput = seat.rates.get((part.name, one.gang))
    if throughput is None:
        throughput = seat.rates[part.name, one.gang] = _shared_throughput(seat, part, one)
    if isinstance(throughput, str):
        return throughput
    return Placement(one.gang, 1, _busy_gangs(seat.need.workload, math.floor(per_node / one.gang + 1e-9)), throughput)


def _busy_gangs(workload: Workload, places: int) -> int:
    """Gangs at work on a node: a sweep that runs fewer at once than a node has places pays for the whole node."""
    return places if workload.sweep is None else min(places, workload.sweep.parallel)


def _required_gib(workload: Workload) -> float | None:
    """The memory that an experiment on one accelerator needs, as stated or surely enough; None where nothing tells."""
    wanted = workload.memory_gib_per_accelerator or workload.memory_gib_total
    if wanted is None and workload.network is not None:
        memory = estimate_memory(workload.network, 1)
        return None if isinstance(memory, str) else memory.high_gib / USABLE_FRACTIONS[0]
    return wanted


def _shared_throughput(seat: PlacementSearch, part: Accelerator, one: AcceleratorShare) -> Throughput | str:
    workload = seat.need.workload
    if is_described(workload):
        throughput = share_throughput(described_throughput(workload, part, 1), one)
    else:
        throughput = throughput_in_share(measured_rates(workload, seat.names), part, one)
    return _accept_throughput(seat, part, throughput)


def _eligibility_problem(seat: PlacementSearch, part: Accelerator) -> str | None:
    if seat.allowed is not None:
        return None if part.name in seat.allowed else f"not on {', '.join(sorted(seat.allowed))}"
    return (
        None
        if software_stack(part) in seat.vendors
        else "another vendor's software stack, neither measured nor allowed by name"
    )


def _node_size_problem(workload: Workload, per_node: float, gang: float) -> str | None:
    together = min(workload.accelerators_per_node or min(gang, NODE_MAX), gang)
    return f"fewer than {together:g} accelerators a node" if per_node < together * (1 - 1e-9) else None


def _minimum_gang(seat: PlacementSearch, part: Accelerator) -> float | str:
    """The gang as stated or measured; of a described job without one the fewest accelerators that hold the network,
    or why none do."""
    workload = seat.need.workload
    if workload.gang is not None or not is_described(workload) or workload.network is None:
        return gang_size_on(workload, seat.names, part)
    if part.name not in seat.least:
        smallest = smallest_gang(workload.network, part)
        count = smallest if isinstance(smallest, str) else smallest.count or smallest.tight
        seat.least[part.name] = count if count is not None else f"no gang of {part.name} holds the network"
    return seat.least[part.name]


def _gang_sizes(need: WorkloadDemand, per_node: float, stated: float) -> Iterator[float]:
    """The least gang; for one job with a deadline and no stated gang, also whole nodes in growing numbers."""
    workload = need.workload
    yield stated
    if need.deadline is not None and parallel_limit(need) is not None and workload.gang is None and per_node >= 1:
        for multiple in GANG_GROWTH:
            if (gang := per_node * multiple) > stated:
                yield gang


def parallel_limit(need: WorkloadDemand) -> int | None:
    """Gangs that may run at once: as stated; one for training with a deadline; else no limit."""
    workload = need.workload
    if workload.parallel_jobs is not None:
        return workload.parallel_jobs
    return 1 if workload.kind == "training" and need.deadline is not None else None


def _gang_throughput(seat: PlacementSearch, part: Accelerator, gang: float) -> Throughput | str:
    """Work per hour of a gang, or why it is not known."""
    workload, names = seat.need.workload, seat.names
    own = part.name == names.resolve(workload.demand.accelerator or part.name).name
    if not workload.measurements and not is_described(workload) and (is_tied_to_accelerator(workload) or own):
        return Throughput(gang, gang, gang, "definition", "an accelerator-hour is one accelerator for one hour")
    if is_described(workload):
        throughput = described_throughput(workload, part, gang)
    else:
        throughput = predict_throughput(measured_rates(workload, names), part, gang)
    return _accept_throughput(seat, part, throughput)


def _accept_throughput(seat: PlacementSearch, part: Accelerator, throughput: Throughput | str) -> Throughput | str:
    """The throughput if it may be used, else why not; what no measurement can tell becomes a gap."""
    workload = seat.need.workload
    if isinstance(throughput, str):
        seat.gaps[Gap("no_throughput", part.name, f"cannot serve: {throughput}", workload.name)] = None
        return throughput
    if seat.request.measured_only and throughput.basis != "measured":
        return "its throughput would be a prediction and only measured ones are allowed"
    return throughput


def _memory_problem(seat: PlacementSearch, part: Accelerator, memory_gib: float | None, gang: float) -> str | None:
    workload = seat.need.workload
    wanted = workload.memory_gib_per_accelerator
    if wanted is None and workload.memory_gib_total is not None:
        wanted = workload.memory_gib_total / gang
    if wanted is None and workload.network is None:
        return None
    if memory_gib is None:
        return f"the memory of {part.name} is unknown"
    if wanted is None:
        return _network_problem(seat, part, memory_gib, gang)
    return f"less than {wanted:g} GiB of memory per accelerator" if memory_gib < wanted else None


def _network_problem(seat: PlacementSearch, part: Accelerator, memory_gib: float, gang: float) -> str | None:
    """Why the network does not fit; where it perhaps does, a gap says so."""
    workload = seat.need.workload
    assert workload.network is not None
    if gang not in seat.memory:
        seat.memory[gang] = estimate_memory(workload.network, gang)
    memory = seat.memory[gang]
    if isinstance(memory, str):
        seat.gaps[Gap("memory", workload.name, f"cannot be told: {memory}", workload.name)] = None
        return None
    judgement = judge_fit(memory, memory_gib)
    if judgement == "no":
        return f"less than the {memory.low_gib:.3g} GiB that the network needs on each of {gang:g} accelerators"
    if judgement == "tight":
        text = f"may be too small: the network needs {memory.low_gib:.3g} to {memory.high_gib:.3g} GiB on each"
        seat.gaps[Gap("memory", f"{gang:g} x {part.name}", text, workload.name)] = None
    return None
