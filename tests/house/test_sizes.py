"""Files and functions stay small enough to be read in one go, and say what they are."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

FILE_LINES = 400
FUNCTION_LINES = 50

LONGER_FILES = {
    "planner/reports/xlsx/workbook.py": "one writer of sheets and cells, in one place",
}
"""Files that are longer, each with its reason."""

LONGER = {
    "tests/reports/conftest.py::large": "a plan written out, value by value: a table, not a procedure",
    "tests/reports/by_hand.py::small": "a plan written out, value by value: a table, not a procedure",
    "tests/planner/proof/given.py::read": "every fact of a question once, in one place: a table, not a procedure",
    "tests/terraform/conftest.py::make_plan": "a plan written out, value by value: a table, not a procedure",
    "tests/tfcheck/build_schemas.py::block": "a tool kept as it was made and tried, no part of the product",
    "tests/tfcheck/tfcheck.py::check": "a tool kept as it was made and tried, no part of the product",
}
"""Functions that are longer than they should be, each with its reason. None of the product's may stand here."""


@pytest.fixture(scope="module")
def long(parsed) -> set[str]:
    """Every function that is longer than most may be."""
    return {f"{path}::{node.name}" for path, tree in parsed.items() for node in functions(tree)
            if lines(node) > FUNCTION_LINES}  # fmt: skip


def functions(tree: ast.Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def lines(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def is_product(path: Path) -> bool:
    return path.parts[0] in ("planner", "pricing")


def test_no_file_is_long(files, root):
    counts = {path: len((root / path).read_bytes().splitlines()) for path in files if path.suffix == ".py"}
    assert {str(path) for path, count in counts.items() if count > FILE_LINES} - LONGER_FILES.keys() == set()


def test_no_function_is_long(long):
    assert long - LONGER.keys() == set()


def test_every_exception_is_still_needed(long):
    assert LONGER.keys() - long == set()
    assert not any(is_product(Path(name)) for name in LONGER)


def test_every_module_says_what_it_is(parsed):
    """An empty __init__.py has nothing to say."""
    silent = [str(path) for path, tree in parsed.items() if tree.body and not ast.get_docstring(tree)]
    assert silent == []


def test_silenced_rules_have_a_reason(parsed, root):
    """`noqa` and `type: ignore` name what they silence, and say why beside it."""
    bare = [
        f"{path}:{number}: {line.strip()}"
        for path in parsed
        if is_product(path)
        for number, line in enumerate((root / path).read_text(encoding="utf-8").splitlines(), 1)
        for mark in ("# noqa", "# type: ignore")
        if mark in line and len(line.partition(mark)[2].lstrip(":[]").split()) < 3
    ]
    assert bare == []
