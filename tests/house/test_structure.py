"""The figures of tests/house/structure.py stay within their limits."""

from __future__ import annotations

import re
import runpy
from pathlib import Path
from types import SimpleNamespace

import pytest

ROOM_ARROWS_MAX = 80
CHAIN_MAX = 12
TOUCHED_MAX = 104
ONE_WORD_FRACTION_MAX = 0.01
PRIVATE_WORDS_MAX = 30
"""In 1,000 lines."""


@pytest.fixture(scope="session")
def structure() -> SimpleNamespace:
    return SimpleNamespace(**runpy.run_path(str(Path(__file__).parent / "structure.py")))


@pytest.fixture(scope="session")
def trees(structure, parsed):
    return {module: parsed[path.relative_to(structure.ROOT)] for module, path in structure.paths().items()}


@pytest.fixture(scope="session")
def arrows(structure, trees):
    return {arrow for arrow in structure.room_arrows(trees) if all(room.startswith("planner.") for room in arrow)}


def test_rooms_know_few_others(arrows):
    assert len(arrows) <= ROOM_ARROWS_MAX


def test_no_room_is_deep_below_the_doors(structure, arrows):
    assert len(structure.longest_chain(arrows)) <= CHAIN_MAX


def test_a_class_name_is_used_once(structure, trees):
    assert [name for name, count in structure.class_names(trees).items() if count > 1] == []


def test_private_functions_are_named_by_what_they_do(structure, trees):
    names = list(structure.functions(trees))
    single = [name for name in names if re.fullmatch(r"_[a-z0-9]+", name)]
    assert len(single) <= ONE_WORD_FRACTION_MAX * len(names), single


def test_words_are_those_of_the_trade(structure):
    counts = structure.private_words()
    assert 1000 * counts.total() / structure.line_count() <= PRIVATE_WORDS_MAX, counts.most_common(10)


@pytest.mark.slow
def test_the_smallest_request_goes_a_short_way(structure, tmp_path):
    touched = structure.touched_modules(tmp_path)
    assert "planner.optimization.solver" in touched
    assert len(touched) <= TOUCHED_MAX
