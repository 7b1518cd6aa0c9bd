"""One strategy: what it may use, the solved program, and the purchases, uses and payments that follow from it.

Every amount is a payment of `planner.supply`; the solver only decides how many. The present cost of the replayed
payments must equal the solver's objective, or planning ends with an internal error.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, field, replace

from planner.finance.cashflow import present_cost
from planner.optimization import solution as replay
from planner.optimization.constraints import bills_ready_nodes
from planner.optimization.cost_allocation import workload_costs
from planner.optimization.linear_program import LinearProgram, RequestLimit, allow_shortage, relax_limit
from planner.optimization.model import StrategyScope, build_program
from planner.optimization.restriction import COLUMNS_MAX
from planner.optimization.solution import (
    BlockUse,
    CandidateUse,
    Decisions,
    Overhead,
    PlanningContext,
    ResourceOrder,
)
from planner.optimization.solver import TIME_LIMIT_S, Solution, solve_large, solve_program
from planner.request.errors import InternalError
from planner.result import Strategy, StrategyName
from planner.result.message import message
from planner.supply.candidates import Candidate, Resource, round_up_to_gangs

REPLAY_TOLERANCE = 1e-5
LONG_SEARCH_COLUMNS = 2000
"""Programs smaller than this are solved in less time than a first plan would save."""
NEGLIGIBLE_SHARE = 1e-7
"""Of a task: a smaller share is left by the solver's tolerance."""


@dataclass(frozen=True, slots=True)
class SolvedStrategy:
    """A strategy with its decisions, the candidates that work in it and the resources that it pays."""

    strategy: Strategy
    decisions: Decisions = field(default_factory=Decisions)
    candidates: tuple[Candidate, ...] = ()
    resources: tuple[Resource, ...] = ()


def ownable_workloads(setting: PlanningContext) -> tuple[bool, ...]:
    """For each workload, whether an owned system that arrives within the horizon can do its work."""
    can = {
        c.need
        for item in setting.choice.shared
        if item.resource.what == "owned" and item.resource.held is None
        for c in item.candidates
    }
    return tuple(index in can for index in range(len(setting.demands.needs)))


def strategy_scope(name: StrategyName, setting: PlanningContext) -> StrategyScope:
    """Resources that `name` may use; existing capacity always.

    Cloud: no new hardware. Hybrid: anything. Onprem: workloads that can be owned may be rented by the hour only until
    the first nodes work; the others, named as gaps, stay in the cloud.
    """
    months = setting.terms.months
    everywhere = tuple(months for _ in setting.demands.needs)
    if name == "hybrid":
        return StrategyScope(setting.choice.shared, everywhere)
    if name == "cloud":
        new_hardware = [s for s in setting.choice.shared if s.resource.what == "owned" and s.resource.held is None]
        return StrategyScope(tuple(s for s in setting.choice.shared if s not in new_hardware), everywhere)
    can = ownable_workloads(setting)
    waiting = setting.assumptions["lead_time_months"].value + setting.assumptions["migration_months"].value
    bridge = min(round(waiting), months)
    shared = []
    for item in setting.choice.shared:
        stays = item.resource.what == "owned" or item.resource.held is not None
        usable = tuple(c for c in item.candidates if stays or not can[c.need])
        if usable or item.resource.held is not None:
            shared.append(replace(item, candidates=usable))
    return StrategyScope(tuple(shared), tuple(bridge if owns else months for owns in can))


def solve_strategy(name: StrategyName, setting: PlanningContext) -> SolvedStrategy:
    """The least-cost way to serve all demands under `name`; status infeasible (with no reasons yet) where there is
    none."""
    empty = SolvedStrategy(Strategy(name, "infeasible", 0.0, 0.0, 0.0, 0.0))
    if name == "onprem" and not any(ownable_workloads(setting)):
        return empty
    rules = strategy_scope(name, setting)
    program = build_program(setting, rules)
    ways = [item.resource.purchase_option for item in rules.shared]
    solution = solve_large(program, ways, start=_without_purchases(program))
    if solution.status == "unsolved":
        reason = message("solver_time_limit", limit_seconds=TIME_LIMIT_S)
        return replace(empty, strategy=replace(empty.strategy, reasons=(reason,)))
    if solution.status == "infeasible":
        return empty
    return _build_solved_strategy(name, setting, rules, program, solution)


def _without_purchases(program: LinearProgram) -> Solution | None:
    """The best plan that only rents by the hour, a sound place for a long search to begin; None where there is none."""
    if not LONG_SEARCH_COLUMNS <= len(program.columns) <= COLUMNS_MAX:
        return None
    bounds = zip(program.columns, program.lower, program.upper, strict=True)
    uppers = [lower if column.kind == "start" else upper for column, lower, upper in bounds]
    if uppers == program.upper:
        return None
    solution = solve_program(replace(program, upper=uppers))
    return solution if solution.values else None


def compute_shortage(name: StrategyName, setting: PlanningContext) -> dict[int, float]:
    """By workload index, the share of its work that cannot be done at best under `name` (only those above 0)."""
    program = build_program(setting, strategy_scope(name, setting))
    relaxed = allow_shortage(program)
    solution = solve_program(relaxed)
    missing: dict[int, float] = defaultdict(float)
    due: dict[int, float] = defaultdict(float)
    for lower, need in zip(program.row_lower, program.row_need, strict=True):
        if need >= 0:
            due[need] += lower
    for column, value in zip(relaxed.columns, solution.values, strict=False):
        if column.kind == "short" and value > 0:
            missing[column.owner] += value
    return {need: value / due[need] for need, value in sorted(missing.items()) if value / due[need] > 1e-9}


