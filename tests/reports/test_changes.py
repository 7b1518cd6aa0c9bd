"""The sheet Changes and its words in the reports, of plans made by hand; and what a spreadsheet program makes of it."""

from __future__ import annotations

import dataclasses
import importlib.util
import io
import re
from datetime import date
from pathlib import Path

import openpyxl
import pytest

from planner.analysis.comparison import build_review_record, list_changes
from planner.application import read_review
from planner.messages import with_texts
from planner.reports import markdown, text
from planner.reports.xlsx import render
from planner.result import CashRow
from planner.result.audit_trail import AuditTrail

THEN, NOW, DIFFERENCE, TOTAL, PRESENT = 2, 3, 4, 6, 7


def _load(name):
    """A module of tests beside this one: tests are no package."""
    spec = importlib.util.spec_from_file_location(f"reports_{name}", Path(__file__).parent / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


by_hand = _load("by_hand")


def dearer(plan):
    """The plan a month later with a fee of 100 a month in hybrid, another price, a gap closed and one assumption moved.

    Hybrid was 3 x (18,250 + 29,200 + 5,000 + 12.50) = 157,387.50 and is 157,687.50.
    """
    hybrid = plan.strategy("hybrid")
    cash = [*hybrid.cash, *(CashRow(month, "end", "support", "a fee", 100.0) for month in (1, 2, 3))]
    more = {name: getattr(hybrid, name) for name in ("purchases", "uses", "workloads")}
    strategies = (*plan.strategies[:2], by_hand.strategy("hybrid", cash, **more))
    prices = (dataclasses.replace(plan.prices[0], price_per_hour=41.5, as_of=date(2026, 12, 1)), *plan.prices[1:])
    lead = dataclasses.replace(plan.assumptions[2], value=6, source="a letter", as_of=date(2026, 12, 2))
    return dataclasses.replace(
        plan,
        plan_id="fedcba9876543210",
        as_of=date(2026, 12, 21),
        start="2027-01",
        month_names=("2027-01", "2027-02", "2027-03"),
        strategies=strategies,
        prices=prices,
        assumptions=(*plan.assumptions[:2], lead),
        gaps=plan.gaps[1:],
        ledger=AuditTrail(),  # that of the plan knows no fee: its cash as it is
    )


@pytest.fixture
def compared(small_plan):
    new = dearer(small_plan)
    return dataclasses.replace(new, changes=with_texts(list_changes(small_plan, new)))


def sheet_of(plan, *, values=True):
    return openpyxl.load_workbook(io.BytesIO(render(plan)), data_only=values)["Changes"]


def lines(plan):
    """The rows of the sheet by what they are about and their name."""
    return {(row[0], row[1]): row for row in sheet_of(plan).iter_rows(values_only=True)}


def test_then_now_and_difference_by_hand(compared):
    found = lines(compared)
    assert found["cost", "hybrid: total cost"][THEN:TOTAL] == (157387.5, 157687.5, pytest.approx(300), "USD")
    assert found["cost", "onprem: total cost"][THEN:DIFFERENCE] == ("not possible", "not possible")
    assert found["price", "aws us-east-1 p5.48xlarge on_demand"][THEN:TOTAL] == (40, 41.5, 1.5, "USD an hour")
    assert found["assumption", "lead_time_months"][THEN:TOTAL] == (8, 6, -2, "months")
    assert found["assumption", "lead_time_months"][-1] == (
        "then: a survey of 2026, as of 2026-01-15; now: a letter, as of 2026-12-02"
    )
    both = found["month", "2027-01..2027-02, months that both have"]
    assert both[THEN:DIFFERENCE] == (pytest.approx(104925), pytest.approx(105125))
    assert found["month", "2026-12"][THEN:TOTAL] == (pytest.approx(52462.5), None, None, "USD")
    assert found["gap", "no price: B200 in us-west-2"][THEN:DIFFERENCE] == ("open", None)


def test_the_causes_add_up_by_formulas(compared):
    found = lines(compared)
    assert found[None, "hybrid: cost then"][TOTAL] == 157387.5
    assert found[None, "cost then with all changes"][TOTAL] == pytest.approx(157687.5)
    assert found[None, "hybrid: cost now"][TOTAL] == 157687.5
    for column in (TOTAL, PRESENT):
        assert found[None, "not explained, or changed in this workbook"][column] == pytest.approx(0, abs=0.005)
    formulas = {row[1].value: row for row in sheet_of(compared, values=False)}
    assert re.fullmatch(r"=SUM\(G\d+:G\d+\)", formulas["cost then with all changes"][TOTAL].value)
    assert re.fullmatch(r"=C\d+", formulas["hybrid: cost then"][TOTAL].value)


def test_what_it_costs_now_is_read_from_the_cash_flow(compared):
    rows = {row[1].value: row for row in sheet_of(compared, values=False)}
    assert re.fullmatch(r"='Cash flow'!\$C\$\d+", rows["hybrid: total cost"][NOW].value)
    assert re.fullmatch(r"='Cash flow'!\$D\$\d+\+'Cash flow'!\$D\$\d+", rows["2027-01"][NOW].value)
    assert rows["2026-12"][NOW].value is None


def test_every_difference_is_the_same_formula(compared):
    sheet = sheet_of(compared, values=False)
    found = [cell for cell in sheet["E"] if cell.data_type == "f"]
    assert len(found) > 8
    assert all(cell.value == f"=D{cell.row}-C{cell.row}" for cell in found)


def test_the_sheet_is_set_up_as_the_others(compared):
    sheet = sheet_of(compared, values=False)
    assert sheet.freeze_panes == "A5"
    assert sheet.print_title_rows == "$4:$4"
    assert (sheet.page_setup.orientation, sheet.sheet_properties.pageSetUpPr.fitToPage) == ("landscape", True)
    assert sheet.print_area.endswith(f"$I${sheet.max_row}")


def test_the_words(compared):
    shown = text.render_sections(compared).decode()
    assert "Compared with plan 0123456789abcdef of 2026-11-21, 2026-12..2027-02, in USD." in shown
    assert re.search(r"hybrid: total cost +157,388 +157,688 +\+300\n", shown)
    assert "Recommended as before: hybrid." in shown
    assert "What is missing or estimated: 1 gone; no price: B200 in us-west-2." in shown
    whole = markdown.render(compared).decode()
    assert "| hybrid: total cost | 157,388 | 157,688 | +300 |" in whole
    assert "closed: not considered there" in whole


def test_shown_causes_add_up_in_whole_units(compared):
    """The amounts of the table, from the cost then to the cost now."""
    shown = markdown.render(compared).decode().partition("| why | what changed |")[2].partition("\n\n")[0]
    amounts = [row.split("|")[3] for row in shown.splitlines()[2:]]
    figures = [0 if " - " in each else int(re.sub(r"[^\d-]", "", each)) for each in amounts]
    assert len(figures) > 2
    assert sum(figures[:-1]) == figures[-1] == 157688


def test_a_hostile_last_review(hostile_plan, small_plan):
    for then, now in ((hostile_plan, small_plan), (small_plan, hostile_plan)):
        plan = dataclasses.replace(now, changes=list_changes(then, now))
        for shown in (text.render_sections(plan).decode(), markdown.render(plan).decode()):
            assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]", shown)
        sheet = sheet_of(plan, values=False)
        formulas = [cell.value for row in sheet for cell in row if cell.data_type == "f"]
        cash = r"'Cash flow'!\$[A-Z]+\$\d+"
        ours = rf"=(D\d+-C\d+|[CD]\d+|SUM\([GH]\d+:[GH]\d+\)|[GH]\d+-[GH]\d+|{cash}(\+{cash})?)"
        assert all(re.fullmatch(ours, formula) for formula in formulas)
        assert not any(cell.hyperlink for row in sheet for cell in row)


@pytest.mark.slow
def test_a_spreadsheet_program_computes_and_keeps_the_sheet(compared, tmp_path, sheets):
    """From wrong stored values; and what it saves can be the last review of the next plan."""
    sheets.needs_office()
    data = render(compared)
    wrong, _ = sheets.spoiled(data)
    (anew,) = sheets.recalculated(tmp_path, wrong)
    ours, theirs = ({place: value for place, value in sheets.cells(each).items() if place[0] == "Changes"}
                    for each in (data, anew))  # fmt: skip
    assert set(theirs) == set(ours)
    for place, value in ours.items():
        assert theirs[place] == (pytest.approx(value, rel=1e-9, abs=1e-6) if isinstance(value, float) else value), place
    kept, told = build_review_record(compared), read_review(anew)
    assert (told.plan_id, told.as_of, told.month_names, told.work) == (
        kept.plan_id, kept.as_of, kept.month_names, kept.work,
    )  # fmt: skip
    values = {(fact.topic, fact.subject): fact.value for fact in told.facts}
    for fact in kept.facts:
        if fact.subject not in ("hours in a month", "oldest price"):
            expected = pytest.approx(fact.value) if isinstance(fact.value, float) else fact.value
            assert values[fact.topic, fact.subject] == expected
