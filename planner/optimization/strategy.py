"""One strategy: what it may use, the solved program, and the purchases, uses and payments that follow from it.

Every amount is a payment of `planner.supply`; the solver only decides how many. The present cost of the replayed
payments must lie between the solver's bound and objective, or planning ends with an internal error.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import field, replace
from functools import partial

from planner.finance.cashflow import present_cost
from planner.optimization import solution as replay
from planner.optimization.cost_allocation import workload_costs
from planner.optimization.linear_program import FEASIBILITY, LinearProgram
from planner.optimization.model import StrategyScope
from planner.optimization.plan_search import SearchedPlan, search_plan
from planner.optimization.search_end import budget_of_plan, limit_work
from planner.optimization.search_limits import EFFORTS
from planner.optimization.search_progress import seconds_allowed
from planner.optimization.solution import (
    BlockUse,
    CandidateUse,
    Decisions,
    Overhead,
    PlanningContext,
    ResourceOrder,
)
from planner.optimization.solver import GAP_TARGET, TIME_LIMIT_S, Solution
from planner.optimization.standing_work import has_pooled_nodes
from planner.request.calendar import days_of_month
from planner.request.errors import InternalError
from planner.result import Status, Strategy, StrategyName
from planner.result.message import Message, message
from planner.supply.candidates import Candidate
from planner.supply.homes import Home, home_of, round_up_to_gangs
from planner.supply.resources import Resource
from pricing.frozen_values import dataclass
from pricing.units import HOURS_PER_DAY

REPLAY_TOLERANCE = 1e-5
NEGLIGIBLE_SHARE = 1e-7
"""Of a task: a smaller share is left by the solver's tolerance."""


UseKey = tuple[int, int, int]
"""Step of the program, month, block."""
PoolKey = tuple[int, int | None, int, int]
"""Nodes that workloads share: resource of the market, committed money, month, block."""


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
    bridge = min(months_to_first_use(setting), months)
    shared = []
    for item in setting.choice.shared:
        stays = item.resource.what == "owned" or item.resource.held is not None
        usable = tuple(c for c in item.candidates if stays or not can[c.need])
        if usable or item.resource.held is not None:
            shared.append(replace(item, candidates=usable))
    return StrategyScope(tuple(shared), tuple(bridge if owns else months for owns in can))


def months_to_first_use(setting: PlanningContext) -> int:
    """The months of the plan before hardware that is ordered as early as possible can work."""
    waiting = round(setting.assumptions["lead_time_months"].value)
    ahead = min(waiting, setting.terms.order_ahead_months)
    return waiting - ahead + round(setting.assumptions["migration_months"].value)


def impossible_strategy(name: StrategyName, reasons: tuple[Message, ...] = ()) -> SolvedStrategy:
    """A strategy without a plan."""
    return SolvedStrategy(Strategy(name, "infeasible", 0.0, 0.0, 0.0, 0.0, reasons=reasons))


def solve_strategy(name: StrategyName, setting: PlanningContext, bound: float = -math.inf) -> SolvedStrategy:
    """The least-cost way to serve all demands under `name`; status infeasible (with no reasons yet) where there is
    none. `bound`: the bound of a strategy that may do all that this one may, infinite where that one has no plan."""
    empty = impossible_strategy(name)
    owned = (item for item in setting.choice.shared if item.resource.what == "owned")
    if bound == math.inf or (name == "onprem" and not any(item.candidates for item in owned)):
        return empty
    months = setting.terms.months * len(setting.demands.needs)
    with limit_work(budget_of_plan(EFFORTS[setting.effort].budget, months)):
        searched = search_plan(setting, partial(strategy_scope, name), bound)
    solution = searched.solution
    if solution.status == "unsolved":
        cut = solution.cut_by_clock
        limit = seconds_allowed(TIME_LIMIT_S)
        reason = message("solver_time_limit", limit_seconds=limit) if cut else message("solver_work_limit")
        return replace(empty, strategy=replace(empty.strategy, reasons=(reason,), cut_by_clock=cut))
    if solution.status == "infeasible":
        return empty
    return _build_solved_strategy(name, searched)


