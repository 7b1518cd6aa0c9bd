"""Placement of a workload's gang on nodes of one type, and its throughput there; or the reason why it does not fit.

Independent of regions and prices.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import field, replace

from planner.performance.memory import USABLE_FRACTIONS, MemoryEstimate, estimate_memory, judge_fit, smallest_gang
from planner.performance.parallelism import USUAL_SERVER_SIZE, GangLinks
from planner.performance.serving.staffing import ServiceQueue
from planner.performance.throughput import Throughput
from planner.request.models import Request, Workload
from planner.result import Gap
from planner.result.message import Message, message
from planner.workloads.demand import WorkloadDemand
from planner.workloads.eligibility import (
    allowed_accelerators,
    compatible_stacks,
    described_throughput,
    gang_size_on,
    is_described,
    is_tied_to_accelerator,
    measured_rates,
    predict_rate,
    software_stack,
)
from planner.workloads.gangs import limit_by_parallelism
from planner.workloads.gpu_sharing import AcceleratorShare, assign_share, share_throughput, throughput_in_share
from pricing.accelerator import Accelerator, AcceleratorNames
from pricing.fabric import SLICE_FABRIC, Fabric
from pricing.frozen_values import dataclass

REPLICA_SIZES = (1, 2, 4, 8)
"""Accelerators of one replica of a service that are tried: tensor parallelism divides heads evenly."""
REPLICA_NODES = (2, 4, 8)
"""Nodes of one replica that are tried where the model fits on none."""
SPANNING_NODES = (4, 8)
"""Accelerators of the nodes that a replica may span: tensor parallelism within each."""
ReplicaKey = tuple[str, float, int, float | None]
"""Accelerator, count, nodes, and the network between them in Gbit/s."""
GANG_GROWTH = (1, 2, 4, 8, 16, 32, 64)
"""Multiples of a node tried for one job that may grow to meet its deadline."""


@dataclass(frozen=True, slots=True)
class Placement:
    """A gang of a workload on one type of node: several nodes for one gang, or several gangs on one node."""

    gang: float
    nodes_per_gang: int
    gangs_per_node: int
    throughput: Throughput
    queue: ServiceQueue | None = None


@dataclass(slots=True)
class PlacementSearch:
    """The search for placements of one workload, with its results so far: `rates` by accelerator and gang, `memory` by
    gang, `least` gang by accelerator, `replicas` of a service by accelerator and count; `gaps` are those of the whole
    market."""

    need: WorkloadDemand
    request: Request
    names: AcceleratorNames
    gaps: dict[Gap, None]
    rates: dict[tuple[str, float], Throughput | Message] = field(default_factory=dict)
    memory: dict[float, MemoryEstimate | Message] = field(default_factory=dict)
    least: dict[str, float | Message] = field(default_factory=dict)
    replicas: dict[ReplicaKey, tuple[Throughput, ServiceQueue] | Message] = field(default_factory=dict)
    allowed: frozenset[str] | None = field(init=False)
    vendors: frozenset[str] = field(init=False)
    ineligible: Message = field(init=False)
    """Why every other accelerator is not for the workload: the same reason for hundreds of types."""

    def __post_init__(self) -> None:
        self.allowed = allowed_accelerators(self.need.workload, self.names)
        self.vendors = compatible_stacks(self.need.workload, self.names)
        self.ineligible = message("other_software_stack")
        if self.allowed is not None:
            self.ineligible = message("accelerator_not_allowed", allowed=sorted(self.allowed))


def find_placements(
    search: PlacementSearch,
    part: Accelerator,
    per_node: float | None,
    memory_gib: float | None,
    fabric: Fabric | None = None,
) -> list[Placement] | Message:
    """The placements of the workload's gang on nodes of `per_node` accelerators, or the reason why there is none.

    `fabric` joins the nodes of a rented type; None for nodes whose owner joins them.
    """
    least = _eligibility_problem(search, part) or _minimum_gang(search, part)
    if per_node is None:
        return message("accelerator_count_unknown")
    if isinstance(least, Message):
        return least
    if search.need.workload.serving is not None:
        return _place_replicas(search, part, per_node, fabric)
    shared = _place_shared(search, part, per_node, memory_gib)
    if shared is not None:
        return shared if isinstance(shared, Message) else [shared]
    return _place_gangs(search, part, per_node, memory_gib, fabric, least)


def _place_gangs(
    search: PlacementSearch,
    part: Accelerator,
    per_node: float,
    memory_gib: float | None,
    fabric: Fabric | None,
    least: float,
) -> list[Placement] | Message:
    """The sizes of a gang that the workload allows, from the `least` on."""
    workload, rates = search.need.workload, search.rates
    placements: list[Placement] = []
    for gang in _gang_sizes(search.need, per_node, least):
        nodes = max(1, math.ceil(gang / per_node - 1e-9))
        problem = _memory_problem(search, part, memory_gib, gang) or _node_size_problem(workload, per_node, gang)
        problem = problem or _fabric_problem(workload, part, gang, nodes, fabric)
        if problem is None and (part.name, gang) not in rates:
            rates[part.name, gang] = _gang_throughput(search, part, gang)
        rate = problem or rates[part.name, gang]
        if isinstance(rate, Message):
            if placements:
                break  # a gang that cannot grow stays as it is
            return rate
        node = GangLinks(per_node, part.interconnect_gbs, None if fabric is None else fabric.gbps)
        rate = limit_by_parallelism(workload, search.names, rate, part, gang, node)
        per = _busy_gangs(search.need, max(1, math.floor(per_node / gang + 1e-9)))
        placements.append(Placement(gang, nodes, per, rate))
    return placements


def _place_replicas(
    search: PlacementSearch, part: Accelerator, per_node: float, fabric: Fabric | None
) -> list[Placement] | Message:
    """The sizes of a replica of a service within a node, as stated or each power of two that does more on each
    accelerator than smaller ones; over whole nodes that are joined where the model fits on none. Or the reason why the
    largest does not do."""
    workload = search.need.workload
    counts = (workload.gang,) if workload.gang else REPLICA_SIZES
    placements: list[Placement] = []
    outcome: Message = message("node_too_small", needed_accelerators=workload.gang or 1)
    for count in counts:
        if count > per_node * (1 + 1e-9):
            continue
        fit = _place_replica(search, part, count, 1, fabric)
        if isinstance(fit, Message):
            outcome = fit
        elif all(fit.throughput.units_per_hour / count > p.throughput.units_per_hour / p.gang for p in placements):
            placements.append(replace(fit, gangs_per_node=max(1, math.floor(per_node / count + 1e-9))))
    spans = outcome.code == "replica_memory_too_small" or (workload.gang or 0) > max(REPLICA_SIZES)
    if placements or per_node not in SPANNING_NODES or not spans:
        return placements or outcome
    return _place_over_nodes(search, part, per_node, fabric, outcome)


def _place_over_nodes(
    search: PlacementSearch, part: Accelerator, per_node: float, fabric: Fabric | None, alone: Message
) -> list[Placement] | Message:
    """The replica on the fewest whole nodes that one fabric joins, of a model that does not fit on one (`alone` says
    why); or the reason why there is none."""
    workload = search.need.workload
    outcome = alone
    for nodes in REPLICA_NODES:
        if workload.gang not in (None, nodes * per_node):
            continue
        problem = _fabric_problem(workload, part, nodes * per_node, nodes, fabric)
        placed = problem or _place_replica(search, part, nodes * per_node, nodes, fabric)
        if isinstance(placed, Placement):
            return [placed]
        outcome = placed
        if placed.code != "replica_memory_too_small":
            return message("replica_over_nodes", alone=alone, nodes=nodes, reason=placed)
    return outcome


def _place_replica(
    search: PlacementSearch, part: Accelerator, count: float, nodes: int, fabric: Fabric | None
) -> Placement | Message:
    """One replica on so many accelerators of so many nodes, or the reason why it does not do."""
    from planner.workloads.served_placement import serve_replica

    between_gbps = None if fabric is None or nodes == 1 else fabric.gbps
    key = (part.name, count, nodes, between_gbps)
    if key not in search.replicas:
        search.replicas[key] = serve_replica(search.need.workload, part, int(count), search.names, nodes, between_gbps)
    replica = search.replicas[key]
    if isinstance(replica, Message):
        return replica
    accepted = _accept_throughput(search, part, replica[0])
    return accepted if isinstance(accepted, Message) else Placement(count, nodes, 1, accepted, replica[1])


def _place_shared(
    search: PlacementSearch, part: Accelerator, per_node: float, memory_gib: float | None
) -> Placement | Message | None:
    """The placement of an experiment that shares an accelerator, or the reason why there is none; None where the
    workload does not share."""
    sweep = search.need.workload.sweep
    if sweep is None or sweep.share == "none":
        return None
    share = assign_share(sweep, part, per_node, memory_gib, _required_gib(search.need.workload))
    if isinstance(share, Message):
        return share
    problem = _memory_problem(search, part, share.memory_gib, 1)
    if problem is not None:
        return message("memory_too_small_in_share", reason=problem, share=share.description)
    throughput = search.rates.get((part.name, share.gang))
    if throughput is None:
        throughput = search.rates[part.name, share.gang] = _shared_throughput(search, part, share)
    if isinstance(throughput, Message):
        return throughput
    gangs = _busy_gangs(search.need, math.floor(per_node / share.gang + 1e-9))
    return Placement(share.gang, 1, gangs, throughput)


def _busy_gangs(need: WorkloadDemand, places: int) -> int:
    """Gangs at work on a node: work at any hour with fewer gangs at once than places on a node pays for all of it. What
    stands for a service is counted in whole nodes, or in parts of nodes that others share."""
    return places if need.serving else min(places, parallel_limit(need) or places)


def _required_gib(workload: Workload) -> float | None:
    """The memory that an experiment on one accelerator needs, as stated or at the high end of the estimate; None if
    unknown."""
    needed = workload.memory_gib_per_accelerator or workload.memory_gib_total
    if needed is None and workload.network is not None:
        memory = estimate_memory(workload.network, 1)
        return None if isinstance(memory, Message) else memory.high_gib / USABLE_FRACTIONS[0]
    return needed


def _shared_throughput(search: PlacementSearch, part: Accelerator, share: AcceleratorShare) -> Throughput | Message:
    workload = search.need.workload
    if is_described(workload):
        throughput = share_throughput(described_throughput(workload, part, 1), share)
    else:
        throughput = throughput_in_share(measured_rates(workload, search.names), part, share)
    return _accept_throughput(search, part, throughput)


def _eligibility_problem(search: PlacementSearch, part: Accelerator) -> Message | None:
    eligible = software_stack(part) in search.vendors if search.allowed is None else part.name in search.allowed
    return None if eligible else search.ineligible


def _node_size_problem(workload: Workload, per_node: float, gang: float) -> Message | None:
    together = min(workload.accelerators_per_node or min(gang, USUAL_SERVER_SIZE), gang)
    return message("node_too_small", needed_accelerators=together) if per_node < together * (1 - 1e-9) else None


def _fabric_problem(
    workload: Workload, part: Accelerator, gang: float, nodes: int, fabric: Fabric | None
) -> Message | None:
    if fabric is None or workload.fabric == "any" or fabric.joins(nodes):
        return None
    if fabric.rdma == SLICE_FABRIC:
        return message("slices_not_joined", accelerator=part.name, slices=nodes, gang=gang)
    return message("nodes_not_joined", nodes=nodes, joined=fabric.nodes_joined or 1, rdma=fabric.rdma or None)


def _minimum_gang(search: PlacementSearch, part: Accelerator) -> float | Message:
    """The gang as stated or measured; of a described job without one the fewest accelerators on which the network fits,
    or the reason why it fits on none."""
    if part.name not in search.least:
        search.least[part.name] = _find_minimum_gang(search, part)
    return search.least[part.name]


def _find_minimum_gang(search: PlacementSearch, part: Accelerator) -> float | Message:
    workload = search.need.workload
    if workload.gang is not None or workload.serving or not is_described(workload) or workload.network is None:
        return gang_size_on(workload, search.names, part)
    smallest = smallest_gang(workload.network, part)
    count = smallest if isinstance(smallest, Message) else smallest.count or smallest.tight
    assert count is not None  # a gang is at least tight, or there is a reason
    return count


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


def _gang_throughput(search: PlacementSearch, part: Accelerator, gang: float) -> Throughput | Message:
    """Work per hour of a gang, or the reason why it is unknown."""
    workload, names = search.need.workload, search.names
    own = part.name == names.resolve(workload.demand.accelerator or part.name).name
    if not workload.measurements and not is_described(workload) and (is_tied_to_accelerator(workload) or own):
        return Throughput(gang, gang, gang, "definition", (message("accelerator_hour_defined"),))
    return _accept_throughput(search, part, predict_rate(workload, names, part, gang))


def _accept_throughput(
    search: PlacementSearch, part: Accelerator, throughput: Throughput | Message
) -> Throughput | Message:
    """The throughput if it may be used, else the reason why not; an unknown throughput is also a gap."""
    workload = search.need.workload
    if isinstance(throughput, Message):
        effect = message("throughput_unknown", reason=throughput)
        search.gaps[Gap("no_throughput", part.name, effect, workload.name)] = None
        return throughput
    if search.request.measured_only and throughput.basis != "measured":
        return message("prediction_not_allowed")
    return throughput


def _memory_problem(
    search: PlacementSearch, part: Accelerator, memory_gib: float | None, gang: float
) -> Message | None:
    workload = search.need.workload
    needed = workload.memory_gib_per_accelerator
    if needed is None and workload.memory_gib_total is not None:
        needed = workload.memory_gib_total / gang
    if needed is None and workload.network is None:
        return None
    if memory_gib is None:
        return message("accelerator_memory_unknown", accelerator=part.name)
    if needed is None:
        return _network_problem(search, part, memory_gib, gang)
    return message("memory_too_small", needed_gib=needed) if memory_gib < needed else None


def _network_problem(search: PlacementSearch, part: Accelerator, memory_gib: float, gang: float) -> Message | None:
    """The reason why the network does not fit; a network that may fit or not is a gap."""
    workload = search.need.workload
    assert workload.network is not None
    if gang not in search.memory:
        search.memory[gang] = estimate_memory(workload.network, gang)
    memory = search.memory[gang]
    if isinstance(memory, Message):
        search.gaps[Gap("memory", workload.name, message("memory_unknown", reason=memory), workload.name)] = None
        return None
    fit = judge_fit(memory, memory_gib)
    if fit == "no":
        return message("network_memory_too_small", needed_gib=memory.low_gib, gang=gang)
    if fit == "tight":
        effect = message("memory_may_be_too_small", low_gib=memory.low_gib, high_gib=memory.high_gib)
        search.gaps[Gap("memory", f"{gang:g} x {part.name}", effect, workload.name)] = None
    return None
