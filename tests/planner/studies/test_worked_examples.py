"""Every published example is reproduced within its tolerance, from its own inputs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from planner.studies import discover_methods, reproduce
from planner.studies.examples import read_examples
from planner.studies.inputs import StudyInputs

FILE = Path(__file__).parent / "data" / "worked_examples.json"
EXAMPLES = json.loads(FILE.read_text(encoding="utf-8"))["examples"]


def leaves(printed) -> int:
    parts = printed.values() if isinstance(printed, dict) else printed if isinstance(printed, list) else None
    return 1 if parts is None else sum(map(leaves, parts))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example["id"])
def test_it_is_reproduced(example, house):
    (found,) = reproduce(read_examples(json.dumps(example).encode(), "example.json"), house)
    assert [(leaf.name, leaf.printed, leaf.computed, leaf.message) for leaf in found.leaves if not leaf.ok] == []
    assert len(found.leaves) == leaves(example["expected"]) > 0
    assert found.not_used == ()


def moved(printed):
    if isinstance(printed, dict):
        return {name: moved(below) for name, below in printed.items()}
    return [moved(below) for below in printed] if isinstance(printed, list) else 2 * printed + 1


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example["id"])
def test_other_figures_than_were_printed_are_not_reproduced(example, house):
    other = {**example, "expected": moved(example["expected"])}
    (found,) = reproduce(read_examples(json.dumps(other).encode(), "example.json"), house)
    assert [leaf.name for leaf in found.leaves if leaf.ok] == []


def test_every_method_has_an_example():
    assert {example["method"] for example in EXAMPLES} == set(discover_methods())


@pytest.mark.parametrize("name", discover_methods())
def test_a_method_has_what_its_folder_promises(name):
    method = discover_methods()[name]
    assert issubclass(method.INPUTS, StudyInputs)
    assert method.LEAVES_OUT.startswith("It leaves out ")
    assert method.LEAVES_OUT.endswith(".")
    assert hasattr(method, "full_cost") != hasattr(method, "NO_FULL_COST")
