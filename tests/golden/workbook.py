"""XLSX as sheets, rows and cells: values, formulas, defined names, and the cells that charts are drawn from."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator
from typing import Any
from xml.etree import ElementTree

from tests.golden.normalized import normal_cell, normal_json, normal_number, normal_text

MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
CHART = "{http://schemas.openxmlformats.org/drawingml/2006/chart}"
LINK = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
QUOTED = re.compile(r'"((?:[^"]|"")*)"')


def read_xlsx(data: bytes) -> Any:
    """Rows by sheet, each with its cells by column; a formula stands before its value."""
    with zipfile.ZipFile(io.BytesIO(data)) as book:
        shared = _shared_texts(book)
        workbook = _parsed(book, "xl/workbook.xml")
        targets = {each.attrib["Id"]: each.attrib["Target"] for each in _parsed(book, "xl/_rels/workbook.xml.rels")}
        sheets = {
            sheet.attrib["name"]: _rows(_parsed(book, f"xl/{targets[sheet.attrib[LINK]]}"), shared)
            for sheet in workbook.iter(f"{MAIN}sheet")
        }
        charts = sorted(name for name in book.namelist() if name.startswith("xl/charts/chart"))
        return {
            "order": list(sheets),
            "sheets": sheets,
            "names": {each.attrib["name"]: _formula(each.text or "") for each in workbook.iter(f"{MAIN}definedName")},
            "charts": [[each.text or "" for each in _parsed(book, name).iter(f"{CHART}f")] for name in charts],
        }


def _parsed(book: zipfile.ZipFile, name: str) -> ElementTree.Element:
    return ElementTree.fromstring(book.read(name))


def _shared_texts(book: zipfile.ZipFile) -> list[str]:
    if "xl/sharedStrings.xml" not in book.namelist():
        return []
    return [
        "".join(text.text or "" for text in item.iter(f"{MAIN}t")) for item in _parsed(book, "xl/sharedStrings.xml")
    ]


def _rows(sheet: ElementTree.Element, shared: list[str]) -> list[dict[str, Any]]:
    """Every row from the first on, so that the position tells the number; cells without content are left out."""
    rows: list[dict[str, Any]] = []
    for row in sheet.iter(f"{MAIN}row"):
        rows += [{}] * (int(row.attrib["r"]) - len(rows) - 1)
        rows.append(dict(_cells(row, shared)))
    return rows


def _cells(row: ElementTree.Element, shared: list[str]) -> Iterator[tuple[str, Any]]:
    for cell in row.iter(f"{MAIN}c"):
        kind = cell.attrib.get("t", "n")
        formula, text = cell.find(f"{MAIN}f"), cell.findtext(f"{MAIN}v")
        if kind == "inlineStr":
            text = "".join(each.text or "" for each in cell.iter(f"{MAIN}t"))
        if text is None and formula is None:
            continue
        column = cell.attrib["r"].rstrip("0123456789")
        value = _value(kind, text or "", shared)
        yield column, value if formula is None else [f"={_formula(formula.text or '')}", value]


def _value(kind: str, text: str, shared: list[str]) -> Any:
    if kind == "s":
        return normal_json(shared[int(text)])
    if kind == "n" and text:
        return normal_number(float(text))
    return text if kind == "b" else normal_cell(text)


def _formula(text: str) -> str:
    """A formula without the sentences in it."""
    return QUOTED.sub(lambda found: f'"{normal_text(found[1])}"', text)
