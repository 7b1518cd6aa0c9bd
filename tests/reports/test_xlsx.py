"""The workbook: formulas against stored values, sums by hand, hostile text, and what a review expects."""

import dataclasses
import io
import re
import zipfile
from datetime import date

import openpyxl
import pytest

from planner.reports._content.repricing import HIGH_COST, LOW_COST, LedgerRepricing
from planner.reports.xlsx import render

FAIL = "CHECKS FAIL: see sheet Checks"


@pytest.fixture
def live(sheets, small_plan):
    """The small plan's workbook, computed here."""
    return sheets.Sheets(render(small_plan))


@pytest.fixture
def stored(sheets):
    return sheets.stored


def find(book, sheet, label, column=0):
    """The row (from 1) of the first cell of a column that has this text."""
    return next(row[column].row for row in book.book[sheet].iter_rows() if row[column].value == label)


def line(book, sheet, label):
    """The numbers of the first row with this label."""
    row = next(row for row in book[sheet].iter_rows(values_only=True) if row[0] == label)
    return [cell for cell in row[1:] if cell is not None]


def checks_failed(book):
    """What the master check counts, and what the Summary says."""
    return book.value("Checks", f"F{find(book, 'Checks', 'checks failed (master check)')}"), book.value(
        "Summary", f"B{find(book, 'Summary', 'checks')}"
    )


@pytest.mark.one_in(9)
def test_every_stored_value_is_what_the_formula_gives(plan, sheets):
    data = render(plan)
    computed, values = sheets.Sheets(data), sheets.stored(data)
    formulas = list(computed.formulas())
    assert formulas
    for sheet, address, text in formulas:
        value, kept = computed.value(sheet, address), sheets.at(values[sheet], address)
        assert kept == (pytest.approx(value, rel=1e-9, abs=1e-6) if isinstance(value, int | float) else value), text


def test_totals_by_hand(small_plan, stored):
    values = stored(render(small_plan))["Cash flow"]
    rows = [row for row in values if row[0] in ("total", "cumulative", "discounted (present cost)")]
    # cloud: 58,400 + 5,000 + 12.50 = 63,412.50 a month, 190,237.50 in all
    assert rows[0][2:] == [190237.5, 63412.5, 63412.5, 63412.5]
    assert rows[1][3:] == [63412.5, 126825.0, 190237.5]
    # at 8 % a year: 63,412.50 x (1.08^(-1/12) + 1.08^(-2/12) + 1.08^(-3/12))
    assert rows[2][2] == pytest.approx(63412.5 * (1.08 ** (-1 / 12) + 1.08 ** (-1 / 6) + 1.08 ** (-1 / 4)))
    # hybrid: 18,250 + 29,200 + 5,000 + 12.50 = 52,462.50 a month
    assert rows[3][2:] == [157387.5, 52462.5, 52462.5, 52462.5]


@pytest.mark.one_in(3)
def test_all_checks_pass_and_the_master_check_counts_the_failures(plan, stored):
    values = stored(render(plan))
    master = next(row for row in values["Checks"] if str(row[0]).startswith("checks failed"))
    assert master[5] == 0
    assert any("all checks pass" in row for row in values["Summary"])


def test_a_plan_that_contradicts_itself_fails_its_check(small_plan, stored):
    cloud, onprem, hybrid = small_plan.strategies
    wrong = dataclasses.replace(
        small_plan, strategies=(cloud, onprem, dataclasses.replace(hybrid, total_cost=157388.5))
    )
    values = stored(render(wrong))
    failed = [row[0] for row in values["Checks"] if row[5] == 1 and row[0] and "master" not in row[0]]
    assert failed == ["hybrid: total cost"]
    assert any(FAIL in row for row in values["Summary"])


def test_the_discount_rate_is_live(live):
    before = live.value("Summary", "B6")
    live.edit("Assumptions", f"C{find(live, 'Assumptions', 'discount_rate_annual')}", 0.0)
    # undiscounted, the present cost is the total cost
    assert before < 190237.5
    assert live.value("Summary", "B6") == pytest.approx(190237.5)
    # a changed rate is no failed check, and the Summary says that something was changed
    assert checks_failed(live) == (0, "checks pass, with inputs or scenario changed; choices are unchanged")


def test_an_offer_is_live(live):
    """On demand at 50 an hour instead of 40: 1,460 node-hours a month in cloud, 730 in hybrid, for three months."""
    live.edit("Offers", "F5", 50.0)
    rows = [row[0].row for row in live.book["Cash flow"].iter_rows() if row[0].value == "total"]
    cloud, hybrid = (live.value("Cash flow", f"C{row}") for row in rows)
    assert cloud == pytest.approx(190237.5 + 3 * 1460 * 10)
    assert hybrid == pytest.approx(157387.5 + 3 * 730 * 10)
    assert live.value("Bridge", f"B{find(live, 'Bridge', 'on demand')}") > 0
    assert live.value("Workloads", "A5") == "llm training"
    assert checks_failed(live)[0] == 0


