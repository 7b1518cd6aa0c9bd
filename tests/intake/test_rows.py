"""What every row beneath a header is: a workload, or refused with its reason. Rows used + rows refused = rows in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.inputs.parsed_file import ParsedFile

HEADER = ["Workload", "Team", "GPU", "GPUs", "GPU-hours / month", "Notes"]
ONE = ["Train", "A", "H100", 8, 4000, ""]
TWO = ["Serve", "B", "L4", 2, 1460, "24/7"]


def reasons(found: ParsedFile) -> list[tuple[str, str]]:
    return [(row.place, row.reason) for row in found.inputs.rows_refused]


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (["Total", "", "", 10, 5460, ""], "total"),
        (["Grand total", "", "", 10, 5460, ""], "total"),
        (["", "", "Total", 10, 5460, ""], "total"),
        (["Subtotal team A", "", "", "", 4000, ""], "total"),
        (["", "", "", "", "", ""], "blank"),
        (["* hours are scheduled", "", "", "", "", ""], "note or heading: a single text"),
        (["", "checked by Kim", "", "", "", "looks right"], "note: no number in it"),
        (HEADER, "repeated header"),
        (["", "", "", 8, 4000, ""], "total without a label"),
    ],
)
def test_a_row_that_is_no_workload_is_refused(
    read_rows: Callable[..., ParsedFile], row: list[Any], reason: str
) -> None:
    found = read_rows([HEADER, ONE, row, TWO])
    assert found.complaints == ()
    assert [w["name"] for w in found.document["workloads"]] == ["Train", "Serve"]
    assert reasons(found) == [("Plan!3", reason)]
    assert (found.inputs.rows_in, found.inputs.rows_used) == (3, 2)


def test_blank_rows_beneath_the_table_are_not_counted(read_rows: Callable[..., ParsedFile]) -> None:
    found = read_rows([HEADER, ONE, [""], TWO, [""], [""], ["Prepared by", "Jo"], [""]])
    assert reasons(found) == [("Plan!3", "blank"), ("Plan!7", "note: no number in it")]
    assert found.inputs.rows_in == 4


def test_hidden_rows_are_refused_and_a_total_that_counts_them_is_noted(read_rows: Callable[..., ParsedFile]) -> None:
    old = ["Old", "C", "V100", 4, 1000, ""]
    found = read_rows([HEADER, ONE, old, TWO, ["Total", "", "", 14, 6460, ""]], hidden=[3])
    assert reasons(found) == [("Plan!3", "hidden row; unhide it to include it"), ("Plan!5", "total")]
    assert found.inputs.notes[-2:] == (
        "Plan!D5: the total 14 includes hidden rows; without them it is 10",
        "Plan!E5: the total 6460 includes hidden rows; without them it is 5,460",
    )


def test_a_total_that_is_no_sum_is_noted(read_rows: Callable[..., ParsedFile]) -> None:
    found = read_rows([HEADER, ONE, TWO, ["Total", "", "", 10, 9999, ""]])
    (doubt,) = found.doubts
    assert doubt.places == ("Plan!E4",)
    assert doubt.question == "the total reads 9999, but the rows above add up to 5,460: are the rows right?"
    assert doubt.change == pytest.approx(9999 / 5460 - 1)
    assert doubt.stops_planning


def test_subtotals_are_sums_of_their_block(read_rows: Callable[..., ParsedFile]) -> None:
    sub = ["Subtotal", "", "", "", 4000, ""]
    found = read_rows([HEADER, ONE, sub, TWO, ["Subtotal", "", "", "", 1460, ""], ["Total", "", "", "", 5460, ""]])
    assert not [note for note in found.inputs.notes if "add up" in note]


def test_a_workload_may_be_called_total(read_rows: Callable[..., ParsedFile]) -> None:
    found = read_rows([HEADER, ["Total recall training", "A", "H100", 8, 4000, ""]])
    assert found.document["workloads"][0]["name"] == "Total recall training"


def test_a_row_that_asks_for_nothing_is_refused(read_rows: Callable[..., ParsedFile]) -> None:
    found = read_rows([HEADER, ["Ended", "A", "H100", 8, 0, ""], ONE])
    assert reasons(found) == [("Plan!2", "its demand is 0")]
    assert found.places["workloads[0]"] == "Plan!A3"
    assert not [reading for reading in found.inputs.readings if reading.place.endswith("2")]


def test_hidden_sheets_are_refused_row_by_row(read_rows: Callable[..., ParsedFile]) -> None:
    found = read_rows([HEADER, ONE], more={"hidden Old plan": [HEADER, TWO]})
    assert [w["name"] for w in found.document["workloads"]] == ["Train"]
    assert reasons(found) == [("'Old plan'!2", "hidden sheet; unhide it to include it")]


def test_hidden_columns_are_read_and_noted() -> None:
    import io

    import openpyxl

    from planner.inputs.file_reader import read

    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "Plan"
    sheet.append(HEADER)
    sheet.append(ONE)
    sheet.column_dimensions["D"].hidden = True
    target = io.BytesIO()
    book.save(target)
    found = read(target.getvalue(), "review.xlsx")
    assert found.complaints == ()
    assert "column D of Plan is hidden; it was read" in found.inputs.notes


def test_every_sheet_with_a_table_is_read_and_others_are_noted(read_rows: Callable[..., ParsedFile]) -> None:
    found = read_rows([HEADER, ONE], more={"More": [["title"], HEADER, TWO], "Contacts": [["Jo", "jo@example.com"]]})
    assert [w["name"] for w in found.document["workloads"]] == ["Train", "Serve"]
    assert found.places["workloads[1]"] == "More!A3"
    assert "Contacts has no table of workloads and was not read" in found.inputs.notes


def test_an_assumptions_sheet_is_read_by_name(read_rows: Callable[..., ParsedFile]) -> None:
    sheet = [
        ["Assumption", "Value", "Unit"],
        ["Electricity price per kWh", 0.118, "USD"],
        ["PUE", "1,35", ""],
        ["Discount rate (annual)", "9%", ""],
        ["see the wiki", "", ""],
    ]
    found = read_rows([HEADER, ONE], more={"Assumptions": sheet})
    assert found.complaints == ()
    assert found.document["assumptions"] == {
        "electricity_price_per_kwh": 0.118,
        "pue": 1.35,
        "discount_rate_annual": 0.09,
    }
    assert found.places["assumptions.pue"] == "Assumptions!B3"
    assert (found.inputs.rows_in, found.inputs.rows_used, len(found.inputs.rows_refused)) == (5, 4, 1)


def test_text_merged_over_rows_belongs_to_all_of_them() -> None:
    import io

    import openpyxl

    from planner.inputs.file_reader import read

    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "Plan"
    for row in (HEADER, ONE, ["Serve", None, "L4", 2, 1460, ""]):
        sheet.append(row)
    sheet.merge_cells("B2:B3")
    target = io.BytesIO()
    book.save(target)
    assert [w["team"] for w in read(target.getvalue(), "x.xlsx").document["workloads"]] == ["A", "A"]


ROWS = st.lists(
    st.one_of(
        st.just(["", "", "", "", "", ""]),
        st.just(["Total", "", "", 5, 10, ""]),
        st.just(HEADER),
        st.just(["a remark", "", "", "", "", ""]),
        st.tuples(
            st.uuids().map(str), st.just("A"), st.just("H100"), st.integers(1, 9), st.integers(0, 5000), st.just("x")
        ).map(list),
        st.tuples(
            st.just("Twin"),
            st.just("A"),
            st.just("H100"),
            st.integers(1, 9),
            st.sampled_from(["lots", "-5", "10"]),
            st.just(""),
        ).map(list),
        st.lists(
            st.sampled_from(["", "8", "H100", "n/a", "#REF!", "12%", "Dec-26", "(3)", "total"]), min_size=6, max_size=6
        ),
    ),
    max_size=12,
)


@settings(max_examples=2 * settings.default.max_examples)
@given(ROWS)
def test_rows_used_and_rows_refused_are_rows_in(read_texts: Callable[..., ParsedFile], rows: list[list[Any]]) -> None:
    found = read_texts([HEADER, *rows])
    inputs = found.inputs
    assert inputs.rows_used + len(inputs.rows_refused) == inputs.rows_in
    filled = sum(any(str(cell) for cell in row) for row in rows)
    blank = sum(row.reason == "blank" for row in inputs.rows_refused)
    assert inputs.rows_in == filled + blank
    places = [row.place for row in inputs.rows_refused]
    assert len(places) == len(set(places))
