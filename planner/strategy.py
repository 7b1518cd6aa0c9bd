"""One strategy: what it may use, the solved program, and the purchases, uses and payments that follow from it.

Every amount shown comes from the payments of `options` and `owned`; the solver only says how many. The replayed
payments must be worth what the solver minimised, or nothing is shown.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from planner import owned
from planner.answer import CashRow, Purchase, Strategy, StrategyName, Use, WorkloadCost
from planner.assumptions import Assumptions
from planner.candidates import Candidate, Market, Resource
from planner.cashflow import Payment, Terms, present_cost
from planner.demand import Demands
from planner.errors import Defect
from planner.model import Allowed, Program, build, rents_whole_nodes, with_shortage
from planner.optimize import TIME_LIMIT_S, Solution, solve
from planner.prune import Choice, around_per_unit, covers, payments_of

REPLAY_TOLERANCE = 1e-5
LONG_SEARCH_COLUMNS = 2000
"""Programs smaller than this are solved in less time than a first plan would save."""
NEGLIGIBLE_SHARE = 1e-7
"""Of a task: what the solver's tolerance leaves behind."""


@dataclass(frozen=True, slots=True)
class Setting:
    """Everything that the strategies of one plan share."""

    demands: Demands
    market: Market
    choice: Choice
    assumptions: Assumptions
    terms: Terms


@dataclass(frozen=True, slots=True)
class Solved:
    """A strategy with the candidates that work in it and the resources that it pays."""

    strategy: Strategy
    candidates: tuple[Candidate, ...] = ()
    resources: tuple[Resource, ...] = ()


@dataclass(frozen=True, slots=True)
class _Share:
    """One candidate's use in one month."""

    month: int
    candidate: Candidate
    node_hours: float
    nodes: float
    units: float


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
    shares = _shares(setting, program, solution)
    bought = [
        (resource, month, count, payments_of(resource, month, count, setting.assumptions, terms))
        for resource, month, count in _started(rules, program, solution)
    ]
    used = [(share, _use_payments(setting, share)) for share in shares]
    paid = [p for *_, payments in bought for p in payments] + [p for _, payments in used for p in payments]
    worth = present_cost(paid, terms.discount_rate_monthly)
    if not math.isclose(worth, solution.objective, rel_tol=REPLAY_TOLERANCE, abs_tol=0.01):
        raise Defect(f"{name}: the payments are worth {worth:.2f}, the solver minimised {solution.objective:.2f}")
    bound = min(solution.bound, worth)
    cash = [(resource.title, payments) for resource, _, _, payments in bought]
    cash += [(resources[share.candidate.resource].title, payments) for share, payments in used]
    strategy = Strategy(
        name=name,
        status="optimal" if solution.status == "optimal" else "within_gap",
        present_cost=worth,
        total_cost=math.fsum(p.amount for p in paid),
        bound=bound,
        gap_fraction=(worth - bound) / worth if worth else 0.0,
        purchases=tuple(_purchase(setting, *row) for row in bought),
        uses=tuple(_use(setting, share, payments) for share, payments in used),
        cash=_cash(cash),
        workloads=_workload_costs(setting, bought, used),
        candidates=setting.choice.candidates,
        pruned=setting.choice.pruned,
    )
    working = dict.fromkeys(share.candidate for share in shares)
    paying = dict.fromkeys([row[0] for row in bought] + [resources[c.resource] for c in working])
    return Solved(strategy, tuple(working), tuple(paying))


def _started(rules: Allowed, program: Program, solution: Solution) -> list[tuple[Resource, int, int]]:
    """What is ordered or committed: resource, month and number of nodes, in order of time."""
    found = [
        (rules.shared[column.owner].resource, column.month, round(value))
        for column, value in zip(program.columns, solution.values, strict=True)
        if column.kind == "start" and round(value)
    ]
    return sorted(found, key=lambda row: (row[1], row[0].key))


def _shares(setting: Setting, program: Program, solution: Solution) -> list[_Share]:
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
        _Share(month, program.steps[number].candidate, hours[number, month], nodes[number, month], units[number, month])
        for number, month in hours
    ]
    resources = setting.market.resources
    return sorted(
        found, key=lambda s: (s.month, s.candidate.need, resources[s.candidate.resource].key, s.candidate.gang)
    )


def _in_whole_gangs(candidate: Candidate, nodes: float) -> float:
    """The nodes that must be there at once to have so many on average: a gang that spans nodes takes all of its own."""
    span = candidate.nodes_per_gang
    return nodes if span == 1 else float(math.ceil(nodes / span - NEGLIGIBLE_SHARE) * span)