def rents_only(solved: SolvedStrategy) -> bool:
    """Whether a feasible strategy buys no hardware."""
    return solved.strategy.status != "infeasible" and all(order.what != "owned" for order in solved.strategy.purchases)


def proven_bound(solved: SolvedStrategy) -> float:
    """The bound of a strategy; minus infinity where it was not solved or nothing bounds it."""
    bound = solved.strategy.bound
    return -math.inf if solved.strategy.status == "infeasible" or bound is None else bound


def adopt_as_hybrid(best: SolvedStrategy, hybrid: SolvedStrategy) -> SolvedStrategy:
    """The cheaper of the two as hybrid, or `best` where the search for hybrid found no plan: hybrid may do all that
    `best` does, and its own bound stays proven."""
    cost, is_solved = best.strategy.present_cost, hybrid.strategy.status != "infeasible"
    if is_solved and cost >= hybrid.strategy.present_cost:
        return hybrid
    adopted = replace(best, strategy=replace(best.strategy, name="hybrid"))
    return with_bound(adopted, proven_bound(hybrid), cut_by_clock=hybrid.strategy.cut_by_clock)


def with_bound(solved: SolvedStrategy, bound: float, *, cut_by_clock: bool = False) -> SolvedStrategy:
    """The same plan with another proven bound; minus infinity: nothing bounds it. `cut_by_clock`: the search for that
    bound was."""
    cut = solved.strategy.cut_by_clock or cut_by_clock
    least, gap = measure_gap(solved.strategy.present_cost, bound)
    status: Status = "optimal" if gap is not None and gap <= GAP_TARGET else "within_gap"
    strategy = replace(solved.strategy, status=status, bound=least, gap_fraction=gap, cut_by_clock=cut)
    return replace(solved, strategy=strategy)


def measure_gap(present: float, bound: float) -> tuple[float | None, float | None]:
    """The bound of a plan, not above its present cost, and the gap to it as a fraction of that; None and None where
    nothing bounds it (minus infinity)."""
    if not math.isfinite(bound):
        return None, None
    least = min(bound, present)
    return least, (present - least) / abs(present) if present else 0.0


def _build_solved_strategy(name: StrategyName, searched: SearchedPlan) -> SolvedStrategy:
    setting, rules, program, solver_result = searched.setting, searched.allowed, searched.program, searched.solution
    terms, resources = setting.terms, setting.market.resources
    uses = _read_uses(setting, rules, program, solver_result)
    working = dict.fromkeys(use.candidate for use in uses)
    orders = _read_orders(rules, program, solver_result, working)
    decisions = Decisions(orders, uses, _read_operators(program, solver_result))
    decisions = replace(decisions, overheads=decisions.overheads + replay.support_top_ups(decisions, setting))
    rows = replay.list_payments(decisions, setting)
    present = present_cost((payment for _, payment in rows), terms.discount_rate_monthly)
    # A search that ends within a gap may count nodes that nothing uses: those are left out, so the plan may cost less.
    least, most = solver_result.bound, solver_result.objective
    rounding = REPLAY_TOLERANCE * abs(most) + 0.01
    if not least - rounding <= present <= most + rounding:
        raise InternalError(
            f"{name}: the payments are worth {present:.2f}, the solver minimised {solver_result.objective:.2f}"
        )
    bound, gap = measure_gap(present, solver_result.bound)
    strategy = Strategy(
        name=name,
        status="optimal" if solver_result.status == "optimal" else "within_gap",
        present_cost=present,
        total_cost=math.fsum(payment.amount for _, payment in rows),
        bound=bound,
        gap_fraction=gap,
        purchases=tuple(
            replay.describe_purchase(setting, b, decisions.shares) for b in decisions.bought if b.resource.held is None
        ),
        uses=tuple(replay.describe_use(setting, share) for share in decisions.shares),
        cash=replay.sum_cash_rows(rows),
        workloads=workload_costs(decisions, setting),
        candidates=setting.choice.candidates,
        pruned=setting.choice.pruned,
        columns=searched.columns,
        cut_by_clock=solver_result.cut_by_clock,
        columns_searched=len(program.columns),
    )
    paying = dict.fromkeys([b.resource for b in decisions.bought] + [resources[c.resource] for c in working])
    return SolvedStrategy(strategy, decisions, tuple(working), tuple(paying))


