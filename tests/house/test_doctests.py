"""Every example in a docstring of the product and its tools runs and gives what it shows; none is passed over."""

from __future__ import annotations

import ast
import doctest
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PRODUCT = sorted(path for package in ("planner", "pricing", "tools") for path in (ROOT / package).rglob("*.py"))
WITH_EXAMPLES = [path.relative_to(ROOT) for path in PRODUCT if ">>> " in path.read_text(encoding="utf-8")]
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def examples(path: Path) -> int:
    """How many examples the docstrings of a file hold, read without running it."""
    nodes = [node for node in ast.walk(ast.parse((ROOT / path).read_bytes())) if isinstance(node, DOCUMENTED)]
    return sum(len(doctest.DocTestParser().get_examples(ast.get_docstring(node) or "")) for node in nodes)


@pytest.mark.parametrize("path", WITH_EXAMPLES, ids=str)
def test_examples_give_what_they_show(path: Path) -> None:
    """A module whose examples doctest does not find (below a decorator, say) fails as one whose examples are wrong."""
    module = import_module(".".join(path.with_suffix("").parts).removesuffix(".__init__"))
    ran = doctest.testmod(module)
    assert ran.failed == 0, "what was given is printed above"
    assert ran.attempted == examples(path) > 0


def test_there_are_examples() -> None:
    """The search above finds them, wherever the product is moved to."""
    assert sum(map(examples, WITH_EXAMPLES)) >= 20
