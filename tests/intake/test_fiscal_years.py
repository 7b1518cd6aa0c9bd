"""Fiscal years and quarters of sheets: read where the start is known, asked once where it is not."""

from __future__ import annotations

from typing import Any

import pytest

from planner.inputs.file_reader import read
from planner.inputs.parsed_file import ParsedFile
from planner.inputs.sheet_options import SheetOptions

QUARTERS = "Workload;GPU;Unit;Q1 FY27;Q2 FY27\nA;H100;GPU-hours;300;600"
MONTHS = "FY27 demand, GPU-hours\nWorkload;GPU;{months}\nA;H100;{numbers}"
FROM_APRIL = ["Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec", "Jan", "Feb", "Mar"]
FROM_JANUARY = [*FROM_APRIL[9:], *FROM_APRIL[:9]]


def read_csv(text: str, **options: Any) -> ParsedFile:
    return read(text.encode(), "x.csv", SheetOptions(**options))


def months_of(names: list[str]) -> str:
    return MONTHS.format(months=";".join(names), numbers=";".join(str(100 + n) for n in range(len(names))))


def hours(parsed: ParsedFile) -> dict[str, float]:
    assert parsed.complaints == ()
    (workload,) = parsed.document["workloads"]
    found: dict[str, float] = workload["demand"]["accelerator_hours_per_month"]
    return found


def test_a_known_month_leaves_only_the_year_to_ask() -> None:
    """With April, FY27 is April 2027 to March 2028, or the year before: companies name it by either."""
    parsed = read_csv(QUARTERS, fiscal_year_starts=4)
    (doubt,) = parsed.doubts
    assert (doubt.id, doubt.choices) == ("fiscal year starts", ("2027-04", "2026-04"))
    answered = read_csv(QUARTERS, fiscal_year_starts=4, answers={"fiscal year starts": "2026-04"})
    assert hours(answered) == {f"2026-{m:02d}": 100 if m < 7 else 200 for m in range(4, 10)}
    assert answered.document["fiscal_year_starts"] == 4


def test_both_years_and_the_month_need_no_question() -> None:
    parsed = read_csv(QUARTERS.replace("FY27", "FY26/27"), fiscal_year_starts=4)
    assert parsed.doubts == ()
    assert list(hours(parsed)) == [f"2026-{m:02d}" for m in range(4, 10)]


def test_a_fiscal_year_from_january_is_that_of_the_calendar() -> None:
    parsed = read_csv(QUARTERS, fiscal_year_starts=1)
    assert parsed.doubts == ()
    assert list(hours(parsed)) == [f"2027-{m:02d}" for m in range(1, 7)]


def test_months_under_a_fiscal_year_are_asked_about_once() -> None:
    parsed = read_csv(months_of(FROM_JANUARY))
    (doubt,) = parsed.doubts
    assert doubt.stops_planning
    assert doubt.proposed == "2027-01"
    assert hours(parsed) == {f"2027-{m:02d}": 99 + m for m in range(1, 13)}


def test_an_answer_moves_the_months_before_the_start_into_the_next_year() -> None:
    answered = read_csv(months_of(FROM_JANUARY), answers={"fiscal year starts": "2026-04"})
    assert hours(answered) == {
        **{f"2027-{m:02d}": 99 + m for m in range(1, 4)},
        **{f"2026-{m:02d}": 99 + m for m in range(4, 13)},
    }
    assert answered.document["fiscal_year_starts"] == 4


def test_months_in_the_order_of_the_year_say_where_it_starts() -> None:
    parsed = read_csv(months_of(FROM_APRIL))
    assert parsed.doubts[0].choices == ("2027-04", "2026-04")
    both = read_csv(months_of(FROM_APRIL).replace("FY27", "FY2026/27"))
    assert both.doubts == ()
    assert hours(both)["2026-04"] == 100
    assert hours(both)["2027-03"] == 111


@pytest.mark.parametrize("written", ["April", "Apr", 4, "4"])
def test_a_sheet_of_assumptions_says_it(as_xlsx: Any, written: object) -> None:
    rows = [["Workload", "GPU", "Unit", "Q1 FY26/27"], ["A", "H100", "GPU-hours", 300]]
    data = as_xlsx(rows, "Plan", more={"Assumptions": [["Name", "Value"], ["Fiscal year starts", written]]})
    parsed = read(data, "x.xlsx")
    assert parsed.doubts == ()
    assert parsed.document["fiscal_year_starts"] == 4
    assert list(hours(parsed)) == ["2026-04", "2026-05", "2026-06"]
    assert parsed.inputs.rows_in == parsed.inputs.rows_used == 2


def test_what_is_no_month_is_a_problem_with_its_cell(as_xlsx: Any) -> None:
    rows = [["Workload", "GPU", "GPU-hours / month"], ["A", "H100", 300]]
    data = as_xlsx(rows, "Plan", more={"Assumptions": [["Name", "Value"], ["Fiscal year starts", "spring"]]})
    assert [(c.place, c.value) for c in read(data, "x.xlsx").complaints] == [("Assumptions!B2", "spring")]


def test_two_tables_of_different_years_are_one_question(as_xlsx: Any) -> None:
    """FY27 from April 2026 puts FY28 into 2027: one answer holds for both sheets."""
    first, second = ([["Workload", "GPU", "Unit", f"Q1 {year}"], [name, "H100", "GPU-hours", 300]]
                     for name, year in (("A", "FY27"), ("B", "FY28")))  # fmt: skip
    data = as_xlsx(first, "FY27", more={"FY28": second})
    parsed = read(data, "x.xlsx", SheetOptions(answers={"fiscal year starts": "2026-04"}))
    starts = [min(each["demand"]["accelerator_hours_per_month"]) for each in parsed.document["workloads"]]
    assert starts == ["2026-04", "2027-04"]