def _read_orders(
    rules: StrategyScope, program: LinearProgram, solution: Solution, working: Collection[Candidate]
) -> tuple[ResourceOrder, ...]:
    """Orders and commitments by month; existing capacity is ordered in the first month. Money that the solver's
    tolerance commits to without any of the candidates that it pays `working` is left out."""
    orders = []
    for column, value in zip(program.columns, solution.values, strict=True):
        if column.kind == "start":
            item = rules.shared[column.owner]
            quantity = value if item.weights else round(value)
            if quantity > NEGLIGIBLE_SHARE and (value >= FEASIBILITY or any(c in working for c in item.candidates)):
                orders.append(ResourceOrder(item.resource, column.month, quantity))
    return tuple(sorted(orders, key=lambda order: (order.month, order.resource.key)))


def _read_operators(program: LinearProgram, solution: Solution) -> tuple[Overhead, ...]:
    return tuple(
        Overhead("staff", column.month, round(value))
        for column, value in zip(program.columns, solution.values, strict=True)
        if column.kind == "staff" and round(value)
    )


def _months_with_units(rules: StrategyScope, program: LinearProgram, solution: Solution) -> frozenset[tuple[int, int]]:
    """The shared resources, by index, and months in which units of them are there."""
    there: set[tuple[int, int]] = set()
    for column, value in zip(program.columns, solution.values, strict=True):
        if column.kind == "start" and value > NEGLIGIBLE_SHARE:
            covered = (start.covers for start in rules.shared[column.owner].starts if start.month == column.month)
            there.update((column.owner, month) for months in covered for month in months)
    return frozenset(there)


def _work_elsewhere(setting: PlanningContext, program: LinearProgram, solution: Solution) -> frozenset[int]:
    """The columns of work that the solver's tolerance leaves at places where its workload, which may not spread, does
    nothing else."""
    needs, resources = setting.demands.needs, setting.market.resources
    small: dict[int, tuple[int, Home]] = {}
    working: set[tuple[int, Home]] = set()
    for number, (column, value) in enumerate(zip(program.columns, solution.values, strict=True)):
        if column.kind == "work" and value >= NEGLIGIBLE_SHARE:
            candidate = program.steps[column.owner].candidate
            if needs[candidate.need].may_spread:
                continue
            home = (candidate.need, home_of(candidate, resources))
            if value < FEASIBILITY:
                small[number] = home
            else:
                working.add(home)
    return frozenset(number for number, home in small.items() if home not in working)


def _read_uses(
    setting: PlanningContext, rules: StrategyScope, program: LinearProgram, solution: Solution
) -> tuple[CandidateUse, ...]:
    """Work of each candidate in each month: shares of tasks give the units, and the hours unless nodes are counted for
    them; pooled nodes are hours of those that share them, in proportion to what each of them needs. What the solver's
    tolerance leaves on resources of which nothing was bought, or at homes that were not chosen, is left out."""
    hours: dict[UseKey, float] = defaultdict(float)
    units: dict[UseKey, float] = defaultdict(float)
    parts_of_nodes: dict[PoolKey, dict[UseKey, float]] = defaultdict(dict)
    pooled: dict[PoolKey, float] = {}
    there, elsewhere = _months_with_units(rules, program, solution), _work_elsewhere(setting, program, solution)
    for number, (column, value) in enumerate(zip(program.columns, solution.values, strict=True)):
        if column.kind not in ("work", "ready", "pooled") or value < NEGLIGIBLE_SHARE or number in elsewhere:
            continue
        step, key = program.steps[column.owner], (column.owner, column.month, column.block)
        if step.shared is not None and value < FEASIBILITY and (step.shared, column.month) not in there:
            continue
        pool = (step.candidate.resource, step.shared, column.month, column.block)
        if column.kind == "pooled":
            pooled[pool] = round(value) * column.node_hours
            continue
        if column.kind == "work":
            units[key] += value * column.units
            need = setting.demands.needs[step.candidate.need]
            if has_pooled_nodes(step.candidate, need) and not column.node_hours:
                parts_of_nodes[pool][key] = value * column.nodes
        hours[key] += (round(value) if program.whole[number] else value) * column.node_hours
    for pool, node_hours in pooled.items():
        needed = math.fsum(parts_of_nodes[pool].values())
        for key, nodes in parts_of_nodes[pool].items():
            hours[key] += node_hours * nodes / needed
    working = _level_spread_work(setting, program, hours, units)
    parts: dict[tuple[int, int], list[BlockUse]] = defaultdict(list)
    for (owner, month, block), node_hours in sorted(hours.items()):
        if not units[owner, month, block] and (owner, month, block) not in working:
            continue  # nodes that cost nothing more where they stand, and do nothing
        parts[owner, month].append(BlockUse(block, node_hours, units[owner, month, block]))
    uses = [
        _build_use(setting, program.steps[owner].candidate, month, blocks) for (owner, month), blocks in parts.items()
    ]
    resources = setting.market.resources
    return tuple(
        sorted(uses, key=lambda s: (s.month, s.candidate.need, resources[s.candidate.resource].key, s.candidate.gang))
    )


