"""Constraints for the limits of a request, and for costs of no single resource: operators, a minimum support fee.

Each row of a limit carries its name, so that an infeasible plan can report the limits that prevent it.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from planner.finance.cashflow import present_cost
from planner.optimization.constraints import StartColumns
from planner.optimization.linear_program import (
    ANY_HOUR,
    DemandTask,
    LinearProgram,
    ProgramColumn,
    RequestLimit,
    RowEntries,
)
from planner.optimization.solution import PlanningContext
from planner.optimization.verified_plan import ROUNDING
from planner.result.audit_trail import discount_factor
from planner.supply import onprem
from planner.supply.carbon import node_energy
from planner.supply.costs import SharedResource
from planner.supply.limits import CAPEX_CATEGORIES, budget_by_year, budget_year
from planner.supply.payments import committed_months, delivered_months, resource_payments, support_minimum_payments
from planner.supply.resources import Resource
from pricing.units import HOURS_PER_DAY

SMALL_NODES = 1e-3
"""Of nodes: work that needs less has a row of its own for the node that it needs, which tolerances hide otherwise."""


def add_limit_constraints(
    program: LinearProgram, setting: PlanningContext, shared: Sequence[SharedResource], started: StartColumns
) -> None:
    """Rows for every limit in the request; none without limits."""
    _add_spot_rows(program, setting)
    if setting.rules.quotas:
        _add_quota_rows(program, setting, shared, started)
    add_ownership_constraints(program, setting, shared)
    if setting.assumptions["cloud_support_minimum_per_month"].value:
        _add_support_minimum_rows(program, setting, shared)
    if setting.rules.commitment_targets:
        from planner.optimization.commitment_constraints import add_commitment_target_rows

        add_commitment_target_rows(program, setting, shared)
    if setting.rules.limits_carbon:
        add_carbon_rows(program, setting, shared, _emissions_of_work(program, setting))
    if setting.rules.budgets:  # last: operators and the least support fee are paid from a budget, too
        _add_budget_rows(program, setting, shared)


def add_ownership_constraints(
    program: LinearProgram, setting: PlanningContext, shared: Sequence[SharedResource]
) -> None:
    """The power and racks of the site, and its operators: rows of start columns alone."""
    limits = setting.rules.limits
    nodes = [(index, item) for index, item in enumerate(shared) if item.resource.node is not None]
    there = _delivered_start_columns(program, setting, shared)
    if limits.owned_power_kw is not None:
        each = {index: item.resource.node.max_power_kw for index, item in nodes if item.resource.node is not None}
        _add_site_rows(program, setting, there, each, RequestLimit("owned_power_kw", "", limits.owned_power_kw, "kW"))
    if limits.owned_racks is not None:
        each = {
            index: onprem.node_rack_fraction(item.resource.node, setting.assumptions)
            for index, item in nodes
            if item.resource.node is not None
        }
        _add_site_rows(program, setting, there, each, RequestLimit("owned_racks", "", limits.owned_racks, "racks"))
    if setting.rules.site.staff == "whole":
        _add_operator_rows(program, setting, nodes, there)


def add_carbon_rows(
    program: LinearProgram,
    setting: PlanningContext,
    shared: Sequence[SharedResource],
    of_work: Mapping[int, RowEntries],
) -> None:
    """The emission of each year: of work, as `of_work` has it by year (from 0) in kg for each unit of a column, and of
    owned nodes from their delivery on. None without a limit on it."""
    yearly = setting.rules.limits.carbon_kg_per_year
    if yearly is None:
        return
    emitted: dict[int, RowEntries] = defaultdict(list, {year: list(entries) for year, entries in of_work.items()})
    for (index, month), columns in _delivered_start_columns(program, setting, shared).items():
        idle = node_energy(shared[index].resource, setting.rules.carbon, setting.assumptions).idle_kg_per_hour
        emitted[budget_year(month)] += [(y, idle * setting.terms.hours_per_month) for y in columns]
    for year, amount in enumerate(budget_by_year(yearly, setting.terms.months)):
        limit = RequestLimit("carbon_kg_per_year", f"year {year + 1}", amount, "kg CO2e a year")
        program.row(-math.inf, amount, _add_up(emitted[year]), limit=limit)


def _emissions_of_work(program: LinearProgram, setting: PlanningContext) -> dict[int, RowEntries]:
    """By year, the emission of the hours of each column, above those of idle nodes."""
    resources = setting.market.resources
    emitted: dict[int, RowEntries] = defaultdict(list)
    for number, column in enumerate(program.columns):
        if column.kind in ("work", "ready", "pooled") and column.node_hours:
            resource = resources[program.steps[column.owner].candidate.resource]
            kg = node_energy(resource, setting.rules.carbon, setting.assumptions).extra_kg_per_hour
            assert kg is not None, resource.title  # unknown ones are no candidates under this limit
            emitted[budget_year(column.month)].append((number, kg * column.node_hours))
    return emitted


def _add_up(entries: RowEntries) -> RowEntries:
    """The entries of a row with each column once, without zeros."""
    sums: dict[int, float] = defaultdict(float)
    for number, value in entries:
        sums[number] += value
    return [(number, value) for number, value in sums.items() if value]


def _add_spot_rows(program: LinearProgram, setting: PlanningContext) -> None:
    """Of the work of each month (for a deadline: of all) at most a share on nodes that may be taken back."""
    resources = setting.market.resources
    done: dict[tuple[int, int], RowEntries] = defaultdict(list)
    for number, column in enumerate(program.columns):
        if column.kind != "work":
            continue
        candidate = program.steps[column.owner].candidate
        if resources[candidate.resource].interrupts:
            done[candidate.need, column.task[1]].append((number, column.units))
    for (index, month), entries in sorted(done.items()):
        need = setting.demands.needs[index]
        if need.serving:
            continue  # whole replicas of each block: the upper bound of their columns
        share = setting.rules.spot_share(need)
        if share < 1:
            total = need.total if need.deadline is not None else need.monthly[month - 1]
            limit = RequestLimit("spot_fraction_max", need.workload.name, share, "of the work")
            program.row(-math.inf, share, [(f, units / total) for f, units in entries], limit=limit)


def _add_site_rows(
    program: LinearProgram, setting: PlanningContext, there: StartColumns, each: dict[int, float], limit: RequestLimit
) -> None:
    """The use of the site by all owned nodes that are delivered, in each month."""
    for month in range(1, setting.terms.months + 1):
        entries = [(y, amount) for index, amount in each.items() for y in there.get((index, month), ())]
        program.row(-math.inf, limit.amount, entries, limit=limit)


def _delivered_start_columns(
    program: LinearProgram, setting: PlanningContext, shared: Sequence[SharedResource]
) -> StartColumns:
    """The start columns of owned nodes by the months in which they are on site: from delivery, before they work."""
    start_columns: StartColumns = defaultdict(list)
    for number, column in enumerate(program.columns):
        if column.kind != "start" or shared[column.owner].resource.node is None:
            continue
        for month in delivered_months(shared[column.owner].resource, column.month, setting.assumptions, setting.terms):
            start_columns[column.owner, month].append(number)
    return start_columns


def _add_budget_rows(program: LinearProgram, setting: PlanningContext, shared: Sequence[SharedResource]) -> None:
    """Payments in each year of the plan, for hardware and for all else. Receipts of a resale lower neither."""
    limits, months = setting.rules.limits, setting.terms.months
    paid: dict[tuple[bool, int], RowEntries] = defaultdict(list)
    for number, column in enumerate(program.columns):
        for is_capital, year, amount in _yearly_payments(program, number, column, setting, shared):
            paid[is_capital, year].append((number, amount))
    for name, yearly, is_capital in (
        ("capex_per_year", limits.capex_per_year, True),
        ("opex_per_year", limits.opex_per_year, False),
    ):
        for year, amount in enumerate(budget_by_year(yearly, months) if yearly is not None else ()):
            limit = RequestLimit(name, f"year {year + 1}", amount, "a year")
            program.row(-math.inf, amount, paid[is_capital, year], limit=limit)


def _yearly_payments(
    program: LinearProgram,
    number: int,
    column: ProgramColumn,
    setting: PlanningContext,
    shared: Sequence[SharedResource],
) -> Iterator[tuple[bool, int, float]]:
    """Whether it is capital, the year (from 0) and the amount that one unit of a column pays."""
    terms = setting.terms
    if column.kind == "start":
        sums: dict[tuple[bool, int], list[float]] = defaultdict(list)
        for payment in resource_payments(shared[column.owner].resource, column.month, 1, setting.assumptions, terms):
            if payment.amount > 0 and payment.category != "resale":
                sums[payment.category in CAPEX_CATEGORIES, budget_year(payment.month)].append(payment.amount)
        existing = shared[column.owner].resource.held
        for (is_capital, year), amounts in sorted(sums.items()):
            yield is_capital, year, math.fsum(amounts) / (existing.count if existing is not None else 1)
    elif program.cost[number]:
        # Costs of the program are present values; a budget counts the amount paid.
        now = discount_factor(column.month, "end", terms.discount_rate_monthly)
        yield False, budget_year(column.month), program.cost[number] / now


def _add_operator_rows(
    program: LinearProgram, setting: PlanningContext, nodes: Sequence[tuple[int, SharedResource]], there: StartColumns
) -> None:
    """Operators are hired one by one: enough for all accelerators owned, and a least number where there are any."""
    a, terms = setting.assumptions, setting.terms
    least = a["staff_minimum"].value
    for month in range(1, terms.months + 1):
        node_entries = [
            (y, float(item.resource.node.accelerators))
            for index, item in nodes
            for y in there.get((index, month), ())
            if item.resource.node is not None
        ]
        if not node_entries:
            continue
        cost = present_cost(onprem.staff_payments(month, 1, a), terms.discount_rate_monthly)
        most = (
            math.fsum(program.upper[y] * count for y, count in node_entries) / a["accelerators_per_staff"].value + least
        )
        # s operators serve s x accelerators_per_staff accelerators. z is 1 where a node is owned (y <= upper x z), and
        # then there are at least `least` operators (least x z <= s).
        s = program.column(ProgramColumn("staff", -1, month), cost, math.ceil(most), whole=True)
        program.row(-math.inf, 0.0, [*node_entries, (s, -a["accelerators_per_staff"].value)])
        z = program.column(ProgramColumn("any", -1, month), 0.0, 1.0, whole=True)
        program.row(-math.inf, 0.0, [(z, least), (s, -1.0)])
        for y, _ in node_entries:
            program.row(-math.inf, 0.0, [(y, 1.0), (z, -program.upper[y])])


def _add_support_minimum_rows(
    program: LinearProgram, setting: PlanningContext, shared: Sequence[SharedResource]
) -> None:
    """In a month with a cloud bill or a commitment in effect, the support plan costs at least its minimum fee:
    top_up + support >= fee x z, where z is 1 as soon as anything is billed or committed to in the month."""
    terms, a = setting.terms, setting.assumptions
    support: dict[int, RowEntries] = defaultdict(list)
    using: dict[int, list[int]] = defaultdict(list)
    shares: dict[tuple[int, DemandTask], list[int]] = defaultdict(list)
    for number, column in enumerate(program.columns):
        if column.kind == "start" and shared[column.owner].resource.node is None:
            resource = shared[column.owner].resource
            fees: dict[int, list[float]] = {at: [] for at in committed_months(resource, column.month, a, terms)}
            for payment in resource_payments(resource, column.month, 1, a, terms):
                of_month = fees.setdefault(payment.month, [])
                of_month += [payment.amount] if payment.category == "cloud_support" else []
            for month, amounts in fees.items():
                using[month].append(number)
                if amounts:
                    support[month].append((number, math.fsum(amounts)))
        elif column.kind in ("work", "ready", "pooled") and program.cost[number]:
            step = program.steps[column.owner]
            if setting.market.resources[step.candidate.resource].node is None:
                # A column of use costs bill x bill factor, discounted; the support plan is its fraction of the bill.
                bill = program.cost[number] / discount_factor(column.month, "end", terms.discount_rate_monthly)
                share = terms.cloud_support_fraction / terms.bill_factor
                support[column.month].append((number, bill * share))
                if column.kind == "work":
                    shares[column.month, column.task].append(number)
                else:
                    using[column.month].append(number)
    least = a["cloud_support_minimum_per_month"].value
    for month in sorted({*using, *(month for month, _ in shares)}):
        cost = present_cost(support_minimum_payments(month, 1.0, terms), terms.discount_rate_monthly)
        top = program.column(ProgramColumn("top_up", -1, month), cost, least, whole=False)
        z = program.column(ProgramColumn("any", -1, month), 0.0, 1.0, whole=True)
        program.row(0.0, math.inf, [(top, 1.0), *support[month], (z, -least)])
        for number in using[month]:
            program.row(-math.inf, 0.0, [(number, 1.0), (z, -max(program.upper[number], 1.0))])
        # The shares of one task are at most 1 together: one row for all of them binds z far more than one for each.
        for numbers in (each for (at, _), each in shares.items() if at == month):
            program.row(-math.inf, 0.0, [*((number, 1.0) for number in numbers), (z, -1.0)])


def _add_quota_rows(
    program: LinearProgram, setting: PlanningContext, shared: Sequence[SharedResource], started: StartColumns
) -> None:
    """No more nodes at once than each quota leaves, counted as `supply.quotas` does: whole nodes of each type
    and purchase option, whole gangs, the busiest hours of different workloads added up, unless they share nodes. What
    is less than the solver's tolerance is not added up, but is on no less than one node."""
    running, small = _peak_hourly_nodes(program, setting)
    for index, item in enumerate(shared):
        if item.resource.held is None and item.resource.unit != "money" and setting.rules.counted(item.resource):
            days = setting.terms.hours_per_month / HOURS_PER_DAY
            each = 1.0 / days if item.by_month else 1.0
            for month in range(1, setting.terms.months + 1):
                for y in started.get((index, month), ()):
                    running[item.resource.key, month].append((y, each))
    counted = {resource.key: setting.rules.counted(resource) for resource in _all_resources(setting, shared)}
    quota_entries: dict[tuple[tuple[str, str, str], int], RowEntries] = defaultdict(list)
    for (key, month), entries in sorted(running.items()):
        n = program.column(ProgramColumn("nodes", -1, month), 0.0, math.inf, whole=True)
        program.row(-math.inf, 0.0, [*entries, (n, -1.0)])
        for entry in small[key, month]:
            program.row(-math.inf, 0.0, [entry, (n, -1.0)])
        for quota, each in counted[key]:
            quota_entries[quota.key, month].append((n, each))
    for quota in setting.rules.quotas:
        free = max(quota.limit - (quota.used or 0.0), 0.0)
        limit = RequestLimit("quota", " ".join(quota.key), free, quota.unit)
        for month in range(1, setting.terms.months + 1):
            program.row(-math.inf, free, quota_entries[quota.key, month], limit=limit)


