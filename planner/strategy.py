"""One strategy: what it may use, the solved program, and the purchases, uses and payments that follow from it.

Every amount shown comes from the payments of `options` and `owned`; the solver only says how many. The replayed
payments must be worth what the solver minimised, or nothing is shown.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, field, replace

from planner import replay
from planner.answer import Strategy, StrategyName
from planner.candidates import Candidate, Resource
from planner.cashflow import present_cost
from planner.errors import Defect
from planner.model import Allowed, Program, build, rents_whole_nodes, with_shortage
from planner.optimize import TIME_LIMIT_S, Solution, solve
from planner.replay import Bought, Decisions, Setting, Share

REPLAY_TOLERANCE = 1e-5
LONG_SEARCH_COLUMNS = 2000
"""Programs smaller than this are solved in less time than a first plan would save."""
NEGLIGIBLE_SHARE = 1e-7
"""Of a task: what the solver's tolerance leaves behind."""


@dataclass(frozen=True, slots=True)
class Solved:
    """A strategy with what it decides, the candidates that work in it and the resources that it pays."""

    strategy: Strategy
    decisions: Decisions = field(default_factory=Decisions)
    candidates: tuple[Candidate, ...] = ()
    resources: tuple[Resource, ...] = ()


def ownable(setting: Setting) -> tuple[bool, ...]:
    """For each workload, whether an owned system that arrives within the horizon can do its work."""
    can = {c.need for item in setting.choice.shared if item.resource.what == "owned" for c in item.candidates}
    return tuple(index in can for index in range(len(setting.demands.needs)))


def allowed(name: StrategyName, setting: Setting) -> Allowed:
    """What `name` may use. Cloud: nothing owned. Hybrid: anything. Onprem: workloads that can be owned may be rented
    by the hour only until the first delivery; the others, named as gaps, stay in the cloud."""
    months = setting.terms.months
    everywhere = tuple(months for _ in setting.demands.needs)
    if name == "hybrid":
        return Allowed(setting.choice.shared, everywhere)
    if name == "cloud":
        return Allowed(tuple(s for s in setting.choice.shared if s.resource.what != "owned"), everywhere)
    can = ownable(setting)
    bridge = min(round(setting.assumptions["lead_time_months"].value), months)
    shared = []
    for item in setting.choice.shared:
        kept = tuple(c for c in item.candidates if item.resource.what == "owned" or not can[c.need])
        if kept:
            shared.append(replace(item, candidates=kept))
    return Allowed(tuple(shared), tuple(bridge if owns else months for owns in can))


def solve_strategy(name: StrategyName, setting: Setting) -> Solved:
    """The least-cost way to serve all demands under `name`; status infeasible (with no reasons yet) where there is
    none."""
    empty = Solved(Strategy(name, "infeasible", 0.0, 0.0, 0.0, 0.0))
    if name == "onprem" and not any(ownable(setting)):
        return empty
    rules = allowed(name, setting)
    program = build(setting.choice, rules, setting.demands, setting.terms, setting.market.resources)
    solution = solve(program, start=_without_purchases(program))
    if solution.status == "unsolved":
        text = f"not solved within {TIME_LIMIT_S:.0f} s, so it may be possible all the same: narrow what may be used"
        return replace(empty, strategy=replace(empty.strategy, reasons=(text,)))
    if solution.status == "infeasible":
        return empty
    return _solved(name, setting, rules, program, solution)


def _without_purchases(program: Program) -> Solution | None:
    """The best plan that only rents by the hour, a sound place for a long search to begin; None where there is none."""
    if len(program.columns) < LONG_SEARCH_COLUMNS:
        return None
    uppers = [0.0 if c.kind == "start" else u for c, u in zip(program.columns, program.upper, strict=True)]
    if uppers == program.upper:
        return None
    solution = solve(replace(program, upper=uppers))
    return solution if solution.values else None


