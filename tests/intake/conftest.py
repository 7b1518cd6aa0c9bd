"""Sheets made in a line or two, in either form that people save them in."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from typing import Any

import openpyxl
import pytest

from planner.intake import Read, read


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


@pytest.fixture(scope="session")
def as_csv() -> Callable[..., bytes]:
    return _csv


@pytest.fixture(scope="session")
def as_xlsx() -> Callable[..., bytes]:
    return _xlsx


@pytest.fixture(scope="session")
def read_rows() -> Callable[..., Read]:
    """Reads rows as a workbook: complaints then name cells such as Plan!C5."""
    return lambda rows, **options: read(_xlsx(rows, **options), "review.xlsx")


@pytest.fixture(scope="session")
def read_texts() -> Callable[..., Read]:
    """Reads rows as CSV, where every cell is a text."""
    return lambda rows, **options: read(_csv(rows, **options), "review.csv")