def test_hours_of_a_month_are_live_where_a_commitment_is_by_the_hour(live):
    """A committed node at 25 an hour over 700 hours a month: 17,500 instead of 18,250 in each of three months."""
    live.edit("Assumptions", f"C{find(live, 'Assumptions', 'hours_per_month')}", 700.0)
    total = [row[0].row for row in live.book["Cash flow"].iter_rows() if row[0].value == "total"][1]
    assert live.value("Cash flow", f"C{total}") == pytest.approx(157387.5 - 3 * 750)
    effective = [row[0].row for row in live.book["Effective cost"].iter_rows() if row[0].value == "total"][1]
    assert live.value("Effective cost", f"D{effective}") == pytest.approx(52462.5 - 750)


def test_a_choice_is_live_and_no_check_fails_of_an_edited_plan(live):
    """One node-hour more of embedding in the second month of cloud: 10 USD."""
    row = next(row[0].row for row in live.book["Choices"].iter_rows() if row[3].value == "embedding")
    column = next(cell.column_letter for cell in live.book["Choices"][4] if cell.value == "2027-01")
    live.edit("Choices", f"{column}{row}", 501.0)
    total = find(live, "Cash flow", "total")
    assert live.value("Cash flow", f"C{total}") == pytest.approx(190247.5)
    assert live.value(*live.named("inputs_changed")) == 1
    assert checks_failed(live)[0] == 0


@pytest.mark.one_in(6)
@pytest.mark.parametrize("scenario", [LOW_COST, HIGH_COST])
def test_a_scenario_pays_the_plan_again(live, small_plan, scenario):
    """Only the discount rate has a range that payments look at: 14 % is the cheap end, 6 % the dear one."""
    live.edit(*live.named("scenario"), scenario)
    rate = {LOW_COST: 0.14, HIGH_COST: 0.06}[scenario]
    worth = sum(52462.5 * (1 + rate) ** (-month / 12) for month in (1, 2, 3))
    row = [row[0].row for row in live.book["Cash flow"].iter_rows() if row[0].value == "discounted (present cost)"][1]
    assert live.value("Cash flow", f"C{row}") == pytest.approx(worth)
    assert LedgerRepricing(small_plan).costs("hybrid", LedgerRepricing(small_plan).moves(scenario))[1] == pytest.approx(
        worth
    )
    column = {LOW_COST: "D", HIGH_COST: "E"}[scenario]
    assert live.value("Scenarios", f"{column}8") == pytest.approx(live.value("Scenarios", "H8"))
    assert checks_failed(live)[0] == 0


def test_a_scenario_that_is_not_what_is_stored_fails_its_check(live):
    live.edit(*live.named("scenario"), HIGH_COST)
    live.edit("Scenarios", "E8", 1.0)
    assert checks_failed(live) == (1, FAIL)


def test_the_tornado_is_sorted_and_its_chart_reads_it(live, small_plan):
    """Hybrid pays 52,462.50 at the end of three months: at 6 % it costs more, at 14 % less."""
    first = find(live, "Sensitivity", "figure") + 1
    assert live.book["Sensitivity"].cell(first, 1).value == "discount_rate_annual"
    low, high = (
        sum(52462.5 * (1 + rate) ** (-m / 12) for m in (1, 2, 3)) - small_plan.strategy("hybrid").present_cost
        for rate in (0.06, 0.14)
    )
    assert [live.value("Sensitivity", f"{column}{first}") for column in "IJ"] == [round(low, 2), round(high, 2)]
    chart = live.book["Sensitivity"]._charts[0]
    assert [series.val.numRef.f for series in chart.series] == [f"Sensitivity!${column}${first}" for column in "IJ"]
    assert chart.anchor.to.row < first


def test_returns_and_taxes_are_live(long_plan, sheets):
    """Owning: time 0 pays 300,000 against nothing; time 1 saves nothing, time 7 saves 12,000.25 - 107.40.

    At no interest the net present value is what is saved in all, and depreciation is worth 0.21 x (300,000 - 50,000).
    """
    book = sheets.Sheets(render(long_plan))
    rows = {row[0].value: row[0].row for row in book.book["Owning"].iter_rows() if row[0].value}
    assert [book.value("Owning", f"{column}{rows['saved']}") for column in "CDJ"] == [-300000.0, 0.0, 11892.85]
    present = f"B{rows['saved, discounted (net present value)']}"
    planned = long_plan.views.owning[0].net_present_value
    assert book.value("Owning", present) == pytest.approx(planned)
    book.edit("Assumptions", f"C{find(book, 'Assumptions', 'discount_rate_annual')}", 0.0)
    saved = long_plan.strategy("cloud").total_cost - long_plan.strategy("hybrid").total_cost
    assert book.value("Owning", present) == pytest.approx(saved)
    total = next(row[0].row for row in book.book["Depreciation"].iter_rows() if row[0].value == "total")
    assert book.value("Depreciation", f"L{total}") == pytest.approx(0.21 * 250000)


