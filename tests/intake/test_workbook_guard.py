"""Hostile and odd workbooks: refused in words before any reader that trusts sizes sees them."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable

import pytest

from planner.inputs.file_reader import read
from planner.inputs.parsed_file import ParsedFile

ROWS = [["Workload", "GPU", "GPU-hours / month"], ["A", "H100", 100]]
SHEET = "xl/worksheets/sheet1.xml"


def changed(data: bytes, part: str, old: bytes, new: bytes, extra: dict[str, bytes] | None = None) -> bytes:
    source = zipfile.ZipFile(io.BytesIO(data))
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in source.namelist():
            body = source.read(name)
            assert name != part or old in body
            archive.writestr(name, body.replace(old, new, 1) if name == part else body)
        for name, body in (extra or {}).items():
            archive.writestr(name, body)
    return target.getvalue()


def message(data: bytes) -> str:
    (complaint,) = read(data, "review.xlsx").complaints
    return complaint.message


@pytest.fixture(scope="module")
def book(as_xlsx: Callable[..., bytes]) -> bytes:
    return as_xlsx(ROWS)


@pytest.mark.parametrize("reference", [b"XFD1048576", b"XFD1", b"A1048576"])
def test_a_far_cell(book: bytes, reference: bytes) -> None:
    far = b'</row><row r="9"><c r="' + reference + b'"><v>1</v></c></row></sheetData>'
    assert "a cell in column" in message(changed(book, SHEET, b"</row></sheetData>", far))


@pytest.mark.parametrize("escaped", [b"&#88;FD1048576", b"XFD1048576"])
def test_a_far_cell_in_another_spelling(book: bytes, escaped: bytes) -> None:
    far = b"</row><row><c r='" + escaped + b"'><v>1</v></c></row></sheetData>"
    assert "a cell in column" in message(changed(book, SHEET, b"</row></sheetData>", far))


def test_a_false_dimension_is_harmless(book: bytes) -> None:
    found = read(changed(book, SHEET, b'ref="A1:C2"', b'ref="A1:XFD1048576"'), "review.xlsx")
    assert found.complaints == ()
    assert found.document["workloads"][0]["name"] == "A"


def test_a_document_type(book: bytes) -> None:
    bomb = b'<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><worksheet '
    assert "declares a document type" in message(changed(book, SHEET, b"<worksheet ", bomb))


def test_a_part_that_unpacks_to_very_much(book: bytes) -> None:
    assert "it unpacks to" in message(changed(book, SHEET, b"", b"", {"xl/media/a.xml": bytes(30_000_000)}))


def test_two_parts_of_one_name(book: bytes) -> None:
    assert "two parts with the same name" in message(
        changed(book, SHEET, b"", b"", {"XL/Worksheets/sheet1.xml": b"<a/>"})
    )


def test_a_zip_that_is_no_workbook() -> None:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        archive.writestr("content.xml", "<a/>")
    assert message(target.getvalue()) == "not opened: an OpenDocument file that is not a spreadsheet"
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        archive.writestr("readme.txt", "nothing")
    assert message(target.getvalue()) == "not opened: a ZIP archive that is not an Excel workbook"


def test_a_part_in_a_wide_encoding(book: bytes) -> None:
    assert "is not UTF-8" in message(changed(book, SHEET, b"", b"", {"xl/x.xml": "<a/>".encode("utf-16")}))


def test_a_sheet_outside_the_parts_that_were_examined(book: bytes) -> None:
    data = changed(book, "xl/_rels/workbook.xml.rels", b"worksheets/sheet1.xml", b"worksheets/sheet1.dat")
    assert "the part of the sheet 'Plan' is missing" in message(data)


def test_macros_and_links_are_said_and_never_run(book: bytes) -> None:
    found = read(
        changed(book, SHEET, b"", b"", {"xl/vbaProject.bin": b"x", "xl/externalLinks/externalLink1.xml": b"<a/>"}),
        "review.xlsx",
    )
    assert found.complaints == ()
    assert found.inputs.notes[:2] == (
        "the workbook has macros; they were not run",
        "the workbook links to other workbooks; its stored values were read",
    )


def test_a_workbook_is_read_whatever_its_suffix(book: bytes) -> None:
    found = read(book, "export.csv")
    assert (found.inputs.format, found.complaints) == ("xlsx", ())


def test_number_formats_carry_percent_and_currency() -> None:
    import openpyxl

    workbook = openpyxl.Workbook()
    sheet = workbook.active
    sheet.title = "Plan"
    for row in (
        ["Workload", "GPU", "GPUs", "Hours", "Utilisation", "Max spend per month"],
        ["A", "L4", 1, "24/7", 0.5, 2000],
        ["B", "L4", 1, "24/7", 0.25, 10],
    ):
        sheet.append(row)
    for row in (2, 3):
        sheet.cell(row, 5).number_format = "0%"
    sheet["F2"].number_format = '"$"#,##0'
    sheet["F3"].number_format = "[$€-407]#,##0"
    target = io.BytesIO()
    workbook.save(target)
    found: ParsedFile = read(target.getvalue(), "review.xlsx")
    assert [w["demand"]["accelerator_hours_per_month"] for w in found.document["workloads"]] == [365, 182.5]
    assert found.document["workloads"][0]["budget_per_month"] == 2000
    assert (found.document["currency"], found.places["currency"]) == ("USD", "Plan!F2")
    assert [(c.place, c.message) for c in found.complaints] == [
        ("Plan!F3", "an amount in EUR; the one in Plan!F2 is in USD")
    ]


@pytest.mark.parametrize("number", [b"3.4E+38", b"-3.4E+38", b"99999999999999999999"])
def test_a_number_that_is_no_date_is_told(number: bytes) -> None:
    """The library that reads values gives up on such a cell, in a way that is no exception to catch."""
    import openpyxl

    workbook = openpyxl.Workbook()
    for row in ROWS:
        workbook.active.append(row)
    workbook.active["C2"].number_format = "mmm-yy"
    target = io.BytesIO()
    workbook.save(target)
    found = message(changed(target.getvalue(), SHEET, b"<v>100</v>", b"<v>" + number + b"</v>"))
    assert found == "not opened: Sheet!C2 is formatted as a date, but its number is not one"


def test_a_link_needs_no_part_of_its_own(book: bytes) -> None:
    data = changed(book, SHEET, b"<v>100</v>", b"<f>'[rates.xlsx]Plan'!A1</f><v>100</v>")
    assert read(data, "x.xlsx").inputs.notes[0] == "the workbook links to other workbooks; its stored values were read"
