"""Sheets made in a line or two, in either form that people save them in."""

from __future__ import annotations

import csv
import io
import zipfile
from collections.abc import Callable, Sequence
from typing import Any
from xml.sax.saxutils import escape

import openpyxl
import pytest

from planner.inputs.file_reader import read
from planner.inputs.parsed_file import ParsedFile


def _csv(rows: Sequence[Sequence[Any]], separator: str = ",") -> bytes:
    text = io.StringIO()
    csv.writer(text, delimiter=separator).writerows(rows)
    return text.getvalue().encode()


def _xlsx(
    rows: Sequence[Sequence[Any]],
    title: str = "Plan",
    *,
    hidden: Sequence[int] = (),
    more: dict[str, Any] | None = None,
) -> bytes:
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = title
    for row in rows:
        sheet.append([None if cell == "" else cell for cell in row])
    for row in hidden:
        sheet.row_dimensions[row].hidden = True
    for name, other in (more or {}).items():
        extra = book.create_sheet(name.removeprefix("hidden "))
        for row in other:
            extra.append(list(row))
        if name.startswith("hidden "):
            extra.sheet_state = "hidden"
    target = io.BytesIO()
    book.save(target)
    return target.getvalue()


ODS_NAMES = " ".join(
    f'xmlns:{short}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
    for short, name in (("office", "office"), ("table", "table"), ("text", "text"), ("style", "style"))
)


def _ods(rows: Sequence[Sequence[Any]], title: str = "Plan", *, body: str = "", styles: str = "") -> bytes:
    """An OpenDocument spreadsheet of rows; `body` is its table:table elements where rows do not do."""

    def cell(value: Any) -> str:
        if value == "":
            return "<table:table-cell/>"
        if isinstance(value, int | float):
            return f'<table:table-cell office:value-type="float" office:value="{value}"/>'
        text = escape(value)
        return f'<table:table-cell office:value-type="string"><text:p>{text}</text:p></table:table-cell>'

    lines = "".join(f"<table:table-row>{''.join(map(cell, row))}</table:table-row>" for row in rows)
    body = body or f'<table:table table:name="{title}">{lines}</table:table>'
    content = (
        f'<?xml version="1.0" encoding="UTF-8"?><office:document-content {ODS_NAMES}>'
        f"<office:automatic-styles>{styles}</office:automatic-styles>"
        f"<office:body><office:spreadsheet>{body}</office:spreadsheet></office:body></office:document-content>"
    )
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr("content.xml", content)
    return target.getvalue()


@pytest.fixture(scope="session")
def as_ods() -> Callable[..., bytes]:
    return _ods


@pytest.fixture(scope="session")
def as_csv() -> Callable[..., bytes]:
    return _csv


@pytest.fixture(scope="session")
def as_xlsx() -> Callable[..., bytes]:
    return _xlsx


@pytest.fixture(scope="session")
def read_rows() -> Callable[..., ParsedFile]:
    """Reads rows as a workbook: complaints then name cells such as Plan!C5."""
    return lambda rows, **options: read(_xlsx(rows, **options), "review.xlsx")


@pytest.fixture(scope="session")
def read_texts() -> Callable[..., ParsedFile]:
    """Reads rows as CSV, where every cell is a text."""
    return lambda rows, **options: read(_csv(rows, **options), "review.csv")