def test_text_from_outside_is_never_part_of_a_formula(hostile_plan, small_plan, sheets):
    """The hostile plan has the numbers of the small one, so its formulas must be the same, letter by letter."""
    hostile = list(sheets.Sheets(render(hostile_plan)).formulas())
    assert hostile == list(sheets.Sheets(render(small_plan)).formulas())


def test_there_is_no_link_no_macro_and_no_hidden_sheet(hostile_plan):
    data = render(hostile_plan)
    with zipfile.ZipFile(io.BytesIO(data)) as parts:
        names = parts.namelist()
        sheets_text = b"".join(parts.read(name) for name in names if "worksheets/" in name)
        strings = parts.read("xl/sharedStrings.xml").decode()
    assert not [name for name in names if "external" in name.lower() or "vba" in name.lower()]
    assert b"<hyperlink" not in sheets_text
    assert "<si><r>" not in strings
    assert {sheet.sheet_state for sheet in openpyxl.load_workbook(io.BytesIO(data))} == {"visible"}


def test_hostile_text_is_kept_as_text(hostile_plan, stored):
    values = stored(render(hostile_plan))
    names = [row[0] for row in values["Workloads"]]
    for workload in hostile_plan.workloads:
        assert re.sub(r"\s+", "", workload.name) in [re.sub(r"\s+", "", str(name)) for name in names]
    assert "<r><t>rich</t></r> " in {cell for rows in values.values() for row in rows for cell in row}


def test_a_text_too_long_for_a_cell_is_cut_and_says_so(small_plan, stored):
    gap = dataclasses.replace(small_plan.gaps[0], effect="y" * 40000)
    values = stored(render(dataclasses.replace(small_plan, gaps=(gap,))))["Gaps"]
    assert values[4][2].endswith("y ... (cut here)")


def test_sheets_are_set_up_for_a_review(small_plan):
    data = render(small_plan)
    book = openpyxl.load_workbook(io.BytesIO(data))
    expected = [
        "Summary", "Cash", "Orders", "Risks and sources", "Contents", "Assumptions", "Cash flow", "Effective cost",
        "Bridge", "Scenarios", "Sensitivity", "Break-even", "Workloads", "Unit economics", "Purchases", "Gaps",
        "Offers", "Choices", "Payments", "Shares", "Workload costs", "Demand", "Resources", "Throughput", "As read",
        "Sources", "Checks",
    ]  # fmt: skip
    assert book.sheetnames == expected
    for sheet in book:
        assert sheet.page_setup.orientation == "landscape"
        assert sheet.sheet_properties.pageSetUpPr.fitToPage
        assert sheet.freeze_panes
        assert "Page" in sheet.oddFooter.center.text
    assert book["Cash flow"]["C4"].value == "total"
    assert "[Red](" in book["Cash flow"]["C8"].number_format
    for sheet in ("Summary", "Sensitivity"):
        chart = book[sheet]._charts[0]
        last = int(re.search(r"\d+$", book[sheet].print_area)[0])
        assert chart.anchor.to.row < last
    assert {"discount_rate_annual", "discount_rate_monthly", "pue", "scenario", "inputs_changed"} <= set(
        book.defined_names
    )


def test_the_chart_shows_the_cumulative_costs(small_plan):
    book = openpyxl.load_workbook(io.BytesIO(render(small_plan)))
    for series in book["Summary"]._charts[0].series:
        sheet, cells = series.val.numRef.f.split("!")
        row = book[sheet.strip("'")][cells.replace("$", "")][0]
        assert book["Cash flow"].cell(row[0].row, 1).value == "cumulative"
        assert len(row) == small_plan.months


def test_the_date_of_the_file_is_that_of_the_plan(small_plan):
    assert openpyxl.load_workbook(io.BytesIO(render(small_plan))).properties.created.date() == date(2026, 11, 21)


def test_names_that_look_like_addresses_get_no_name(small_plan):
    odd = tuple(dataclasses.replace(small_plan.assumptions[1], name=name) for name in ("abc1", "r1c1", "Sum(1)", "x y"))
    book = openpyxl.load_workbook(io.BytesIO(render(dataclasses.replace(small_plan, assumptions=odd))))
    assert not {"abc1", "r1c1", "Sum(1)", "x y"} & set(book.defined_names)
    # the rate of the plan stands in the sheet even if no assumption is called so
    assert "discount_rate_annual" in book.defined_names


def test_an_impossible_plan_has_a_workbook_too(impossible_plan, stored):
    values = stored(render(impossible_plan))
    texts = {cell for row in values["Summary"] for cell in row}
    assert "No plan is possible: no accelerator has 2,000 GiB." in texts
    assert "onprem: onprem: no accelerator has 2,000 GiB" in texts