def _level_spread_work(
    setting: PlanningContext, program: LinearProgram, hours: Mapping[UseKey, float], units: dict[UseKey, float]
) -> frozenset[UseKey]:
    """Divides the work of a spread service at a place over its nodes by their hours, those on spot apart where their
    share is limited: the program does not decide which of them do it. Returns the uses of such places with work: their
    nodes are whole together."""
    resources, needs = setting.market.resources, setting.demands.needs
    alike: dict[tuple[int, Home, int, int], dict[bool, list[UseKey]]] = defaultdict(lambda: defaultdict(list))
    for key in hours:
        candidate = program.steps[key[0]].candidate
        need = needs[candidate.need]
        if need.serving and need.may_spread and not has_pooled_nodes(candidate, need):
            apart = resources[candidate.resource].interrupts and setting.rules.spot_share(need) < 1
            alike[candidate.need, home_of(candidate, resources), key[1], key[2]][apart].append(key)
    working: set[UseKey] = set()
    for sides in alike.values():
        here = [key for keys in sides.values() for key in keys]
        has_nodes = all(any(hours[key] for key in keys) for keys in sides.values())
        for keys in sides.values() if has_nodes else (here,):  # without nodes it is rounding of the solver
            done, there = (math.fsum(amounts[key] for key in keys) for amounts in (units, hours))
            units.update({key: done * hours[key] / there if there else 0.0 for key in keys})
        if any(units[key] for key in here):
            working.update(key for key in here if hours[key])
    return frozenset(working)


def _build_use(setting: PlanningContext, candidate: Candidate, month: int, blocks: list[BlockUse]) -> CandidateUse:
    """The use of a month; its most nodes at once are those of its busiest block, of dated days as many as can give them
    in the days of the month."""
    hours = math.fsum(part.node_hours for part in blocks)
    if setting.market.resources[candidate.resource].unit == "node_day":
        on_average = hours / (HOURS_PER_DAY * days_of_month(setting.demands.month_names[month - 1]))
        nodes = round_up_to_gangs(on_average, candidate.nodes_per_gang, NEGLIGIBLE_SHARE)
    else:
        lengths = (*setting.demands.block_hours, setting.terms.hours_per_month)  # block -1 is the whole month
        nodes = _round_up_to_gangs(candidate, max(part.node_hours / lengths[part.block] for part in blocks))
    return CandidateUse(month, candidate, hours, nodes, math.fsum(part.units for part in blocks), tuple(blocks))


def _round_up_to_gangs(candidate: Candidate, nodes: float) -> float:
    """The nodes that must be there at once to have so many on average: a gang that spans nodes takes all of its own."""
    return (
        nodes if candidate.nodes_per_gang == 1 else round_up_to_gangs(nodes, candidate.nodes_per_gang, NEGLIGIBLE_SHARE)
    )
