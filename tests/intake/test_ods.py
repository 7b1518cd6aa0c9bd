"""OpenDocument sheets: values, what is hidden or wrong, merged cells and repetition; never a bomb or a password."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable

from planner.inputs.file_reader import read
from planner.inputs.parsed_file import ParsedFile

TEXT = '<table:table-cell office:value-type="string"{}><text:p>{}</text:p></table:table-cell>'
NUMBER = '<table:table-cell office:value-type="float" office:value="{}"/>'
TITLES = "".join(TEXT.format("", title) for title in ("Workload", "Team", "GPU", "GPU-hours"))
HEAD = f"<table:table-row>{TITLES}</table:table-row>"
DIVIDED = 'table:formula="of:=1/0" office:value-type="string"'
HIDDEN = '<style:style style:name="s2"><style:table-properties table:display="false"/></style:style>'


def row(*cells: str, attributes: str = "") -> str:
    return f"<table:table-row{attributes}>{''.join(cells)}</table:table-row>"


def text(value: str, attributes: str = "") -> str:
    return TEXT.format(attributes, value)


def table(*rows: str, name: str = "Plan", style: str = "s1") -> str:
    return f'<table:table table:name="{name}" table:style-name="{style}">{"".join(rows)}</table:table>'


def test_hidden_rows_sheets_and_columns_are_told(as_ods: Callable[..., bytes]) -> None:
    columns = '<table:table-column/><table:table-column table:visibility="collapse"/><table:table-column/>'
    one = row(text("A"), text("X"), text("H100"), NUMBER.format(5))
    gone = row(text("B"), text("X"), text("H100"), NUMBER.format(6), attributes=' table:visibility="collapse"')
    body = table(columns, HEAD, one, gone) + table(HEAD, one, name="Old", style="s2")
    found = read(as_ods([], body=body, styles=HIDDEN), "x.ods")
    assert found.complaints == ()
    assert [w["name"] for w in found.document["workloads"]] == ["A"]
    assert [(r.place, r.reason.split(";")[0]) for r in found.inputs.rows_refused] == [
        ("Plan!3", "hidden row"),
        ("Old!2", "hidden sheet"),
    ]
    assert "column B of Plan is hidden; it was read" in found.inputs.notes


def test_repeated_blank_cells_and_rows_take_no_room(as_ods: Callable[..., bytes]) -> None:
    blank = '<table:table-cell table:number-columns-repeated="16380"/>'
    rest = '<table:table-row table:number-rows-repeated="1048000"><table:table-cell/></table:table-row>'
    gap = '<table:table-row table:number-rows-repeated="3"><table:table-cell/></table:table-row>'
    one = row(text("A"), '<table:table-cell table:number-columns-repeated="1"/>', text("H100"), NUMBER.format(5), blank)
    found = read(as_ods([], body=table(gap, HEAD, one, rest)), "x.ods")
    assert found.complaints == ()
    assert found.places["workloads[0]"] == "Plan!A5"


def test_errors_formulas_and_far_cells(as_ods: Callable[..., bytes]) -> None:
    error = f"<table:table-cell {DIVIDED}><text:p>#DIV/0!</text:p></table:table-cell>"
    empty = '<table:table-cell table:formula="of:=1+1"/>'
    found = read(
        as_ods([], body=table(HEAD, row(text("A"), "<table:table-cell/>", text("H100"), error),
                              row(text("B"), "<table:table-cell/>", text("H100"), empty))),
        "x.ods",
    )  # fmt: skip
    assert [(c.place, c.value) for c in found.complaints] == [
        ("Plan!D2", "#DIV/0!"),
        ("Plan!D3", "a formula without a stored value"),
    ]
    many = row(text("A", ' table:number-columns-repeated="900000"'))
    assert "a cell in column" in read(as_ods([], body=table(HEAD, many)), "x.ods").complaints[0].message


def test_merged_text_and_annotations(as_ods: Callable[..., bytes]) -> None:
    team = text("Search", ' table:number-rows-spanned="2"')
    noted = (
        '<table:table-cell office:value-type="string"><office:annotation><text:p>ask Kim</text:p></office:annotation>'
        "<text:p>A</text:p></table:table-cell>"
    )
    body = table(
        HEAD,
        row(noted, team, text("H100"), NUMBER.format(5)),
        row(text("B"), "<table:covered-table-cell/>", text("H100"), NUMBER.format(6)),
    )
    found = read(as_ods([], body=body), "x.ods")
    assert [(w["name"], w["team"]) for w in found.document["workloads"]] == [("A", "Search"), ("B", "Search")]


def test_what_must_not_be_opened(as_ods: Callable[..., bytes]) -> None:
    def changed(name: str, content: bytes) -> ParsedFile:
        target = io.BytesIO()
        source = zipfile.ZipFile(io.BytesIO(as_ods([["Workload"]])))
        with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
            for part in source.namelist():
                if part != name:
                    archive.writestr(part, source.read(part))
            archive.writestr(name, content)
        return read(target.getvalue(), "x.ods")

    doctype = b'<!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>'
    assert "document type" in changed("content.xml", doctype).complaints[0].message
    assert "not well-formed" in changed("content.xml", b"<a><b></a>").complaints[0].message
    assert "unpacks to" in changed("big", b"0" * 40_000_000).complaints[0].message
    assert "password" in changed("META-INF/manifest.xml", b"<x><encryption-data/></x>").complaints[0].message
    assert read(b"Workload,GPU\n", "x.ods").complaints[0].message.startswith("not an OpenDocument")
