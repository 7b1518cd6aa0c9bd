"""Work that nodes stand ready for: services, interactive work, and all work that is tied to hours of the week.

In each block a workload has whole gangs (replicas), as many as its work needs at once and its spares, on whole nodes:
of a single workload, unless it says that it shares nodes. In one home the number of nodes is known beforehand, so that
only the way of paying is decided (`work` with its node-hours). Three cases need a column that counts nodes:

- divided between an owned system and the cloud (`ready`): each side has whole nodes for its part;
- spread over several places (`ready`, `nodes`): each place has whole nodes for its part, however they are paid;
- shared with other workloads (`pooled`): the parts of nodes of all of them add up to whole nodes.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from planner.optimization.linear_program import (
    CandidateActivity,
    DemandTask,
    LinearProgram,
    ProgramColumn,
    RowEntries,
)
from planner.optimization.solution import PlanningContext
from planner.supply.candidates import Candidate
from planner.supply.homes import Home, home_of
from planner.supply.limits import LimitRules
from planner.workloads.demand import PortfolioDemand, WorkloadDemand
from planner.workloads.placement import parallel_limit

SECONDS = 3600.0
ROUNDING = 1e-9
"""Of a gang: work that exceeds whole gangs by less is rounding."""


def list_standing_tasks(need: WorkloadDemand, demands: PortfolioDemand) -> Iterator[tuple[int, int, float]]:
    """Month (from 0) and block of each block in which standing work is due, and the units for which nodes stand."""
    for month in range(len(need.monthly)):
        for block in range(len(demands.block_hours)):
            if units := need.ready_units(month, block, demands.block_hours):
                yield month, block, units


def count_replicas(candidate: Candidate, need: WorkloadDemand, units: float, hours: float) -> int:
    """Gangs that stand for `units` of work in a block of `hours`, one at least for any work, with the spares; replicas
    of a served model as its queue needs them."""
    if candidate.queue is not None:
        gangs = candidate.queue.count_replicas(units / hours / SECONDS, candidate.gang_rate / SECONDS)
    else:
        gangs = max(math.ceil(units / (candidate.gang_rate * hours) - ROUNDING), int(units > 0))
    return gangs + need.workload.spare_replicas


def count_nodes(candidate: Candidate, need: WorkloadDemand, replicas: int) -> float:
    """Nodes that stand for so many gangs: whole ones, or the parts of nodes that are shared with others."""
    nodes = replicas * candidate.granule
    return nodes if need.workload.shares_nodes else float(math.ceil(nodes - ROUNDING))


def has_pooled_nodes(candidate: Candidate, need: WorkloadDemand) -> bool:
    """Whether parts of nodes add up to whole ones with those of other workloads; gangs that span nodes fill them."""
    return need.workload.shares_nodes and candidate.nodes_per_gang == 1


def count_divisible_nodes(candidate: Candidate, need: WorkloadDemand, replicas: int) -> float:
    """Nodes of so many gangs where some may be elsewhere: a part of the work takes as great a part of these at least,
    in whole nodes, and of gangs that span nodes in whole gangs of them."""
    nodes = replicas * candidate.granule
    return nodes if need.workload.shares_nodes else max(float(candidate.nodes_per_gang), nodes)


def add_standing_columns(
    program: LinearProgram,
    work: ProgramColumn,
    setting: PlanningContext,
    rate: float,
    data: float,
    *,
    divided: bool,
) -> None:
    """The columns of one step in one block. `rate` is the cost of a node-hour, `data` that of all the work's data;
    `divided`: the step may do a part of the work, and steps in other places the rest."""
    step = program.steps[work.owner]
    candidate = step.candidate
    need, block_hours = setting.demands.needs[candidate.need], setting.demands.block_hours
    hours = block_hours[work.block]
    replicas = count_replicas(candidate, need, need.ready_units(work.month - 1, work.block, block_hours), hours)
    at_once = parallel_limit(need)
    pooled = has_pooled_nodes(candidate, need)
    divided = divided and not pooled
    upper = 1.0
    if setting.market.resources[candidate.resource].interrupts:
        upper = largest_spot_share(setting.rules, candidate, need, replicas, divided=divided)
    if upper <= 0 or (at_once is not None and replicas > at_once):
        return
    counted = pooled or divided
    nodes = (count_divisible_nodes if counted else count_nodes)(candidate, need, replicas)
    there = 0.0 if counted else nodes * hours
    column = ProgramColumn(work.kind, work.owner, work.month, work.block, work.task, there, work.units, nodes)
    share = program.column(column, data + rate * column.node_hours, upper, whole=False)
    if divided:
        group, most = candidate.nodes_per_gang, count_nodes(candidate, need, replicas)
        ready = work._replace(kind="ready", node_hours=group * hours, units=0.0)
        number = program.column(ready, rate * group * hours, most / group, whole=not need.may_spread)
        program.row(-math.inf, 0.0, [(share, 1.0), (number, -group / nodes)])


def add_spread_nodes(program: LinearProgram, setting: PlanningContext) -> None:
    """Whole nodes in each place, however they are paid, for services that are spread over several. Where spot may hold
    a part of the replicas only, that is a part of those of all places."""
    resources, needs = setting.market.resources, setting.demands.needs
    shares: dict[tuple[int, int, int], int] = {}
    places: dict[tuple[DemandTask, Home], list[_PlaceWay]] = defaultdict(list)
    on_spot: dict[DemandTask, RowEntries] = defaultdict(list)
    for number, column in enumerate(program.columns):
        if column.kind not in ("work", "ready"):
            continue
        candidate, at = program.steps[column.owner].candidate, (column.owner, column.month, column.block)
        need, is_spot = needs[candidate.need], resources[candidate.resource].interrupts
        if not (need.serving and need.may_spread):
            continue
        if column.kind == "ready":
            of_group = candidate.nodes_per_gang / program.columns[shares[at]].nodes
            way = _PlaceWay(shares[at], number, of_group, is_spot)
            places[column.task, home_of(candidate, resources)].append(way)
        elif has_pooled_nodes(candidate, need):
            on_spot[column.task] += [(number, 1 / program.upper[number])] if is_spot else []
        else:
            shares[at] = number
    for (task, _), ways in sorted(places.items()):
        on_spot[task] += _add_place_nodes(program, task, ways)
    for entries in on_spot.values():
        program.row(-math.inf, 1.0, entries)


class _PlaceWay(NamedTuple):
    """A way to pay the nodes of a service in a place: its columns of work and of nodes (groups of them, for a gang that
    spans nodes), and the share of the work that one of those can do."""

    share: int
    ready: int
    of_group: float
    is_spot: bool


def _add_place_nodes(program: LinearProgram, task: DemandTask, ways: Sequence[_PlaceWay]) -> RowEntries:
    """The nodes of a service in one place. Returns the part of the service that relies on spot there, as a share of the
    part that may."""
    most, of_group = max(program.upper[way.ready] for way in ways), ways[0].of_group
    counted = ProgramColumn("nodes", task[0], task[1], task[2])
    nodes = program.column(counted, 0.0, most, whole=True)
    program.row(0.0, 0.0, [*((way.ready, 1.0) for way in ways), (nodes, -1.0)])
    spot = [way for way in ways if way.is_spot]
    may = max((program.upper[way.share] for way in spot), default=1.0)
    if may == 1:
        return []
    # Nodes that may be on spot at some time: the others hold all replicas but the part that relies on spot.
    at_risk = program.column(counted, 0.0, most, whole=True)
    part = program.column(counted._replace(kind="on_spot"), 0.0, may, whole=False)
    program.row(-math.inf, 0.0, [*((way.ready, 1.0) for way in spot), (at_risk, -1.0)])
    program.row(-math.inf, 0.0, [*((way.share, 1.0) for way in spot), (part, -1.0)])
    steady = [(nodes, -of_group), (at_risk, of_group)]
    program.row(-math.inf, 0.0, [*((way.share, 1.0) for way in ways), *steady, (part, -1.0)])
    return [(part, 1 / may)]


def add_pooled_nodes(
    program: LinearProgram, setting: PlanningContext, rate_of: Callable[[CandidateActivity, int], float]
) -> None:
    """Whole nodes, rented or there, for the workloads that share them: one column for each way of paying at a place,
    month and block. `rate_of` gives the cost of a node-hour of a step in a month."""
    parts: dict[tuple[int, int, int, int], RowEntries] = defaultdict(list)
    owners: dict[tuple[int, int, int, int], int] = {}
    for number, column in enumerate(program.columns):
        if column.kind == "work" and column.nodes and not column.node_hours:
            step = program.steps[column.owner]
            if has_pooled_nodes(step.candidate, setting.demands.needs[step.candidate.need]):
                way = -1 if step.shared is None else step.shared
                key = (step.candidate.resource, way, column.month, column.block)
                parts[key].append((number, column.nodes))
                owners.setdefault(key, column.owner)
    for key, entries in sorted(parts.items()):
        owner, (month, block) = owners[key], key[2:]
        hours = setting.demands.block_hours[block]
        pool = program.column(
            ProgramColumn("pooled", owner, month, block, node_hours=hours),
            rate_of(program.steps[owner], month) * hours,
            math.ceil(math.fsum(nodes for _, nodes in entries)),
            whole=True,
        )
        least = 1.0 if len(entries) == 1 else 0.0  # any part of the work of a single workload takes a whole node
        program.row(-math.inf, 0.0, [*((share, max(nodes, least)) for share, nodes in entries), (pool, -1.0)])


def largest_spot_share(
    rules: LimitRules, candidate: Candidate, need: WorkloadDemand, replicas: int, *, divided: bool = False
) -> float:
    """The largest share of the nodes of so many gangs that may be on spot at any time.

    Whole gangs within the limit of the workload, on whole nodes within it; the other gangs stand on nodes that are not
    on spot. Parts of nodes where they are shared. Where work is `divided` between an owned system and the cloud, the
    other gangs may be on owned nodes, and whole nodes are counted on each side.
    """
    limit = rules.spot_share(need)
    on_spot = math.floor(limit * replicas + ROUNDING)
    if divided or need.workload.shares_nodes:
        return on_spot / replicas
    nodes = count_nodes(candidate, need, replicas)
    steady = count_nodes(candidate, need, replicas - on_spot)
    return min(nodes - steady, math.floor(limit * nodes + ROUNDING)) / nodes
