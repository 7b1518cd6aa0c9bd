"""Formulas without a stored value: simple ones are computed, others refused by name; a stored 0 is not believed."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable

import pytest
import xlsxwriter
from hypothesis import given
from hypothesis import strategies as st

from planner.inputs.cell_grid import CellValue
from planner.inputs.file_reader import read
from planner.inputs.parsed_file import ParsedFile
from planner.inputs.spreadsheet.formulas import Formulas, UnsupportedFormula

STORED: dict[str, CellValue] = {"A1": 2.0, "A2": 3.0, "A3": None, "B1": "text"}


def compute(formula: str) -> float:
    book = Formulas({"S": {"Z9": formula}, "My sheet": {}}, lambda sheet, ref: STORED.get(ref) if sheet == "S" else 5.0)
    return book.value("S", "Z9")


@pytest.mark.parametrize(
    ("formula", "value"),
    [
        ("=1+2*3", 7),
        ("(1+2)*3", 9),
        ("-2^2", 4),  # as spreadsheets have it: the sign first
        ("10%*50", 5),
        ("$A$1*A2/4", 1.5),
        ("SUM(A1:A3)", 5),
        ("SUM(A1:A2,10,A1*A2)", 21),
        ("AVERAGE(A1:A3)", 2.5),
        ("ROUND(2.5,0)+ROUND(-2.5,0)", 0),
        ("MAX(A1:A3)-MIN(A1:A3)", 1),
        ("'My sheet'!A1+1", 6),
    ],
)
def test_a_simple_formula(formula: str, value: float) -> None:
    assert compute(formula) == pytest.approx(value)


@pytest.mark.parametrize(
    ("formula", "why"),
    [
        ("VLOOKUP(1,A:B,2)", "the function VLOOKUP is not supported"),
        ("A1/0", "it divides by 0"),
        ("A1+B1", "B1 is not a number"),
        ("A1+A3", "A3 is blank"),
        ("Z9+1", "it refers to itself"),
        ("Other!A1", "there is no sheet 'Other'"),
        ("[book.xlsx]S!A1", "is not supported"),
        ("1+", "it is incomplete"),
        ("SUM(1", "a bracket is not closed"),
        ("9^9^9^9", "its power is not a number"),
        ("SUM(A1:ZZ1048576)", "it refers to too many cells"),
    ],
)
def test_what_is_not_computed_is_said(formula: str, why: str) -> None:
    with pytest.raises(UnsupportedFormula, match=why.replace("[", r"\[")):
        compute(formula)


@given(st.text(alphabet="A1:B2()+-*/^%,;.SUM $'!9e", max_size=24))
def test_any_text_is_a_number_or_not_computed(formula: str) -> None:
    with contextlib.suppress(UnsupportedFormula):
        assert isinstance(compute(formula), float)


def test_a_sheet_without_stored_values_is_read(read_rows: Callable[..., ParsedFile]) -> None:
    found = read_rows(
        [
            ["Workload", "GPU", "GPUs", "Hours / month", "GPU-hours / month"],
            ["A", "H100", 8, "=70*10", "=C2*D2"],
            ["B", "L4", 2, 730, "=C3*D3"],
            ["Total", "", "", "", "=SUM(E2:E3)"],
        ]
    )
    assert found.complaints == ()
    hours = [w["demand"]["accelerator_hours_per_month"] for w in found.document["workloads"]]
    assert hours == [5600, 1460]  # 8 x 700, 2 x 730
    assert "formulas of Plan without a stored value were computed: D2, E2, E3, E4" in found.inputs.notes
    assert not [note for note in found.inputs.notes if "add up" in note]


def test_a_formula_that_is_not_simple_is_refused_by_name(read_rows: Callable[..., ParsedFile]) -> None:
    (complaint,) = read_rows([["Workload", "GPU", "GPU-hours"], ["A", "H100", "=XLOOKUP(1,A1,B1)"]]).complaints
    assert complaint.place == "Plan!C2"
    assert complaint.value == "=XLOOKUP(1,A1,B1), no value stored: the function XLOOKUP is not supported"


def test_a_zero_that_nobody_computed_is_not_believed() -> None:
    target = io.BytesIO()
    book = xlsxwriter.Workbook(target)
    sheet = book.add_worksheet("Plan")
    sheet.write_row(0, 0, ["Workload", "GPU", "GPU-hours"])
    sheet.write_row(1, 0, ["A", "H100", "=70*10"])
    book.close()
    found = read(target.getvalue(), "x.xlsx")
    assert found.document["workloads"][0]["demand"]["accelerator_hours_per_month"] == 700
    assert "Plan!C2 stores 0, but =70*10 gives 700, which was read" in found.inputs.notes
