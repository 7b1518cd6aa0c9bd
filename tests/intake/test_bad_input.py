"""Bad input: every fault at once, each with its exact place and what was expected; never a traceback."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from typing import Any

import pytest

from planner.inputs.file_reader import read
from planner.inputs.parsed_file import ParsedFile
from planner.request.errors import InvalidRequest
from planner.request.models import parse_request

HEADER = ["Workload", "GPU", "GPUs", "Hours / month"]


def told(found: ParsedFile) -> list[tuple[str, str]]:
    return [(complaint.place, complaint.message) for complaint in found.complaints]


@pytest.mark.parametrize("name", ["review.xlsx", "review.csv", "request.yaml", "request.json", "-", "what.ever"])
@pytest.mark.parametrize("data", [b"", b" \n\t\r\n"])
def test_an_empty_file(name: str, data: bytes) -> None:
    found = read(data, name)
    assert told(found) == [(name, "the file is empty")]
    assert ".xlsx" in found.complaints[0].expected


@pytest.mark.parametrize(
    ("data", "name", "says"),
    [
        (b"\x89PNG\r\n\x1a\n" + bytes(40), "review.xlsx", "a PNG picture"),
        (b"\x89PNG\r\n\x1a\n" + bytes(40), "review.csv", "a PNG picture"),
        (b"%PDF-1.7 ...", "review.xlsx", "a PDF document"),
        (
            b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(40),
            "review.xlsx",
            "an old Excel workbook (.xls) or one with a password",
        ),
        (
            b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(40),
            "review.xls",
            "an old Excel workbook (.xls) or one with a password",
        ),
        (b"<!DOCTYPE html><html></html>", "review.csv", "a web page"),
        (b"\x00\x01\x02binary", "-", "a binary file"),
        (
            b"Workload,GPU\nA,H100\n",
            "review.xlsx",
            "not a workbook, but text (if it is CSV, its name must end in .csv)",
        ),
        (b"PK\x03\x04 not really", "review.xlsx", "a damaged workbook"),
        (b"just some words", "-", "the format is not recognised"),
        (b"Workload,GPU\n\x81\x8d,H100\n", "review.csv", "not text: byte 13 fits neither UTF-8 nor Windows-1252"),
    ],
)
def test_a_file_that_is_not_a_sheet(data: bytes, name: str, says: str) -> None:
    found = read(data, name)
    assert len(found.complaints) == 1
    assert says in found.complaints[0].message
    assert found.complaints[0].place == name


def test_every_fault_of_a_sheet_is_told_at_once_with_its_cell(read_rows: Callable[..., ParsedFile]) -> None:
    rows = [
        [*HEADER, "Spot OK", "Tokens/s", "Budget (EUR / month)", "Type"],
        ["A", "H100", "lots", 500, "", "", "", "training"],
        ["B", "H100", -8, 500, "", "", "", ""],
        ["C", "", 8, 500, "maybe", "", "", ""],
        ["D", "H100", 8, "", "", "", "", ""],
        ["a", "H100", 8, 500, "", "", "", ""],
        ["E", "H100", 8, 800, "", "", "", ""],
        ["F", "H100", 8, 500, "", 900, "$2000", "magic"],
        ["", "H100", 8, 500, "", "", "", ""],
        ["G", "4x H100", 8, 500, "", "", "", ""],
    ]
    assert told(read_rows(rows)) == [
        ("Plan!C2", "text instead of a number, under 'GPUs'"),
        ("Plan!C3", "a negative number under 'GPUs'"),
        ("Plan!C4", "GPU-hours without an accelerator"),
        ("Plan!E4", "neither yes nor no"),
        ("Plan!A5", "this row has no demand"),
        ("Plan!A6", "a second workload of this name; the first is in Plan!A2"),
        ("Plan!D7", "800 hours a month exceed the hours of a month"),
        ("Plan!F8", "ambiguous: for each GPU or for all 8 together"),
        ("Plan!H8", "not a kind of workload"),
        ("Plan!G8", "an amount in USD; the one in Plan!G8 is in EUR"),
        ("Plan!A9", "a row with values but without a name"),
        ("Plan!C10", "8 here, but '4x H100' in Plan!B10"),
    ]


def test_a_sheet_with_faults_is_never_planned_and_tells_no_fault_twice(read_rows: Callable[..., ParsedFile]) -> None:
    found = read_rows([HEADER, ["A", "H100", "lots", 500], ["A", "H100", 8, 500]])
    with pytest.raises(InvalidRequest) as refusal:
        parse_request({"as_of": date(2026, 11, 21), **found.document}, found.complaints, found.places)
    assert refusal.value.complaints == found.complaints


def test_faults_that_the_request_finds_have_the_cell_too(read_rows: Callable[..., ParsedFile]) -> None:
    found = read_rows([[*HEADER, "GPUs per job"], ["A", "H100", 8, 500, 0]])
    with pytest.raises(InvalidRequest) as refusal:
        parse_request({"as_of": date(2026, 11, 21), **found.document}, found.complaints, found.places)
    assert ("workloads[0].gang", "Plan!E2") in [(c.path, c.place) for c in refusal.value.complaints]


@pytest.mark.parametrize(
    ("rows", "place", "lacks"),
    [
        ([["Workload", "GPU", "Team"], ["A", "H100", "X"]], "Plan!1", "GPU-hours, GPUs with hours"),
        ([["GPU", "GPU-hours / month"], ["H100", 5]], "Plan!1", "a name (workload, job)"),
        ([["Workload", "GPU", "GPU-hours / month"]], "Plan!1", "at least one"),
        ([["a", "b"], [1, 2]], "review.xlsx", "a row of column headers"),
    ],
)
def test_a_missing_column_or_header_says_what_was_found_and_what_is_needed(
    read_rows: Callable[..., ParsedFile], rows: list[list[Any]], place: str, lacks: str
) -> None:
    complaint = read_rows(rows).complaints[0]
    assert complaint.place == place
    assert complaint.expected.startswith(lacks)


@pytest.mark.parametrize(
    ("cells", "place", "message"),
    [
        (
            {"GPU": "H100", "GPU-hours / month": "1.234"},
            "line 2 column 3",
            "ambiguous: 1234 or 1.234; the other cells under 'GPU-hours / month' do not decide",
        ),
        (
            {"GPU": "H100", "GPU-hours / month": "#REF!"},
            "line 2 column 3",
            "the cell has an error, under 'GPU-hours / month'",
        ),
        (
            {"GPU": "H100", "GPU-hours / month": "TBD"},
            "line 2 column 3",
            "text instead of a number, under 'GPU-hours / month'",
        ),
        ({"GPU": "H100", "GPU-hours / month": "500 tokens"}, "line 2 column 3", "does not fit 'GPU-hours / month'"),
        ({"GPU": "H100", "Hours / month": "500"}, "line 2 column 3", "hours without a number of GPUs"),
        (
            {"GPU": "H100", "GPU-hours": "5", "Tokens / month": "1B"},
            "line 2 column 4",
            "a second kind of demand in one row; the first is in line 2 column 3",
        ),
        ({"Total tokens": "1B"}, "line 2 column 2", "total work without a deadline"),
        (
            {"Peak RPS": "50"},
            "line 2 column 2",
            "a peak is not a demand; demand is the mean of the month, and a daily shape adds the peaks",
        ),
        ({"RPS": "50", "Pattern": "wavy"}, "line 2 column 3", "not a daily shape"),
        (
            {"RPS": "50", "GPU": "L4", "GPUs": "1", "Tokens/s": "900"},
            "line 2 column 5",
            "the throughput counts tokens, the demand requests",
        ),
        (
            {"RPS": "50", "GPUs": "1", "Throughput": "900 requests/s"},
            "line 2 column 4",
            "a throughput without the accelerator it was measured on",
        ),
        (
            {"RPS": "50", "GPU": "L4", "GPUs": "1", "Throughput": "900"},
            "line 2 column 5",
            "a throughput without a period",
        ),
        (
            {"GPU": "H100", "Unit": "GPUs", "Dec-26": "5"},
            "line 2 column 4",
            "a number of GPUs by month without hours",
        ),
        ({"GPU": "H100", "GPU-hours": "5", "Storage": "5"}, "line 2 column 4", "'Storage' has no unit"),
        (
            {"GPU": "H100", "GPUs": "8", "GPU-hours": "5", "Memory (GB)": "80"},
            "line 2 column 5",
            "ambiguous: the memory of each GPU or of all together",
        ),
        (
            {"GPU": "H100", "GPU-hours": "5", "Budget (USD)": "£5"},
            "line 2 column 4",
            "an amount in GBP; the one in line 2 column 4 is in USD",
        ),
        (
            {"GPU": "H100", "GPUs": "8", "Hours / month": "400", "Utilisation": "60%"},
            "line 2 column 5",
            "ambiguous: a share of the hours, or the utilisation of the chip",
        ),
        (
            {"GPU": "H100", "GPUs": "8", "Hours": "24/7", "Utilisation %": "0.6"},
            "line 2 column 5",
            "ambiguous: a share of 1 or a percentage; the header 'Utilisation %' does not decide",
        ),
        ({"Demand": "50"}, "line 2 column 2", "an amount without a unit"),
    ],
)
def test_what_cannot_be_understood_is_asked_not_guessed(
    read_texts: Callable[..., ParsedFile], cells: dict[str, str], place: str, message: str
) -> None:
    found = read_texts([["Workload", *cells], ["W", *cells.values()]])
    assert told(found) == [(place, message)]
    assert found.complaints[0].expected


def test_the_rest_of_a_column_settles_what_one_number_means(read_texts: Callable[..., ParsedFile]) -> None:
    header = ["Workload", "GPU", "GPU-hours / month"]
    point = read_texts([header, ["A", "H100", "1.234"], ["B", "H100", "0.5"]])
    comma = read_texts([header, ["A", "H100", "1.234"], ["B", "H100", "1.234,5"]], separator=";")
    assert [w["demand"]["accelerator_hours_per_month"] for w in point.document["workloads"]] == [1.234, 0.5]
    assert [w["demand"]["accelerator_hours_per_month"] for w in comma.document["workloads"]] == [1234, 1234.5]


def test_error_cells_and_formulas_without_values_are_told_by_cell() -> None:
    import io
    import zipfile

    import openpyxl

    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "Plan"
    sheet.append(["Workload", "GPU", "GPU-hours / month", "Notes"])
    sheet.append(["A", "H100", '=LEN("a")', "openpyxl stores no value"])
    sheet.append(["B", "H100", 5, ""])
    target = io.BytesIO()
    book.save(target)
    source = zipfile.ZipFile(io.BytesIO(target.getvalue()))
    changed = io.BytesIO()
    with zipfile.ZipFile(changed, "w") as archive:
        for name in source.namelist():
            part = source.read(name)
            if name == "xl/worksheets/sheet1.xml":
                part = part.replace(b'<c r="C3" t="n"><v>5</v></c>', b'<c r="C3" t="e"><f>A99/0</f><v>#DIV/0!</v></c>')
            archive.writestr(name, part)
    found = read(changed.getvalue(), "review.xlsx")
    assert [(c.place, c.value) for c in found.complaints] == [
        ("Plan!C2", '=LEN("a"), no value stored: the function LEN is not supported'),
        ("Plan!C3", "an error value"),
    ]