def shortage(name: StrategyName, setting: Setting) -> dict[int, float]:
    """By workload index, the share of its work that cannot be done at best under `name` (only those above 0)."""
    rules = allowed(name, setting)
    program = build(setting.choice, rules, setting.demands, setting.terms, setting.market.resources)
    relaxed = with_shortage(program)
    solution = solve(relaxed)
    missing: dict[int, float] = defaultdict(float)
    due: dict[int, float] = defaultdict(float)
    for lower, need in zip(program.row_lower, program.row_need, strict=True):
        if need >= 0:
            due[need] += lower
    for column, value in zip(relaxed.columns, solution.values, strict=False):
        if column.kind == "short" and value > 0:
            missing[column.owner] += value
    return {need: value / due[need] for need, value in sorted(missing.items()) if value / due[need] > 1e-9}


def _solved(name: StrategyName, setting: Setting, rules: Allowed, program: Program, solution: Solution) -> Solved:
    terms, resources = setting.terms, setting.market.resources
    decisions = Decisions(_started(rules, program, solution), _shares(setting, program, solution))
    rows = replay.paid(decisions, setting)
    worth = present_cost((payment for _, payment in rows), terms.discount_rate_monthly)
    if not math.isclose(worth, solution.objective, rel_tol=REPLAY_TOLERANCE, abs_tol=0.01):
        raise Defect(f"{name}: the payments are worth {worth:.2f}, the solver minimised {solution.objective:.2f}")
    bound = min(solution.bound, worth)
    strategy = Strategy(
        name=name,
        status="optimal" if solution.status == "optimal" else "within_gap",
        present_cost=worth,
        total_cost=math.fsum(payment.amount for _, payment in rows),
        bound=bound,
        gap_fraction=(worth - bound) / worth if worth else 0.0,
        purchases=tuple(replay.purchase(setting, bought) for bought in decisions.bought),
        uses=tuple(replay.use(setting, share) for share in decisions.shares),
        cash=replay.cash(rows),
        workloads=replay.workload_costs(decisions, setting),
        candidates=setting.choice.candidates,
        pruned=setting.choice.pruned,
    )
    working = dict.fromkeys(share.candidate for share in decisions.shares)
    paying = dict.fromkeys([b.resource for b in decisions.bought] + [resources[c.resource] for c in working])
    return Solved(strategy, decisions, tuple(working), tuple(paying))


def _started(rules: Allowed, program: Program, solution: Solution) -> tuple[Bought, ...]:
    """What is ordered or committed, in order of time."""
    found = [
        Bought(rules.shared[column.owner].resource, column.month, round(value))
        for column, value in zip(program.columns, solution.values, strict=True)
        if column.kind == "start" and round(value)
    ]
    return tuple(sorted(found, key=lambda bought: (bought.month, bought.resource.key)))


def _shares(setting: Setting, program: Program, solution: Solution) -> tuple[Share, ...]:
    """What each candidate does in each month: work columns give the units, a service's replicas the hours billed."""
    hours: dict[tuple[int, int], float] = defaultdict(float)
    units: dict[tuple[int, int], float] = defaultdict(float)
    nodes: dict[tuple[int, int], float] = defaultdict(float)
    for column, value in zip(program.columns, solution.values, strict=True):
        if column.kind not in ("work", "ready") or value < NEGLIGIBLE_SHARE:
            continue
        step = program.steps[column.owner]
        key = (column.owner, column.month)
        need = setting.demands.needs[step.candidate.need]
        length = setting.demands.block_hours[column.block] if column.block >= 0 else setting.terms.hours_per_month
        if column.kind == "work":
            units[key] += value * column.units
            if not rents_whole_nodes(step, need):
                hours[key] += value * column.node_hours
                nodes[key] = max(nodes[key], _in_whole_gangs(step.candidate, value * column.node_hours / length))
        else:
            hours[key] += round(value) * column.node_hours
            nodes[key] = max(nodes[key], round(value) * step.candidate.nodes_per_gang)
    found = [
        Share(month, program.steps[number].candidate, hours[number, month], nodes[number, month], units[number, month])
        for number, month in hours
    ]
    resources = setting.market.resources
    return tuple(
        sorted(found, key=lambda s: (s.month, s.candidate.need, resources[s.candidate.resource].key, s.candidate.gang))
    )


def _in_whole_gangs(candidate: Candidate, nodes: float) -> float:
    """The nodes that must be there at once to have so many on average: a gang that spans nodes takes all of its own."""
    span = candidate.nodes_per_gang
    return nodes if span == 1 else float(math.ceil(nodes / span - NEGLIGIBLE_SHARE) * span)
