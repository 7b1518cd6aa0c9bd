"""Cost by cost centre as sections of the readable report: totals with budgets, and each month."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from planner.reports._content.cash_flow import month_totals
from planner.reports._content.number_format import (
    NO_VALUE,
    apportion,
    format_money,
    format_signed,
    month_name,
    split_both_ways,
)
from planner.reports._content.sections import (
    Bullets,
    ReportTable,
    Section,
    make_bullets,
    make_table,
    recommended_strategy,
)
from planner.result import Plan
from planner.result.financial_views import CostCentreMonth
from pricing.counted_nouns import format_count

NO_TEAM = "no team"
TITLES = (
    "cost centre", "cash", "effective", "of it idle", "of it shared", "with a budget", "budget", "variance",
    "months over",
)  # fmt: skip
NOTE = (
    "Effective: amortised, purchases spread over the months they serve. Idle: unused hours of commitments and owned "
    "nodes, charged to whoever uses the rest. Shared: operators and the least fee of the support plan, by other cost. "
)


def group_by_team(plan: Plan) -> dict[str, list[CostCentreMonth]]:
    """The rows of each cost centre in order of time, the largest first; by display name."""
    teams: dict[str, list[CostCentreMonth]] = {}
    for row in plan.views.cost_centres:
        teams.setdefault(row.team or NO_TEAM, []).append(row)
    return dict(sorted(teams.items(), key=lambda team: -math.fsum(row.effective for row in team[1])))


def cost_centre_section(plan: Plan, listed: int | None = None) -> Section | None:
    """Totals by cost centre, the largest `listed` by name, and budgets that are passed; None without cost centres."""
    teams = group_by_team(plan)
    if not teams:
        return None
    groups = list(teams.items())
    if listed is not None and len(groups) > listed:
        rest = groups[listed - 1 :]
        groups = [*groups[: listed - 1], (f"{len(rest)} others", [row for _, its in rest for row in its])]
    cash, effective = (_whole_totals([rows for _, rows in groups], view) for view in ("cash", "effective"))
    rows = [
        (name, format_money(paid), format_money(amortised), *_detail_cells(rows))
        for (name, rows), paid, amortised in zip(groups, cash, effective, strict=True)
    ]
    every = [row for _, its in groups for row in its]
    rows.append(("total", format_money(sum(cash)), format_money(sum(effective)), *_detail_cells(every)[:-1], ""))
    columns = [c for c in range(len(TITLES)) if c < 3 or any(row[c] not in (NO_VALUE, "") for row in rows)]
    table = make_table(
        [TITLES[c] for c in columns], [[row[c] for c in columns] for row in rows], range(1, len(columns)),
        has_total=True,
    )  # fmt: skip
    blocks: list[str | ReportTable | Bullets] = [table]
    stated = [workload for workload in plan.workloads if workload.budget_per_month is not None]
    notes = []
    if stated:
        by = f"{len(stated)} of {format_count(len(plan.workloads), 'workload')}"
        notes = [f"Budgets are stated by {by}; with a budget: the effective cost of these, variance: that less it."]
    passed = _join_rest(list(budgets_passed(plan)), listed) or ["None is passed."] * bool(stated)
    if notes or passed:
        blocks.append(make_bullets([*notes, *passed]))
    return Section(f"Cost by cost centre, {plan.currency}", tuple(blocks))


def cost_centre_months_section(plan: Plan) -> Section | None:
    """Both views of each cost centre by month; None without cost centres."""
    teams = group_by_team(plan)
    if not teams:
        return None
    chosen, after = recommended_strategy(plan), plan.months + 1
    assert chosen is not None
    blocks: list[ReportTable] = []
    for view, by_month in zip(("cash", "effective"), month_totals(plan, chosen), strict=True):
        amounts = [
            [math.fsum(getattr(row, view) for row in rows if min(row.month, after) == month) for rows in teams.values()]
            for month in by_month
        ]
        cells = split_both_ways([*by_month.values()], _whole_totals(teams.values(), view), amounts)
        names = [month_name(plan, month) if month < after else "later" for month in by_month]
        rows = [[name, *map(format_money, (sum(its), *its))] for name, its in zip(names, cells, strict=True)]
        totals = [sum(its) for its in zip(*cells, strict=True)]
        rows.append(["total", *map(format_money, (sum(totals), *totals))])
        table = make_table(("month", view, *teams), rows, range(1, len(teams) + 2), has_total=True)
        if not blocks or table.rows != blocks[0].rows:
            blocks.append(table)
    return Section(f"Cost centres by month, {plan.currency}", (*blocks, NOTE))


def _whole_totals(groups: Iterable[Sequence[CostCentreMonth]], view: str) -> list[int]:
    """The totals of a view in whole units that add up."""
    return apportion([math.fsum(getattr(row, view) for row in rows) for rows in groups])


def budgets_passed(plan: Plan) -> Iterable[str]:
    """A sentence for each cost centre that passes its budget in some month, the largest excess first."""
    excess: list[tuple[float, str]] = []
    for name, rows in group_by_team(plan).items():
        over = [row for row in rows if _budget_excess(row) > 0]
        if not over:
            continue
        most, months = max(over, key=_budget_excess), sum(row.budget is not None for row in rows)
        largest, budget = _budget_excess(most), format_money(most.budget or 0.0)
        text = (
            f"{name} passes its budget of {budget} a month in {len(over)} of {format_count(months, 'month')}, most in"
        )
        excess.append((-largest, f"{text} {month_name(plan, most.month)} (+{format_money(largest)})."))
    return [text for _, text in sorted(excess)]


def _budget_excess(row: CostCentreMonth) -> float:
    """Over the budget by so much; 0 where less than half a unit, or without a budget."""
    return row.variance if row.variance is not None and round(row.variance) > 0 else 0.0


def _detail_cells(rows: Sequence[CostCentreMonth]) -> tuple[str, ...]:
    idle, shared = (math.fsum(each) for each in zip(*((row.idle, row.shared) for row in rows), strict=True))
    budgeted = [(row.budget, row.variance) for row in rows if row.budget is not None and row.variance is not None]
    if not budgeted:
        return format_money(idle), format_money(shared), NO_VALUE, NO_VALUE, NO_VALUE, NO_VALUE
    budget, variance = (math.fsum(each) for each in zip(*budgeted, strict=True))
    over = sum(_budget_excess(row) > 0 for row in rows)
    return (
        format_money(idle),
        format_money(shared),
        format_money(budget + variance),
        format_money(budget),
        format_signed(variance),
        str(over or NO_VALUE),
    )


def _join_rest(sentences: Sequence[str], listed: int | None) -> list[str]:
    if listed is None or len(sentences) <= listed:
        return [*sentences]
    return [*sentences[: listed - 1], f"{len(sentences) - listed + 1} more cost centres pass their budgets."]