def _all_resources(setting: PlanningContext, shared: Sequence[SharedResource]) -> Iterator[Resource]:
    yield from setting.market.resources
    yield from (item.resource for item in shared)


def _peak_hourly_nodes(
    program: LinearProgram, setting: PlanningContext
) -> tuple[dict[tuple[tuple[str, ...], int], RowEntries], dict[tuple[tuple[str, ...], int], RowEntries]]:
    """The most nodes at once of each resource by the hour that counts against a quota, by month; and the columns of
    work that needs next to nothing of a node there, with the nodes that it needs nevertheless."""
    hours, resources = setting.demands.block_hours, setting.market.resources
    is_counted = [bool(setting.rules.counted(resource)) for resource in resources]
    blocks: dict[tuple[int, int], RowEntries] = defaultdict(list)
    for number, column in enumerate(program.columns):
        if column.kind not in ("work", "ready", "pooled") or not column.node_hours:
            continue
        step = program.steps[column.owner]
        if step.by_hour and is_counted[step.candidate.resource]:
            length = math.fsum(hours) if column.block == ANY_HOUR else hours[column.block]
            # pooled nodes are of all who share them: the owner of the column is only one of those
            owner = column.owner if column.kind != "pooled" else -1 - step.candidate.resource
            blocks[owner, column.month].append((number, column.node_hours / length))
    entries_by_resource: dict[tuple[tuple[str, ...], int], RowEntries] = defaultdict(list)
    small: dict[tuple[tuple[str, ...], int], RowEntries] = defaultdict(list)
    for (owner, month), entries in sorted(blocks.items()):
        is_pool = owner < 0
        resource = -1 - owner if is_pool else program.steps[owner].candidate.resource
        at = resources[resource].key, month
        span = 1.0 if is_pool else float(program.steps[owner].candidate.nodes_per_gang)
        # Of work only: a unit of ready or pooled nodes is an accelerator of one at least.
        small[at] += [(number, span) for number, nodes in entries if nodes < SMALL_NODES]
        of_resource = entries_by_resource[at]
        if max(nodes for _, nodes in entries) < ROUNDING:
            continue
        peak = program.column(ProgramColumn("peak", owner, month), 0.0, math.inf, whole=span > 1)
        for entry in entries:
            program.row(-math.inf, 0.0, [entry, (peak, -span)])
        of_resource.append((peak, span))
    return entries_by_resource, small
