"""Worked examples as they were published, and what it takes to work them again."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from planner.cli._exit_codes import run
from planner.studies import PlanningConventions, ReproducedExample, reproduce
from planner.studies.examples import read_examples
from pricing.catalog.price_catalog import Catalog

FILE = Path(__file__).parent / "data" / "worked_examples.json"


@pytest.fixture(scope="session")
def file() -> Path:
    return FILE


@pytest.fixture(scope="session")
def house() -> PlanningConventions:
    return PlanningConventions(Catalog.embedded())


@pytest.fixture
def document() -> dict[str, Any]:
    """The published file, free to be changed."""
    return json.loads(FILE.read_text(encoding="utf-8"))


@pytest.fixture
def work(house):
    """One example of a method, worked: work(method, inputs, expected, tolerance, title=...)."""

    def one(method: str, inputs: Any, expected: Any, tolerance: Any = None, **texts: str) -> ReproducedExample:
        written = {"method": method, "inputs": inputs, "expected": expected, "tolerance": tolerance or {}, **texts}
        (found,) = reproduce(read_examples(json.dumps(written).encode(), "one.json"), house)
        return found

    return one


@pytest.fixture
def study(capfd):
    """The exit code, standard output and standard error of `planner study` with these arguments."""

    def one(*arguments: object) -> tuple[int, str, str]:
        code = run(["study", *map(str, arguments)])
        return (code, *capfd.readouterr())

    return one


@pytest.fixture
def published(document):
    """A copy of one published example, by its id."""
    return lambda wanted: copy.deepcopy(next(e for e in document["examples"] if e["id"] == wanted))
