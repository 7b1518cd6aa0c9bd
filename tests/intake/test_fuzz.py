"""Damaged files: whatever the bytes, the answer is a Read, and its complaints are words with a place."""

from __future__ import annotations

import io
import re
import zipfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.inputs.file_reader import formats, read
from planner.inputs.parsed_file import ParsedFile

EXAMPLES = Path(__file__).parents[2] / "examples"
NAMES = ["capacity-review.xlsx", "capacity-review.csv", "finetune.yaml", "request.json"]
EDIT = st.tuples(st.floats(0, 1), st.integers(0, 24), st.binary(max_size=24))


def is_an_answer(found: ParsedFile) -> bool:
    inputs = found.inputs
    assert inputs.rows_used + len(inputs.rows_refused) == inputs.rows_in
    assert found.document.get("workloads") is not None or found.complaints or inputs.format in ("json", "yaml")
    return all(complaint.message and complaint.place for complaint in found.complaints)


@pytest.mark.parametrize("name", NAMES)
@given(st.lists(EDIT, min_size=1, max_size=4))
def test_a_damaged_example_is_answered(name: str, edits: list[tuple[float, int, bytes]]) -> None:
    data = (EXAMPLES / name).read_bytes()
    for at, length, new in edits:
        start = int(at * len(data))
        data = data[:start] + new + data[start + length :]
    assert is_an_answer(read(data, name))
    assert is_an_answer(read(data, "-"))


@given(
    st.binary(max_size=300), st.sampled_from(["-", *(f"x{suffix}" for each in formats() for suffix in each.suffixes)])
)
def test_any_bytes_are_answered(data: bytes, name: str) -> None:
    assert is_an_answer(read(data, name))


WORDS = [
    "Workload",
    "GPU",
    "GPUs",
    "Hours",
    "GPU-hours",
    "Tokens/s",
    "Dec-26",
    "Total",
    "8",
    "1.234",
    "-5",
    "45%",
    "€3",
    "H100",
    "x",
    "",
    "8x H100",
    "24/7",
    "\u00a0",
    "=1",
    "n/a",
]


@settings(max_examples=2 * settings.default.max_examples)
@given(st.lists(st.lists(st.sampled_from(WORDS), max_size=7), max_size=8), st.sampled_from([",", ";", "\t"]))
def test_any_grid_is_answered(rows: list[list[str]], separator: str) -> None:
    text = "\n".join(separator.join(row) for row in rows)
    assert is_an_answer(read(text.encode(), "x.csv"))


REVIEW = zipfile.ZipFile(EXAMPLES / "capacity-review.xlsx")
PARTS = {name: REVIEW.read(name) for name in REVIEW.namelist()}
VALUES = re.compile(rb'(?<==")[^"]*(?=")|(?<=>)[^<>]+(?=<)')
ODD = [
    b"",
    b"0",
    b"-1",
    b"1e400",
    b"9" * 20,
    b"e",
    b"d",
    b"str",
    b"A1:XFD1048576",
    b"AAA1",
    b"NaN",
    b"rId1",
    b"../x",
    b"[h]:mm",
]


@given(
    st.sampled_from(sorted(PARTS)), st.lists(st.tuples(st.floats(0, 1), st.sampled_from(ODD)), min_size=1, max_size=3)
)
def test_a_workbook_with_odd_values_in_its_parts_is_answered(part: str, edits: list[tuple[float, bytes]]) -> None:
    body = PARTS[part]
    for at, new in edits:
        spans = [found.span() for found in VALUES.finditer(body)]
        start, end = spans[int(at * (len(spans) - 1))]
        body = body[:start] + new + body[end:]
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        for name, content in PARTS.items():
            archive.writestr(name, body if name == part else content)
    assert is_an_answer(read(target.getvalue(), "capacity-review.xlsx"))
