"""The sheet Summary: one page with the decision, the strategies side by side, the checks and the cumulative costs.

Live values that follow the inputs are separate from values computed with the plan.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from decimal import ROUND_HALF_UP, Decimal

from planner.reports._content.evidence import break_even_months, break_even_share, price_age_text
from planner.reports._content.number_format import format_percent, in_words
from planner.reports._content.plan_charts import STRATEGY_LINES
from planner.reports._content.risk import nearest_flip
from planner.reports._content.sections import headline, purchases_text, status_text
from planner.reports.xlsx.cash_flow_sheet import FIRST, CashFlowBlock
from planner.reports.xlsx.checks_sheet import AS_PLANNED, WRONG
from planner.reports.xlsx.workbook import HEADER_ROW, Cell, Formula, WorkbookSheet, a1, difference_formula, row_range
from planner.result import Plan
from pricing.counted_nouns import format_count

LABEL, WIDE = 40, 31
CHART_COLUMNS = (2, *(9 for _ in range(10)))
"""The columns of the chart, right of all others."""
BREAK_EVENS_MAX = 5
GAPS_MAX = 4
FINE = "percent_fine"
COMPARISON_MARK = " against plan"
"""In notes that compare a bill or an estimate with the plan."""
PASS, FAIL = "all checks pass", "CHECKS FAIL: see sheet Checks"
EDITED = "checks pass, with inputs or scenario changed; choices are unchanged"
NOT_RIGHT = "AN INPUT IS NO NUMBER OR OUT OF RANGE: see the states in Assumptions, Offers, Choices"
LIVE = "In this workbook now (live)"
PLANNED = "As planned (these do not follow changes: plan again)"

Row = tuple[str, list[Cell], str]
Fact = tuple[str, Cell, str]


def write(
    sheet: WorkbookSheet, plan: Plan, blocks: tuple[CashFlowBlock, ...], failed: Formula, cheapest: Formula | None
) -> None:
    """Writes the sheet, chart inside the print area. `failed`: how many checks; `cheapest`: the strategy that is."""
    columns = 1 + max(3, len(plan.strategies))
    all_columns = columns + len(CHART_COLUMNS) if blocks else columns
    sheet.widths((LABEL, *(WIDE for _ in range(columns - 1)), *CHART_COLUMNS))
    sheet.pages(1, 1)
    sheet.put(0, 0, f"GPU capacity plan {plan.start}, {format_count(plan.months, 'month')}", "title")
    by_name: dict[str, CashFlowBlock] = {block.strategy.name: block for block in blocks}
    live = _live_headline(plan, by_name)
    sheet.put_across(1, all_columns, live or headline(plan), "lead")
    reasons = "; ".join(map(str, (*plan.recommendation.reasons, *plan.reasons)))
    sheet.put_across(2, all_columns, reasons, "wrap")
    row = _put_strategies(sheet, plan, by_name, columns)
    row = _put_facts(sheet, row + 1, columns, LIVE, _live_facts(plan, by_name, failed, cheapest))
    row = _put_facts(sheet, row, columns, PLANNED, _planned_facts(plan))
    row = _put_break_even(sheet, plan, row + 1)
    if blocks:
        row = max(row, sheet.chart(HEADER_ROW, _cumulative_chart(sheet, plan, blocks), columns + 1))
    sheet.print_area(row, all_columns - 1)


def _live_headline(plan: Plan, blocks: Mapping[str, CashFlowBlock]) -> Formula | None:
    """The recommendation with the costs of this workbook now, and whether it still is the cheaper one; None without a
    recommendation."""
    chosen, rival = (blocks.get(name or "") for name in (plan.recommendation.strategy, plan.recommendation.runner_up))
    if chosen is None:
        return None
    advice, money = f"Recommended as planned: {chosen.strategy.name}. It now costs ", plan.currency
    over = f" {money} over {format_count(plan.months, 'month')}, present cost "
    text, value = _join_texts((advice, chosen.total_cost, over, chosen.present_cost, f" {money}"))
    if rival is not None:
        own, other = (each.present_cost.text.removeprefix("=") for each in (chosen, rival))
        saving = float(rival.present_cost.value) - float(chosen.present_cost.value)
        off = Formula(f"=ABS({other}-{own})", abs(saving))
        name = rival.strategy.name
        less, more = (f" {money} {word} than {name}" for word in ("less", "MORE"))
        formula, words = _join_texts((": ", off))
        text = f'{text}&{formula}&IF({own}<={other},"{less}","{more}: plan again")'
        value = f"{value}{words}{less if saving >= 0 else f'{more}: plan again'}"
    warning = ". Inputs are changed, choices are not."
    return Formula(f'={text}&IF({AS_PLANNED},".","{warning}")', f"{value}.")


def _join_texts(parts: Sequence[str | Formula]) -> tuple[str, str]:
    """Texts and whole amounts one after the other, as a formula and as they read now."""
    texts = [f'"{part}"' if isinstance(part, str) else f"FIXED({part.text.removeprefix('=')},0)" for part in parts]
    values = [part if isinstance(part, str) else _fixed_text(float(part.value)) for part in parts]
    return "&".join(texts), "".join(values)


def _fixed_text(amount: float) -> str:
    """What FIXED(amount, 0) writes: a half is rounded away from zero, in the 15 digits that a spreadsheet has."""
    return f"{Decimal(f'{amount:.15g}').quantize(Decimal(1), ROUND_HALF_UP):,}"


def _put_strategies(sheet: WorkbookSheet, plan: Plan, blocks: Mapping[str, CashFlowBlock], columns: int) -> int:
    strategies = plan.strategies
    names = [f"{s.name} (recommended)" if s.name == plan.recommendation.strategy else s.name for s in strategies]
    sheet.header(("strategy", *names))
    row = HEADER_ROW + 1
    for label, cells, style in _strategy_rows(plan, blocks, row):
        sheet.put(row, 0, label)
        for column, cell in enumerate(cells, start=1):
            sheet.put(row, column, cell, style if not isinstance(cell, str) else "right")
        row += 1
    for s in strategies:
        for reason in s.reasons:
            sheet.put_across(row, columns, f"{s.name}: {reason}", "wrap")
            row += 1
    return row


def _strategy_rows(plan: Plan, blocks: Mapping[str, CashFlowBlock], row: int) -> list[Row]:
    strategies, money = plan.strategies, plan.currency
    columns = range(1, len(strategies) + 1)
    present = [blocks[s.name].present_cost if s.name in blocks else None for s in strategies]
    total = [blocks[s.name].total_cost if s.name in blocks else None for s in strategies]
    least = min((float(cost.value) for cost in present if cost is not None), default=0.0)
    all_present = row_range(row + 1, 1, len(strategies))
    above: list[Cell] = [
        None if cost is None else Formula(f"={a1(row + 1, c)}-MIN({all_present})", float(cost.value) - least)
        for c, cost in zip(columns, present, strict=True)
    ]
    means: list[Cell] = [
        None if cost is None else Formula(f"={a1(row + 3, c)}/months_of_plan", float(cost.value) / plan.months)
        for c, cost in zip(columns, total, strict=True)
    ]
    return [
        ("status", [status_text(s) for s in strategies], "right"),
        (f"present cost, {money}", [*present], "money"),
        (f"more than the cheapest, {money}", above, "money"),
        (f"total cost, {money}", [*total], "money"),
        (f"mean cost a month, {money}", means, "money"),
        ("hardware purchases", [purchases_text(s, money, owned=True) for s in strategies], "right"),
        ("commitments", [purchases_text(s, money, owned=False) for s in strategies], "right"),
        *_draw_rows(plan),
        (f"as planned: proven bound, {money}", [s.bound if s.name in blocks else None for s in strategies], "money"),
        ("as planned: gap to the bound", [s.gap_fraction if s.name in blocks else None for s in strategies], FINE),
    ]


def _draw_rows(plan: Plan) -> list[Row]:
    """The share of draws in which each is the cheapest, and its cost without the best and the worst tenth."""
    if plan.risk is None:
        return []
    by_name = {each.strategy: each for each in plan.risk.strategies}
    strategy_risks = [by_name.get(s.name) for s in plan.strategies]
    costs: list[Cell] = [None if one is None else f"{one.p10:,.0f} to {one.p90:,.0f}" for one in strategy_risks]
    chances: list[Cell] = [None if one is None else one.chance_cheapest for one in strategy_risks]
    return [
        (f"as planned: 8 draws of 10 cost, {plan.currency}", costs, "right"),
        ("as planned: cheapest in so many draws", chances, "percent"),
    ]


def _live_facts(
    plan: Plan, blocks: Mapping[str, CashFlowBlock], failed: Formula, cheapest: Formula | None
) -> list[Fact]:
    """Values that follow the inputs."""
    check, money = failed.text.removeprefix("="), plan.currency
    state = f'IF({check}=0,IF({AS_PLANNED},"{PASS}","{EDITED}"),"{FAIL}")'
    checks = Formula(f'=IF({WRONG}>0,"{NOT_RIGHT}",{state})', PASS if failed.value == 0 else FAIL)
    facts: list[Fact] = [("checks", checks, "wrap")]
    if cheapest is not None:
        there = cheapest.text.removeprefix("=")
        changed = f'{there}&": as planned it was {cheapest.value}, plan again"'
        live = Formula(f'=IF({there}="{cheapest.value}",{there},{changed})', cheapest.value)
        facts.append(("cheapest by present cost", live, "text"))
    advice = plan.recommendation
    if advice.strategy and advice.runner_up:
        cost, other = blocks[advice.strategy].present_cost, blocks[advice.runner_up].present_cost
        cells = [each.text.removeprefix("=") for each in (cost, other)]
        saving = float(other.value) - float(cost.value)
        saved = Formula(f"={cells[1]}-{cells[0]}", saving)
        share: Cell = None
        if other.value:
            share = difference_formula("1", f"{cells[0]}/{cells[1]}", saving / float(other.value), digits=3)
        facts.append((f"saves on {advice.runner_up} (red: costs more), {money}", saved, "money"))
        facts.append(("the same as a share", share, "percent"))
    return facts


def _planned_facts(plan: Plan) -> list[Fact]:
    """Values computed with the plan."""
    certainty = "not analysed: plan with --risk"
    if plan.risk is not None:
        chances = {each.strategy: each.chance_cheapest for each in plan.risk.strategies}
        chance = format_percent(chances.get(plan.recommendation.strategy or "", 0.0))
        certainty = f"the recommended strategy is the cheapest in {chance} of {plan.risk.draws:,d} draws"
    kinds = Counter(in_words(gap.kind) for gap in plan.gaps).most_common()
    gaps = [f"{count} {kind}" for kind, count in kinds[:GAPS_MAX]]
    if len(kinds) > GAPS_MAX:
        gaps.append(f"{sum(count for _, count in kinds[GAPS_MAX:])} of other kinds")
    return [
        ("recommendation", headline(plan), "wrap"),
        ("runner-up", plan.recommendation.runner_up or "none", "text"),
        ("nearest switching value", nearest_flip(plan) or "none within the range searched", "wrap"),
        ("certainty of the result", certainty, "wrap"),
        *(("against today", note, "wrap") for note in plan.inputs.notes if COMPARISON_MARK in note),
        ("date of the plan", plan.as_of, "date"),
        ("oldest price", price_age_text(plan), "text"),
        (f"gaps: {len(plan.gaps)}, in sheet Gaps", ", ".join(gaps) or "none", "wrap"),
        ("input", plan.inputs.name, "wrap"),
    ]


def _put_facts(sheet: WorkbookSheet, row: int, columns: int, title: str, facts: list[Fact]) -> int:
    """A heading and a row for each fact; the row after the last."""
    sheet.put_block_title(row, title, columns)
    for label, cell, style in facts:
        row += 1
        sheet.put(row, 0, label)
        if isinstance(cell, str) and style == "wrap":
            sheet.put_across(row, columns, cell, style, first=1)
        else:
            sheet.put(row, 1, cell, style)
        if label == "checks":
            # green while all pass, amber once an input is changed, red where one fails or an input cannot be right
            good, warn = (f'LEFT({a1(row, 1)},{len(words)})="{words}"' for words in (PASS, EDITED))
            sheet.mark(row, 1, row, {"good": good, "warn": warn, "bad": f"NOT(OR({good},{warn}))"})
    return row + 1


def _put_break_even(sheet: WorkbookSheet, plan: Plan, row: int) -> int:
    if not plan.break_even:
        return row
    heads = ("as planned, break-even: owning", "against renting", "months from delivery", "at a share of hours used")
    sheet.header(heads, row)
    for point in plan.break_even[:BREAK_EVENS_MAX]:
        row += 1
        cells = (point.system, point.rented, break_even_months(point), break_even_share(point))
        sheet.put_row(row, cells, ("wrap", "wrap", "right", "right"))
    if len(plan.break_even) > BREAK_EVENS_MAX:
        row += 1
        sheet.put(row, 0, f"{len(plan.break_even) - BREAK_EVENS_MAX} more in sheet Break-even", "note")
    return row + 1


def _cumulative_chart(sheet: WorkbookSheet, plan: Plan, blocks: tuple[CashFlowBlock, ...]) -> object:
    last = FIRST + plan.months - blocks[0].months[0]
    series: list[dict[str, object]] = [
        {
            "name": block.strategy.name,
            "categories": ["Cash flow", HEADER_ROW, FIRST, HEADER_ROW, last],
            "values": ["Cash flow", block.cumulative_row, FIRST, block.cumulative_row, last],
            "line": dict(zip(("color", "width"), STRATEGY_LINES[block.strategy.name], strict=True)),
        }
        for block in blocks
    ]
    return sheet.book.line_chart("Cumulative cost by strategy", plan.currency, series)
