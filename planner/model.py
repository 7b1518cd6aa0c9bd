"""The plan of one strategy as a mixed-integer linear program, in arrays. Knows no solver.

Sets: months t, load blocks b of h[b] hours, workloads k with tasks q (a month, a block of a month, or all months up
to a deadline), candidates j of k; shared resources i (commitments, owned systems) with starts a, each covering some
months. H[q,j] are the node-hours that the whole of task q takes on j.

Decide: y[i,a] nodes started (whole numbers); f[q,j,t,b] the share of task q done on j in month t and block b (0 to 1;
one block where the work may run at any hour and the nodes are paid by the hour); r[j,t,b] gangs of nodes ready by the
hour for a service (whole numbers); z[j,t] whether a gang that spans nodes uses a shared resource, v[k,g] whether a
job that runs a stated number of gangs at once uses accelerator and gang g, w[k,j] whether a service rents j (0 or 1).

Minimise the present cost: sum cost[i,a] y + sum rate[j,t] H f (by the hour; on r for services) + sum data[q,j,t] f.

Subject to
    sum f = 1                            every task is done
    sum H f <= h sum_a y                 shared nodes are not used twice, in every month and block
    H f <= nodes h r                     a service by the hour has whole nodes ready
    sum H f / nodes per gang <= P h      at most P gangs of a job at once
    sum f <= v[k,g], sum_g v = 1         such a job keeps one accelerator and size of gang, in every task
    r <= most w[k,j], sum_j w <= 1       a service rents one type in one place by the hour
    sum f <= z, nodes z <= sum_a y       a gang on shared nodes has all of them
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from planner.candidates import Candidate, Resource, keeps_team, parallel_limit, team
from planner.cashflow import Terms, discount_factor
from planner.demand import Demands, Need
from planner.paying import around_per_unit
from planner.prune import Choice, Shared

ANY_HOUR = -1
"""The block of work by the hour that may run at any hour of its month."""

Task = tuple[int, int, int]
"""A piece of demand that is to be done: workload, month (0: all up to a deadline), block (ANY_HOUR: any of the
month)."""
Kind = Literal["start", "work", "ready", "gang", "team", "short"]


@dataclass(frozen=True, slots=True)
class Column:
    """What a variable stands for; `owner` is the shared resource of a start, else the index of a step.

    A column of work is a share of `task`; doing all of it there takes `node_hours` and does `units`.
    """

    kind: Kind
    owner: int
    month: int
    block: int = ANY_HOUR
    task: Task = (-1, 0, 0)
    node_hours: float = 0.0
    units: float = 0.0


@dataclass(frozen=True, slots=True)
class Step:
    """A candidate as the model uses it: by the hour (`shared` None) or on the shared resource of that index."""

    candidate: Candidate
    shared: int | None


@dataclass(slots=True)
class Program:
    """Columns with cost and bounds, rows as lower <= a x <= upper with their entries, ready for a solver."""

    columns: list[Column] = field(default_factory=list)
    cost: list[float] = field(default_factory=list)
    upper: list[float] = field(default_factory=list)
    whole: list[bool] = field(default_factory=list)
    row_lower: list[float] = field(default_factory=list)
    row_upper: list[float] = field(default_factory=list)
    row_need: list[int] = field(default_factory=list)
    entries: list[tuple[int, int, float]] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)

    def column(self, column: Column, cost: float, upper: float, whole: bool) -> int:
        self.columns.append(column)
        self.cost.append(cost)
        self.upper.append(upper)
        self.whole.append(whole)
        return len(self.columns) - 1

    def row(self, lower: float, upper: float, entries: list[tuple[int, float]], need: int = -1) -> None:
        """A row scaled so that its largest entry is 1."""
        scale = max(abs(value) for _, value in entries)
        number = len(self.row_lower)
        self.row_lower.append(lower / scale)
        self.row_upper.append(upper / scale)
        self.row_need.append(need)
        self.entries += [(number, column, value / scale) for column, value in entries]


@dataclass(frozen=True, slots=True)
class Allowed:
    """What a strategy may use: `hourly_until[need]` is the last month in which renting by the hour is allowed."""

    shared: tuple[Shared, ...]
    hourly_until: tuple[int, ...]


def build(choice: Choice, allowed: Allowed, demands: Demands, terms: Terms, resources: Sequence[Resource]) -> Program:
    """The program of one strategy; `resources` are those of the market that the candidates name."""
    program = Program()
    nodes: dict[tuple[int, int], list[int]] = defaultdict(list)
    for index, item in enumerate(allowed.shared):
        most = _most_nodes(item, demands)
        for start in item.starts:
            column = program.column(Column("start", index, start.month), start.present_cost, most, whole=True)
            for month in start.covers:
                nodes[index, month].append(column)
    for candidates in choice.hourly:
        program.steps += [Step(c, None) for c in candidates if allowed.hourly_until[c.need] >= 1]
    for index, item in enumerate(allowed.shared):
        program.steps += [Step(c, index) for c in item.candidates]
    for number, step in enumerate(program.steps):
        need = demands.needs[step.candidate.need]
        for month in range(1, terms.months + 1):
            if _is_open(step, need, month, allowed, nodes):
                _work(program, number, month, choice, demands, terms)
    _task_rows(program, demands)
    _shared_rows(program, demands, nodes)
    _parallel_rows(program, demands)
    _team_rows(program, demands, resources)
    _service_rows(program, demands)
    return program


def with_shortage(program: Program) -> Program:
    """The same program where work may be left undone and only that costs: it tells what is short when nothing is
    feasible."""
    relaxed = Program(
        list(program.columns), [0.0] * len(program.cost), list(program.upper), list(program.whole),
        list(program.row_lower), list(program.row_upper), list(program.row_need), list(program.entries), program.steps,
    )  # fmt: skip
    for row, need in enumerate(program.row_need):
        if need >= 0:
            column = relaxed.column(Column("short", need, 0), 1.0, math.inf, whole=False)
            relaxed.entries.append((row, column, 1.0))
    return relaxed


def _is_open(step: Step, need: Need, month: int, allowed: Allowed, nodes: dict[tuple[int, int], list[int]]) -> bool:
    if need.deadline is None and need.monthly[month - 1] == 0:
        return False
    if need.deadline is not None and month > need.deadline:
        return False
    if step.shared is None:
        return month <= allowed.hourly_until[step.candidate.need]
    return (step.shared, month) in nodes


def task_of(need: int, month: int, block: int, demands: Demands) -> tuple[Task, float]:
    """The task that work of a month and block belongs to, with the units of the whole task."""
    stated = demands.needs[need]
    if stated.deadline is not None:
        return (need, 0, ANY_HOUR), stated.total
    if stated.levels is None:
        return (need, month, ANY_HOUR), stated.monthly[month - 1]
    return (need, month, block), stated.block_units(month - 1, block, demands.block_hours)


def rents_whole_nodes(step: Step, need: Need) -> bool:
    """Whether hours are billed by nodes that stand ready (columns `ready`) and not by the work done: services by the
    hour."""
    return need.serving and step.shared is None


def _work(program: Program, number: int, month: int, choice: Choice, demands: Demands, terms: Terms) -> None:
    """The columns of one step in one month."""
    step = program.steps[number]
    candidate = step.candidate
    need = demands.needs[candidate.need]
    rate = choice.rates[candidate.resource][month - 1] if step.shared is None else 0.0
    data = math.fsum(around_per_unit(need, candidate, month)) * discount_factor(
        month, "end", terms.discount_rate_monthly
    )
    by_block = need.levels is not None or step.shared is not None or parallel_limit(need) is not None
    for block in range(len(demands.block_hours)) if by_block else (ANY_HOUR,):
        task, units = task_of(candidate.need, month, block, demands)
        if units == 0:
            continue
        hours = units / candidate.units_per_node_hour
        is_service = rents_whole_nodes(step, need)
        work = Column("work", number, month, block, task, hours, units)
        f = program.column(work, data * units + (0.0 if is_service else rate * hours), 1.0, whole=False)
        if is_service:
            one = candidate.nodes_per_gang * demands.block_hours[block]
            ready = Column("ready", number, month, block, task, one)
            r = program.column(ready, rate * one, math.ceil(hours / one), whole=True)
            program.row(-math.inf, 0.0, [(f, 1.0), (r, -min(1.0, one / hours))])


def _task_rows(program: Program, demands: Demands) -> None:
    """Every task is done; where nothing can do one, a row that no solution fulfils says so."""
    doing: dict[Task, list[tuple[int, float]]] = defaultdict(list)
    for number, column in enumerate(program.columns):
        if column.kind == "work":
            doing[column.task].append((number, 1.0))
    for index, need in enumerate(demands.needs):
        months = (need.deadline,) if need.deadline is not None else range(1, len(need.monthly) + 1)
        for month in months:
            for block in range(len(demands.block_hours)) if need.levels is not None else (ANY_HOUR,):
                task, units = task_of(index, month, block, demands)
                if units:
                    missing = [(program.column(Column("short", index, 0), 0.0, 0.0, whole=False), 1.0)]
                    program.row(1.0, 1.0, doing.get(task) or missing, index)


def _shared_rows(program: Program, demands: Demands, nodes: dict[tuple[int, int], list[int]]) -> None:
    """Shared nodes are not used twice, and a gang that spans nodes has them all in a month it works."""
    used: dict[tuple[int, int, int], list[tuple[int, float]]] = defaultdict(list)
    spanning: dict[tuple[int, int], dict[Task, list[int]]] = defaultdict(lambda: defaultdict(list))
    for number, column in enumerate(program.columns):
        if column.kind != "work":
            continue
        step = program.steps[column.owner]
        if step.shared is not None:
            used[step.shared, column.month, column.block].append((number, column.node_hours))
            if step.candidate.nodes_per_gang > 1:
                spanning[column.owner, column.month][column.task].append(number)
    for (index, month, block), entries in sorted(used.items()):
        starts = [(y, -demands.block_hours[block]) for y in nodes[index, month]]
        program.row(-math.inf, 0.0, entries + starts)
    for (owner, month), tasks in sorted(spanning.items()):
        step = program.steps[owner]
        assert step.shared is not None
        z = program.column(Column("gang", owner, month), 0.0, 1.0, whole=True)
        for shares in tasks.values():
            program.row(-math.inf, 0.0, [*((f, 1.0) for f in shares), (z, -1.0)])
        starts = [(y, -1.0) for y in nodes[step.shared, month]]
        program.row(-math.inf, 0.0, [(z, float(step.candidate.nodes_per_gang)), *starts])


def _parallel_rows(program: Program, demands: Demands) -> None:
    """At most P gangs of a job run at once, in every month and block."""
    running: dict[tuple[int, int, int], list[tuple[int, float]]] = defaultdict(list)
    for number, column in enumerate(program.columns):
        if column.kind == "work":
            candidate = program.steps[column.owner].candidate
            if parallel_limit(demands.needs[candidate.need]) is not None:
                gang_hours = column.node_hours / candidate.granule
                running[candidate.need, column.month, column.block].append((number, gang_hours))
    for (index, _, block), entries in sorted(running.items()):
        limit = parallel_limit(demands.needs[index]) or 0
        program.row(-math.inf, limit * demands.block_hours[block], entries)


def _team_rows(program: Program, demands: Demands, resources: Sequence[Resource]) -> None:
    """A job that runs a stated number of gangs at once keeps one accelerator and gang from start to end.

    Its parallelism and batch are set for them; without this, the optimum would swap hardware within a month.
    """
    teams: dict[int, dict[tuple[str, float], dict[Task, list[int]]]] = defaultdict(dict)
    for number, column in enumerate(program.columns):
        if column.kind == "work":
            candidate = program.steps[column.owner].candidate
            if keeps_team(demands.needs[candidate.need]):
                tasks = teams[candidate.need].setdefault(team(candidate, resources), {})
                tasks.setdefault(column.task, []).append(number)
    for index, found in sorted(teams.items()):
        chosen = []
        for _, tasks in sorted(found.items()):
            v = program.column(Column("team", index, 0), 0.0, 1.0, whole=True)
            chosen.append((v, 1.0))
            for shares in tasks.values():
                program.row(-math.inf, 0.0, [*((f, 1.0) for f in shares), (v, -1.0)])
        program.row(1.0, 1.0, chosen)


def _service_rows(program: Program, demands: Demands) -> None:
    """A service rents one type of node in one place by the hour (sum w <= 1), beside the nodes it shares.

    What is ready is enough for what is due: that follows from the other rows; stated by itself, it lets the solver cut
    fractions of nodes (ten times faster on a portfolio with two services).
    """
    shared: dict[Task, list[tuple[int, float]]] = defaultdict(list)
    rented: dict[int, dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
    for number, column in enumerate(program.columns):
        if column.kind not in ("ready", "work"):
            continue
        step = program.steps[column.owner]
        if column.kind == "ready":
            rented[step.candidate.need][column.owner].append(number)
        elif demands.needs[step.candidate.need].serving and step.shared is not None:
            shared[column.task].append((number, 1.0))
    for need, found in sorted(rented.items()):
        chosen = [program.column(Column("team", need, 0), 0.0, 1.0, whole=True) for _ in found]
        program.row(-math.inf, 1.0, [(w, 1.0) for w in chosen])
        ready: dict[Task, list[tuple[int, float]]] = defaultdict(list)
        for w, (owner, columns) in zip(chosen, found.items(), strict=True):
            speed = program.steps[owner].candidate.units_per_node_hour
            for r in columns:
                column = program.columns[r]
                units = task_of(need, column.month, column.block, demands)[1]
                program.row(-math.inf, 0.0, [(r, 1.0), (w, -program.upper[r])])
                ready[column.task].append((r, min(1.0, speed * column.node_hours / units)))
        for task, entries in ready.items():
            program.row(1.0, math.inf, [*shared[task], *entries])


def _most_nodes(item: Shared, demands: Demands) -> float:
    """More nodes of a resource than could ever be of use."""
    shortest = min(hours for hours in demands.block_hours)
    most = 0.0
    for candidate in item.candidates:
        need = demands.needs[candidate.need]
        peak = max(need.monthly) / candidate.units_per_node_hour / shortest
        most += max(candidate.nodes_per_gang, math.ceil(peak * (1 + 1e-9)) + 1)
    return float(most)
