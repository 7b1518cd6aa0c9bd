"""The plan of one strategy as a mixed-integer linear program, in arrays. Knows no solver.

Sets: months t, load blocks b of h[b] hours, workloads k, candidates j of k with s[j] units per node-hour; shared
resources i (commitments, owned systems) with starts a, each covering some months.

Decide: y[i,a] nodes started (whole numbers); x[j,t,b] node-hours of work (>= 0; one block where the work may run at
any hour and the nodes are paid by the hour); r[j,t,b] gangs of nodes ready by the hour for a service (whole numbers);
z[j,t] whether a gang that spans nodes uses a shared resource (0 or 1).

Minimise the present cost: sum cost[i,a] y + sum rate[j,t] x (by the hour; on r for services) + sum data[j,t] s x.

Subject to
    sum_j s x = D[k,t] or D[k,t,b]       all work is done (over all months up to a deadline: = D[k])
    sum_j x <= h sum_a y                 shared nodes are not used twice, in every month and block
    x <= nodes h r                       a service by the hour has whole nodes ready
    sum_j x / nodes per gang <= P h      at most P gangs of a job at once
    sum_j s x <= D v[k,g], sum_g v = 1   such a job keeps one accelerator and size of gang g (v is 0 or 1)
    r <= most w[k,j], sum_j w <= 1       a service rents one type in one place by the hour (w is 0 or 1)
    sum_b x <= M z, nodes z <= sum_a y   a gang has all its nodes
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from planner.candidates import Candidate, Resource, parallel_limit, team
from planner.cashflow import Terms, discount_factor
from planner.demand import Demands, Need
from planner.prune import Choice, Shared, around_per_unit

ANY_HOUR = -1
"""The block of work by the hour that may run at any hour of its month."""

Kind = Literal["start", "work", "ready", "gang", "team", "short"]


@dataclass(frozen=True, slots=True)
class Column:
    """What a variable stands for; `owner` is the shared resource of a start, else the index of the candidate."""

    kind: Kind
    owner: int
    month: int
    block: int = ANY_HOUR


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
    use: dict[tuple[int, int, int], list[tuple[int, float]]] = defaultdict(list)
    work: dict[tuple[int, int, int], list[tuple[int, float]]] = defaultdict(list)
    for number, step in enumerate(program.steps):
        need = demands.needs[step.candidate.need]
        for month in range(1, terms.months + 1):
            if _is_open(step, need, month, allowed, nodes):
                _use(program, number, month, choice, demands, terms, use, work)
    _whole_gangs(program, nodes, demands)
    _demand_rows(program, demands, work)
    for (index, month, block), entries in sorted(use.items()):
        starts = [(column, -demands.block_hours[block]) for column in nodes[index, month]]
        program.row(-math.inf, 0.0, entries + starts)
    _parallel_rows(program, demands)
    _one_team_rows(program, demands, resources)
    _one_rental_rows(program)
    _ready_rows(program, demands)
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


def _use(
    program: Program,
    number: int,
    month: int,
    choice: Choice,
    demands: Demands,
    terms: Terms,
    use: dict[tuple[int, int, int], list[tuple[int, float]]],
    work: dict[tuple[int, int, int], list[tuple[int, float]]],
) -> None:
    """The columns of one step in one month, and where they count."""
    step = program.steps[number]
    candidate = step.candidate
    need = demands.needs[candidate.need]
    rate = choice.rates[candidate.resource][month - 1] if step.shared is None else 0.0
    data = sum(around_per_unit(need, candidate, month)) * candidate.units_per_node_hour
    data *= discount_factor(month, "end", terms.discount_rate_monthly)
    by_block = need.levels is not None or step.shared is not None or parallel_limit(need) is not None
    for block in range(len(demands.block_hours)) if by_block else (ANY_HOUR,):
        if need.levels is not None and need.levels[block] == 0:
            continue
        hours = demands.block_hours[block] if by_block else terms.hours_per_month
        whole_nodes = need.serving and step.shared is None
        cost = data if whole_nodes else data + rate
        x = program.column(Column("work", number, month, block), cost, math.inf, whole=False)
        work[candidate.need, month, block].append((x, candidate.units_per_node_hour))
        if whole_nodes:
            step_hours = candidate.nodes_per_gang * hours
            most = math.ceil(
                need.block_units(month - 1, block, demands.block_hours) / (candidate.units_per_node_hour * step_hours)
            )
            r = program.column(Column("ready", number, month, block), rate * step_hours, most, whole=True)
            program.row(-math.inf, 0.0, [(x, 1.0), (r, -step_hours)])
        if step.shared is not None:
            use[step.shared, month, block].append((x, 1.0))


def _whole_gangs(program: Program, nodes: dict[tuple[int, int], list[int]], demands: Demands) -> None:
    """A gang that spans nodes of a shared resource needs them all in a month it works: x <= M z and nodes z <= sum
    y."""
    working: dict[tuple[int, int], list[int]] = defaultdict(list)
    for index, column in enumerate(program.columns):
        if column.kind == "work":
            step = program.steps[column.owner]
            if step.shared is not None and step.candidate.nodes_per_gang > 1:
                working[column.owner, column.month].append(index)
    for (number, month), columns in sorted(working.items()):
        step = program.steps[number]
        candidate, need = step.candidate, demands.needs[step.candidate.need]
        assert step.shared is not None
        due = need.total if need.deadline is not None else need.month_units(month - 1, demands.block_hours)
        most = due / candidate.units_per_node_hour
        z = program.column(Column("gang", number, month), 0.0, 1.0, whole=True)
        program.row(-math.inf, 0.0, [*((x, 1.0) for x in columns), (z, -most)])
        starts = [(column, -1.0) for column in nodes[step.shared, month]]
        program.row(-math.inf, 0.0, [(z, float(candidate.nodes_per_gang)), *starts])


def _demand_rows(program: Program, demands: Demands, work: dict[tuple[int, int, int], list[tuple[int, float]]]) -> None:
    for index, need in enumerate(demands.needs):
        mine = {(month, block): entries for (k, month, block), entries in work.items() if k == index}
        if need.deadline is not None:
            _must_do(program, index, need.total, [e for entries in mine.values() for e in entries])
            continue
        for month in range(1, len(need.monthly) + 1):
            if need.levels is None:
                entries = [e for (at, _), found in mine.items() if at == month for e in found]
                _must_do(program, index, need.monthly[month - 1], entries)
                continue
            for block in range(len(demands.block_hours)):
                due = need.block_units(month - 1, block, demands.block_hours)
                _must_do(program, index, due, mine.get((month, block), []))


def _must_do(program: Program, need: int, units: float, entries: list[tuple[int, float]]) -> None:
    """All `units` are done; where nothing can do them, a row that no solution fulfils says so."""
    if units == 0:
        return
    if not entries:
        entries = [(program.column(Column("short", need, 0), 0.0, 0.0, whole=False), units)]
    program.row(units, units, entries, need)


def _parallel_rows(program: Program, demands: Demands) -> None:
    """At most P gangs of a job run at once, in every month and block."""
    running: dict[tuple[int, int, int], list[tuple[int, float]]] = defaultdict(list)
    for number, column in enumerate(program.columns):
        if column.kind == "work":
            candidate = program.steps[column.owner].candidate
            if parallel_limit(demands.needs[candidate.need]) is not None:
                running[candidate.need, column.month, column.block].append((number, 1 / candidate.granule))
    for (index, _, block), entries in sorted(running.items()):
        limit = parallel_limit(demands.needs[index]) or 0
        program.row(-math.inf, limit * demands.block_hours[block], entries)


def _one_team_rows(program: Program, demands: Demands, resources: Sequence[Resource]) -> None:
    """A job that runs a stated number of gangs at once keeps one accelerator and gang from start to end: sum x <= M
    v, sum v = 1.

    Its parallelism and batch are set for them; without this, the optimum would swap hardware within a month.
    """
    teams: dict[int, dict[tuple[str, float], list[int]]] = defaultdict(lambda: defaultdict(list))
    for number, column in enumerate(program.columns):
        if column.kind == "work":
            candidate = program.steps[column.owner].candidate
            if parallel_limit(demands.needs[candidate.need]) is not None:
                teams[candidate.need][team(candidate, resources)].append(number)
    for index, found in sorted(teams.items()):
        chosen = []
        for _, columns in sorted(found.items()):
            v = program.column(Column("team", index, 0), 0.0, 1.0, whole=True)
            chosen.append((v, 1.0))
            need = demands.needs[index]
            due = sum(need.month_units(month, demands.block_hours) for month in range(len(need.monthly)))
            done = [(x, program.steps[program.columns[x].owner].candidate.units_per_node_hour) for x in columns]
            program.row(-math.inf, 0.0, [*done, (v, -due)])
        program.row(1.0, 1.0, chosen)


def _one_rental_rows(program: Program) -> None:
    """A service rents one type of node in one place by the hour, beside the nodes it shares: r <= most w, sum w <=
    1."""
    rented: dict[int, dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
    for number, column in enumerate(program.columns):
        if column.kind == "ready":
            rented[program.steps[column.owner].candidate.need][column.owner].append(number)
    for need, found in sorted(rented.items()):
        if len(found) == 1:
            continue
        chosen = []
        for columns in found.values():
            w = program.column(Column("team", need, 0), 0.0, 1.0, whole=True)
            chosen.append((w, 1.0))
            for r in columns:
                program.row(-math.inf, 0.0, [(r, 1.0), (w, -program.upper[r])])
        program.row(-math.inf, 1.0, chosen)


def _ready_rows(program: Program, demands: Demands) -> None:
    """Whole nodes ready by the hour and work on shared nodes are enough for what is due. It follows from the other
    rows; stated by itself, it lets the solver cut fractions of nodes (ten times faster on a portfolio with two
    services)."""
    ready: dict[tuple[int, int, int], list[tuple[int, float]]] = defaultdict(list)
    for number, column in enumerate(program.columns):
        if column.kind not in ("ready", "work"):
            continue
        step = program.steps[column.owner]
        if not demands.needs[step.candidate.need].serving or (column.kind == "work" and step.shared is None):
            continue
        hours = step.candidate.nodes_per_gang * demands.block_hours[column.block] if column.kind == "ready" else 1.0
        entries = ready[step.candidate.need, column.month, column.block]
        entries.append((number, step.candidate.units_per_node_hour * hours))
    for (index, month, block), entries in sorted(ready.items()):
        due = demands.needs[index].block_units(month - 1, block, demands.block_hours)
        program.row(due, math.inf, entries)


def _most_nodes(item: Shared, demands: Demands) -> float:
    """More nodes of a resource than could ever be of use."""
    shortest = min(hours for hours in demands.block_hours)
    most = 0.0
    for candidate in item.candidates:
        need = demands.needs[candidate.need]
        peak = max(need.monthly) / candidate.units_per_node_hour / shortest
        most += max(candidate.nodes_per_gang, math.ceil(peak * (1 + 1e-9)) + 1)
    return float(most)
