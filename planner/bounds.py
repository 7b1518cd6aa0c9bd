"""The rows of a request's limits, and the costs that belong to no single resource: operators, a support plan's least
fee.

Each limit is a row that carries its name, so that a plan that is impossible can say which one would have to give.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence

from planner import owned
from planner.candidates import Resource
from planner.cashflow import discount_factor, present_cost
from planner.options import capacity_block, options
from planner.paying import payments_of, support_minimum
from planner.program import ANY_HOUR, Column, Entries, Limit, Program
from planner.replay import Setting
from planner.rows import Started, rents_whole_nodes
from planner.rules import CAPEX, by_year
from planner.supply import Shared


def add(program: Program, setting: Setting, shared: Sequence[Shared], started: Started) -> None:
    """Every limit that the request states, and nothing where it states none."""
    limits = setting.rules.limits
    _spares(program, setting)
    _spot(program, setting)
    if setting.rules.quotas:
        _quotas(program, setting, shared, started)
    nodes = [(index, item) for index, item in enumerate(shared) if item.resource.node is not None]
    there = _there(program, setting, shared)
    if limits.owned_power_kw is not None:
        each = {index: item.resource.node.max_power_kw for index, item in nodes if item.resource.node is not None}
        _site(program, setting, there, each, Limit("owned_power_kw", "", limits.owned_power_kw, "kW"))
    if limits.owned_racks is not None:
        each = {
            index: owned.racks(item.resource.node, setting.assumptions)
            for index, item in nodes
            if item.resource.node is not None
        }
        _site(program, setting, there, each, Limit("owned_racks", "", limits.owned_racks, "racks"))
    if setting.rules.budgets:
        _budgets(program, setting, shared)
    if setting.rules.site.staff == "whole":
        _operators(program, setting, nodes, there)
    if setting.assumptions["cloud_support_minimum_per_month"].value:
        _least_support(program, setting, shared)


def _spares(program: Program, setting: Setting) -> None:
    """Replicas of a service that stand ready beyond those at work, on nodes by the hour or reserved on shared ones."""
    hours = setting.demands.block_hours
    idle: dict[tuple[int, int, int], Entries] = defaultdict(list)
    for number, column in enumerate(program.columns):
        if column.kind not in ("work", "ready", "reserve"):
            continue
        step = program.steps[column.owner]
        need = setting.demands.needs[step.candidate.need]
        if not need.serving or not need.workload.spare_replicas or (column.kind == "work" and not step.by_hour):
            continue
        gangs = column.node_hours / (step.candidate.granule * hours[column.block])
        entry = (number, -gangs if column.kind == "work" else gangs)
        idle[step.candidate.need, column.month, column.block].append(entry)
    for (index, _, _), entries in sorted(idle.items()):
        program.row(float(setting.demands.needs[index].workload.spare_replicas), math.inf, entries)


def _spot(program: Program, setting: Setting) -> None:
    """Of the work of each month (for a deadline: of all) at most a share on nodes that may be taken back."""
    resources = setting.market.resources
    done: dict[tuple[int, int], Entries] = defaultdict(list)
    for number, column in enumerate(program.columns):
        if column.kind != "work":
            continue
        candidate = program.steps[column.owner].candidate
        quote = resources[candidate.resource].quote
        if quote is not None and options()[quote.price.kind].INTERRUPTS:
            done[candidate.need, column.task[1]].append((number, column.units))
    for (index, month), entries in sorted(done.items()):
        need = setting.demands.needs[index]
        share = setting.rules.spot_share(need)
        if share < 1:
            total = need.total if need.deadline is not None else _due(setting, index, month)
            limit = Limit("spot_fraction_max", need.workload.name, share, "of the work")
            program.row(-math.inf, share, [(f, units / total) for f, units in entries], limit=limit)


def _due(setting: Setting, index: int, month: int) -> float:
    """The work of a month, as its blocks have it."""
    need, hours = setting.demands.needs[index], setting.demands.block_hours
    if need.levels is None:
        return need.monthly[month - 1]
    return math.fsum(need.block_units(month - 1, block, hours) for block in range(len(hours)))


def _site(program: Program, setting: Setting, there: Started, each: dict[int, float], limit: Limit) -> None:
    """What all owned nodes that are there in a month take of the site."""
    for month in range(1, setting.terms.months + 1):
        entries = [(y, amount) for index, amount in each.items() for y in there.get((index, month), ())]
        program.row(-math.inf, limit.amount, entries, limit=limit)


def _there(program: Program, setting: Setting, shared: Sequence[Shared]) -> Started:
    """The start columns of owned nodes by the months in which they stand there: from delivery, before they work."""
    found: Started = defaultdict(list)
    for number, column in enumerate(program.columns):
        if column.kind != "start" or (node := shared[column.owner].resource.node) is None:
            continue
        held = shared[column.owner].resource.held
        if held is not None:
            months = held.covers
        else:
            months = owned.delivered(column.month, setting.assumptions, setting.terms, node.finance)
        for month in months:
            found[column.owner, month].append(number)
    return found


def _budgets(program: Program, setting: Setting, shared: Sequence[Shared]) -> None:
    """What is paid in each year of the plan, for hardware and for everything else; money from a resale is neither."""
    limits, months = setting.rules.limits, setting.terms.months
    paid: dict[tuple[bool, int], Entries] = defaultdict(list)
    for number, column in enumerate(program.columns):
        for is_capital, year, amount in _paid(program, number, column, setting, shared):
            paid[is_capital, year].append((number, amount))
    for name, yearly, is_capital in (
        ("capex_per_year", limits.capex_per_year, True),
        ("opex_per_year", limits.opex_per_year, False),
    ):
        for year, amount in enumerate(by_year(yearly, months) if yearly is not None else ()):
            limit = Limit(name, f"year {year + 1}", amount, "a year")
            program.row(-math.inf, amount, paid[is_capital, year], limit=limit)


def _paid(
    program: Program, number: int, column: Column, setting: Setting, shared: Sequence[Shared]
) -> Iterator[tuple[bool, int, float]]:
    """Whether it is capital, the year (from 0) and the amount that one unit of a column pays."""
    terms = setting.terms
    if column.kind == "start":
        sums: dict[tuple[bool, int], list[float]] = defaultdict(list)
        for payment in payments_of(shared[column.owner].resource, column.month, 1, setting.assumptions, terms):
            if payment.amount > 0:
                sums[payment.category in CAPEX, (payment.month - 1) // 12].append(payment.amount)
        held = shared[column.owner].resource.held
        for (is_capital, year), amounts in sorted(sums.items()):
            yield is_capital, year, math.fsum(amounts) / (held.count if held is not None else 1)
    elif program.cost[number]:
        now = discount_factor(column.month, "end", terms.discount_rate_monthly)
        yield False, (column.month - 1) // 12, program.cost[number] / now


def _operators(program: Program, setting: Setting, nodes: Sequence[tuple[int, Shared]], there: Started) -> None:
    """Operators are hired one by one: enough for all accelerators owned, and a least number where there are any."""
    a, terms = setting.assumptions, setting.terms
    least = a["staff_minimum"].value
    for month in range(1, terms.months + 1):
        held = [
            (y, float(item.resource.node.accelerators))
            for index, item in nodes
            for y in there.get((index, month), ())
            if item.resource.node is not None
        ]
        if not held:
            continue
        cost = present_cost(owned.staff_payments(month, 1, a), terms.discount_rate_monthly)
        most = math.fsum(program.upper[y] * count for y, count in held) / a["accelerators_per_staff"].value + least
        s = program.column(Column("staff", -1, month), cost, math.ceil(most), whole=True)
        program.row(-math.inf, 0.0, [*held, (s, -a["accelerators_per_staff"].value)])
        z = program.column(Column("any", -1, month), 0.0, 1.0, whole=True)
        program.row(-math.inf, 0.0, [(z, least), (s, -1.0)])
        for y, _ in held:
            program.row(-math.inf, 0.0, [(y, 1.0), (z, -program.upper[y])])


def _least_support(program: Program, setting: Setting, shared: Sequence[Shared]) -> None:
    """In a month with any cloud bill, the support plan costs at least its least fee: what is missing is topped up."""
    terms, a = setting.terms, setting.assumptions
    support: dict[int, Entries] = defaultdict(list)
    using: dict[int, list[int]] = defaultdict(list)
    for number, column in enumerate(program.columns):
        if column.kind == "start" and shared[column.owner].resource.node is None:
            for payment in payments_of(shared[column.owner].resource, column.month, 1, a, terms):
                if payment.category == "cloud_support":
                    support[payment.month].append((number, payment.amount))
                using[payment.month].append(number)
        elif column.kind in ("work", "ready") and program.cost[number]:
            step = program.steps[column.owner]
            if setting.market.resources[step.candidate.resource].node is None:
                bill = program.cost[number] / discount_factor(column.month, "end", terms.discount_rate_monthly)
                share = terms.cloud_support_fraction / terms.bill_factor
                support[column.month].append((number, bill * share))
                using[column.month].append(number)
    least = a["cloud_support_minimum_per_month"].value
    for month, columns in sorted(using.items()):
        cost = present_cost(support_minimum(month, 1.0, terms), terms.discount_rate_monthly)
        top = program.column(Column("top_up", -1, month), cost, least, whole=False)
        z = program.column(Column("any", -1, month), 0.0, 1.0, whole=True)
        program.row(0.0, math.inf, [(top, 1.0), *support[month], (z, -least)])
        for number in dict.fromkeys(columns):
            program.row(-math.inf, 0.0, [(number, 1.0), (z, -max(program.upper[number], 1.0))])


def _quotas(program: Program, setting: Setting, shared: Sequence[Shared], started: Started) -> None:
    """No more nodes at once than each quota leaves, counted as a plan tells them (quota.py): whole nodes of each type
    and way of paying, whole gangs, the busiest hours of different workloads added up."""
    running = _by_the_hour(program, setting)
    for index, item in enumerate(shared):
        if item.resource.held is None and item.resource.unit != "money" and setting.rules.counted(item.resource):
            days = setting.terms.hours_per_month / capacity_block.HOURS
            each = 1.0 / days if item.by_month else 1.0
            for month in range(1, setting.terms.months + 1):
                for y in started.get((index, month), ()):
                    running[item.resource.key, month].append((y, each))
    counted = {resource.key: setting.rules.counted(resource) for resource in _counted(setting, shared)}
    taken: dict[tuple[tuple[str, str, str], int], Entries] = defaultdict(list)
    for (key, month), entries in sorted(running.items()):
        n = program.column(Column("nodes", -1, month), 0.0, math.inf, whole=True)
        program.row(-math.inf, 0.0, [*entries, (n, -1.0)])
        for quota, each in counted[key]:
            taken[quota.key, month].append((n, each))
    for quota in setting.rules.quotas:
        free = max(quota.limit - (quota.used or 0.0), 0.0)
        limit = Limit("quota", " ".join(quota.key), free, quota.unit)
        for month in range(1, setting.terms.months + 1):
            program.row(-math.inf, free, taken[quota.key, month], limit=limit)


def _counted(setting: Setting, shared: Sequence[Shared]) -> Iterator[Resource]:
    yield from setting.market.resources
    yield from (item.resource for item in shared)


def _by_the_hour(program: Program, setting: Setting) -> dict[tuple[tuple[str, ...], int], Entries]:
    """The most nodes at once of each resource by the hour that counts against a quota, by month."""
    hours, resources = setting.demands.block_hours, setting.market.resources
    blocks: dict[tuple[int, int], list[Entries]] = defaultdict(list)
    for number, column in enumerate(program.columns):
        if column.kind not in ("work", "ready"):
            continue
        step = program.steps[column.owner]
        whole = rents_whole_nodes(step, setting.demands.needs[step.candidate.need])
        if not step.by_hour or whole != (column.kind == "ready"):
            continue
        if setting.rules.counted(resources[step.candidate.resource]):
            length = math.fsum(hours) if column.block == ANY_HOUR else hours[column.block]
            blocks[column.owner, column.month].append([(number, column.node_hours / length)])
    found: dict[tuple[tuple[str, ...], int], Entries] = defaultdict(list)
    for (owner, month), rows in sorted(blocks.items()):
        candidate = program.steps[owner].candidate
        span = float(candidate.nodes_per_gang)
        peak = program.column(Column("peak", owner, month), 0.0, math.inf, whole=span > 1)
        for entries in rows:
            program.row(-math.inf, 0.0, [*entries, (peak, -span)])
        found[resources[candidate.resource].key, month].append((peak, span))
    return found