def _use_payments(setting: Setting, share: _Share) -> tuple[Payment, ...]:
    """What one use costs by itself: hours paid by the hour, and its part of storage and egress."""
    resource = setting.market.resources[share.candidate.resource]
    need = setting.demands.needs[share.candidate.need]
    rows: list[Payment] = []
    if resource.what == "hourly":
        rows += payments_of(resource, share.month, share.node_hours, setting.assumptions, setting.terms)
    storage, egress = around_per_unit(need, share.candidate, share.month)
    if storage:
        rows.append(Payment(share.month, "end", "storage", storage * share.units))
    if egress:
        rows.append(Payment(share.month, "end", "egress", egress * share.units))
    return tuple(rows)


def _purchase(setting: Setting, resource: Resource, month: int, count: int, payments: Iterable[Payment]) -> Purchase:
    terms, paid = setting.terms, tuple(payments)
    working = covers(resource, month, setting.assumptions, terms)
    node = resource.node
    if node is not None:
        term = round(setting.assumptions["useful_life_months"].value)
        per_month = owned.costs(node, setting.assumptions, terms.hours_per_month).per_month * count
    else:
        assert resource.quote is not None
        term = resource.quote.price.term_months
        fees = [p.amount for p in paid if p.at == "end" and p.month == month]
        per_month = fees[0] if fees else 0.0
    return Purchase(
        month=month,
        what="owned" if node is not None else "commitment",
        name=resource.name,
        provider=resource.provider,
        region=resource.region,
        purchase_option=resource.purchase_option,
        accelerator=resource.accelerator,
        accelerators_per_node=resource.accelerators_per_node,
        count=count,
        usable_from=working.start,
        usable_to=working.start + term - 1,
        term_months=term,
        upfront=math.fsum(p.amount for p in paid if p.at == "start"),
        per_month=per_month,
        present_cost=present_cost(paid, terms.discount_rate_monthly),
    )


def _use(setting: Setting, share: _Share, payments: Iterable[Payment]) -> Use:
    resource = setting.market.resources[share.candidate.resource]
    return Use(
        month=share.month,
        workload=setting.demands.needs[share.candidate.need].workload.name,
        what=resource.what,
        name=resource.name,
        provider=resource.provider,
        region=resource.region,
        purchase_option=resource.purchase_option,
        accelerator=resource.accelerator,
        accelerators_per_node=resource.accelerators_per_node,
        node_hours=share.node_hours,
        nodes=share.nodes,
        units=share.units,
        cost=math.fsum(p.amount for p in payments),
    )


def _cash(rows: Iterable[tuple[str, Iterable[Payment]]]) -> tuple[CashRow, ...]:
    """Payments of one thing, category and moment added up, in order of time."""
    sums: dict[tuple[int, str, str, str], float] = defaultdict(float)
    for name, payments in rows:
        for payment in payments:
            sums[payment.month, payment.at, payment.category, name] += payment.amount
    ordered = sorted(sums.items(), key=lambda item: (item[0][0], item[0][1] == "end", item[0][2], item[0][3]))
    return tuple(CashRow(month, at, category, name, amount) for (month, at, category, name), amount in ordered)  # type: ignore[arg-type]  # the literals went through a dictionary key


def _workload_costs(
    setting: Setting,
    bought: Iterable[tuple[Resource, int, int, tuple[Payment, ...]]],
    used: Iterable[tuple[_Share, tuple[Payment, ...]]],
) -> tuple[WorkloadCost, ...]:
    """Each workload's own payments plus its part, by node-hours, of everything bought; idle hours go the same way."""
    needs, resources = setting.demands.needs, setting.market.resources
    cost = [0.0] * len(needs)
    units = [0.0] * len(needs)
    hours: dict[tuple[str, ...], dict[int, float]] = defaultdict(lambda: defaultdict(float))
    work: dict[int, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for share, payments in used:
        index = share.candidate.need
        resource = resources[share.candidate.resource]
        cost[index] += math.fsum(p.amount for p in payments)
        units[index] += share.units
        hours[resource.key][index] += share.node_hours
        work[index][resource.title] += share.units
    for resource, _, _, payments in bought:
        amount = math.fsum(p.amount for p in payments)
        users: Mapping[int, float] = hours[resource.key] or dict.fromkeys(range(len(needs)), 1.0)
        for index, part in users.items():
            cost[index] += amount * part / math.fsum(users.values())
    return tuple(
        WorkloadCost(
            need.workload.name,
            need.workload.team,
            need.unit,
            units[index],
            cost[index],
            cost[index] / units[index] if units[index] else 0.0,
            _where(work[index]),
        )
        for index, need in enumerate(needs)
    )


def _where(work: Mapping[str, float]) -> str:
    """Where the work is done, largest part first, with its percentage."""
    total = math.fsum(work.values())
    ordered = sorted(work.items(), key=lambda item: (-item[1], item[0]))
    shares = ((name, amount / total) for name, amount in ordered)
    return "; ".join(f"{name} ({_percent(share)})" if len(work) > 1 else name for name, share in shares)


def _percent(share: float) -> str:
    return f"{share:.0%}" if share >= 0.01 else "under 1%"
