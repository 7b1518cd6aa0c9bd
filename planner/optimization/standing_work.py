"""Work that nodes stand ready for: services, interactive work, and all work that is tied to hours of the week.

In each block a workload has whole gangs (replicas), as many as its work needs at once and its spares, on whole nodes:
of a single workload, unless it says that it shares nodes. In one home the number of nodes is known beforehand, so that
only the way of paying is decided (`work` with its node-hours). Two cases need a column that counts nodes:

- divided between an owned system and the cloud (`ready`): each side has whole nodes for its part;
- shared with other workloads (`pooled`): the parts of nodes of all of them add up to whole nodes.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator

from planner.optimization.linear_program import CandidateActivity, LinearProgram, ProgramColumn, RowEntries
from planner.optimization.solution import PlanningContext
from planner.supply.candidates import Candidate
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
    """Gangs that stand for `units` of work in a block of `hours`, with the spares; replicas of a served model as its
    queue needs them."""
    if candidate.queue is not None:
        gangs = candidate.queue.count_replicas(units / hours / SECONDS, candidate.gang_rate / SECONDS)
    else:
        gangs = math.ceil(units / (candidate.gang_rate * hours) - ROUNDING)
    return gangs + need.workload.spare_replicas


def count_nodes(candidate: Candidate, need: WorkloadDemand, replicas: int) -> float:
    """Nodes that stand for so many gangs: whole ones, or the parts of nodes that are shared with others."""
    nodes = replicas * candidate.granule
    return nodes if need.workload.shares_nodes else float(math.ceil(nodes - ROUNDING))


def add_standing_columns(
    program: LinearProgram,
    work: ProgramColumn,
    setting: PlanningContext,
    rate: float,
    data: float,
    *,
    divided: bool,
) -> None:
    """The columns of one step in one block. `rate` is the cost of a node-hour, `data` that of all the work's data."""
    step = program.steps[work.owner]
    candidate = step.candidate
    need, block_hours = setting.demands.needs[candidate.need], setting.demands.block_hours
    hours = block_hours[work.block]
    replicas = count_replicas(candidate, need, need.ready_units(work.month - 1, work.block, block_hours), hours)
    at_once = parallel_limit(need)
    divided = divided and not need.workload.shares_nodes
    upper = 1.0
    if setting.market.resources[candidate.resource].interrupts:
        upper = largest_spot_share(setting.rules, candidate, need, replicas, divided=divided)
    if upper <= 0 or (at_once is not None and replicas > at_once):
        return
    nodes = count_nodes(candidate, need, replicas)
    counted = need.workload.shares_nodes or divided
    column = ProgramColumn(
        "work", work.owner, work.month, work.block, work.task, 0.0 if counted else nodes * hours, work.units, nodes
    )
    share = program.column(column, data + (0.0 if counted else rate * nodes * hours), upper, whole=False)
    if divided:
        group = float(candidate.nodes_per_gang)
        ready = ProgramColumn("ready", work.owner, work.month, work.block, work.task, group * hours)
        number = program.column(ready, rate * group * hours, nodes / group, whole=True)
        of_group = 1.0 if candidate.nodes_per_gang > 1 else float(candidate.gangs_per_node)
        program.row(-math.inf, 0.0, [(share, 1.0), (number, -min(1.0, of_group / replicas))])


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
            if setting.demands.needs[step.candidate.need].workload.shares_nodes:
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
        program.row(-math.inf, 0.0, [*entries, (pool, -1.0)])


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