def relax_each_limit(name: StrategyName, setting: PlanningContext) -> list[tuple[RequestLimit, float | None]]:
    """For each limit of an impossible strategy, the least amount by which it alone would have to give in any of its
    rows; None where that alone does not help."""
    program = build_program(setting, strategy_scope(name, setting))
    results: list[tuple[RequestLimit, float | None]] = []
    for limit in program.limits:
        solution = solve_program(relax_limit(program, limit))
        possible = bool(solution.values)
        results.append((limit, solution.objective if possible else None))
    return results


def _build_solved_strategy(
    name: StrategyName, setting: PlanningContext, rules: StrategyScope, program: LinearProgram, solver_result: Solution
) -> SolvedStrategy:
    terms, resources = setting.terms, setting.market.resources
    decisions = Decisions(
        _read_orders(rules, program, solver_result),
        _read_uses(setting, program, solver_result),
        _read_overheads(program, solver_result),
    )
    rows = replay.list_payments(decisions, setting)
    present = present_cost((payment for _, payment in rows), terms.discount_rate_monthly)
    if not math.isclose(present, solver_result.objective, rel_tol=REPLAY_TOLERANCE, abs_tol=0.01):
        raise InternalError(
            f"{name}: the payments are worth {present:.2f}, the solver minimised {solver_result.objective:.2f}"
        )
    bound = min(solver_result.bound, present)
    strategy = Strategy(
        name=name,
        status="optimal" if solver_result.status == "optimal" else "within_gap",
        present_cost=present,
        total_cost=math.fsum(payment.amount for _, payment in rows),
        bound=bound,
        gap_fraction=(present - bound) / abs(present) if present else 0.0,
        purchases=tuple(replay.describe_purchase(setting, b) for b in decisions.bought if b.resource.held is None),
        uses=tuple(replay.describe_use(setting, share) for share in decisions.shares),
        cash=replay.sum_cash_rows(rows),
        workloads=workload_costs(decisions, setting),
        candidates=setting.choice.candidates,
        pruned=setting.choice.pruned,
        columns=len(program.columns),
        columns_searched=solver_result.searched or len(program.columns),
    )
    working = dict.fromkeys(share.candidate for share in decisions.shares)
    paying = dict.fromkeys([b.resource for b in decisions.bought] + [resources[c.resource] for c in working])
    return SolvedStrategy(strategy, decisions, tuple(working), tuple(paying))


def _read_orders(rules: StrategyScope, program: LinearProgram, solution: Solution) -> tuple[ResourceOrder, ...]:
    """Orders and commitments by month; existing capacity is ordered in the first month."""
    orders = []
    for column, value in zip(program.columns, solution.values, strict=True):
        if column.kind == "start":
            item = rules.shared[column.owner]
            quantity = value if item.weights else round(value)
            if quantity > NEGLIGIBLE_SHARE:
                orders.append(ResourceOrder(item.resource, column.month, quantity))
    return tuple(sorted(orders, key=lambda order: (order.month, order.resource.key)))


def _read_overheads(program: LinearProgram, solution: Solution) -> tuple[Overhead, ...]:
    overheads = []
    for column, value in zip(program.columns, solution.values, strict=True):
        if column.kind == "staff" and round(value):
            overheads.append(Overhead("staff", column.month, round(value)))
        elif column.kind == "top_up" and value > NEGLIGIBLE_SHARE:
            overheads.append(Overhead("cloud_support", column.month, value))
    return tuple(overheads)


def _read_uses(setting: PlanningContext, program: LinearProgram, solution: Solution) -> tuple[CandidateUse, ...]:
    """Work of each candidate in each month: work columns give the units, a service's ready nodes the hours billed."""
    hours: dict[tuple[int, int, int], float] = defaultdict(float)
    units: dict[tuple[int, int, int], float] = defaultdict(float)
    for column, value in zip(program.columns, solution.values, strict=True):
        if column.kind not in ("work", "ready", "reserve") or value < NEGLIGIBLE_SHARE:
            continue
        step = program.steps[column.owner]
        whole = bills_ready_nodes(step, setting.demands.needs[step.candidate.need])
        key = (column.owner, column.month, column.block)
        if column.kind == "work":
            units[key] += value * column.units
            if whole:
                continue
        hours[key] += (value if column.kind == "work" else round(value)) * column.node_hours
    parts: dict[tuple[int, int], list[BlockUse]] = defaultdict(list)
    for (owner, month, block), node_hours in sorted(hours.items()):
        parts[owner, month].append(BlockUse(block, node_hours, units[owner, month, block]))
    uses = [
        _build_use(setting, program.steps[owner].candidate, month, blocks) for (owner, month), blocks in parts.items()
    ]
    resources = setting.market.resources
    return tuple(
        sorted(uses, key=lambda s: (s.month, s.candidate.need, resources[s.candidate.resource].key, s.candidate.gang))
    )


def _build_use(setting: PlanningContext, candidate: Candidate, month: int, blocks: list[BlockUse]) -> CandidateUse:
    """The use of a month; its most nodes at once are those of its busiest block."""
    lengths = (*setting.demands.block_hours, setting.terms.hours_per_month)  # block -1 is the whole month
    return CandidateUse(
        month,
        candidate,
        math.fsum(part.node_hours for part in blocks),
        max(_round_up_to_gangs(candidate, part.node_hours / lengths[part.block]) for part in blocks),
        math.fsum(part.units for part in blocks),
        tuple(blocks),
    )


def _round_up_to_gangs(candidate: Candidate, nodes: float) -> float:
    """The nodes that must be there at once to have so many on average: a gang that spans nodes takes all of its own."""
    return (
        nodes if candidate.nodes_per_gang == 1 else round_up_to_gangs(nodes, candidate.nodes_per_gang, NEGLIGIBLE_SHARE)
    )
