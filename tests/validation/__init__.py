"""Published worked examples, answered by the product's own functions: one file for each method, found by this folder.

A method turns a study's inputs into calls of `finance`, `goodput` and `owned`, and their results into the study's
names, under the study's own conventions; beside them stands what the same thing costs in full under ours. It knows no
plan and no price list but the figures of owned systems.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Protocol

from tests.validation._comparison import CheckedValue, Nested, compare_values
from tests.validation._conventions import FullCost, PlanningConventions
from tests.validation._inputs import Inputs as StudyInputs

__all__ = ["Example", "FullCost", "House", "Leaf", "Method", "Nested", "Reproduced", "methods", "reproduce"]


class Method(Protocol):
    """What each module of this folder offers. `LEAVES_OUT` says in a sentence what such studies do not count.

    One whose studies have no cost in full has NO_FULL_COST, which says why, instead of `full_cost`.
    """

    LEAVES_OUT: str
    Inputs: type[StudyInputs]

    def outputs(self, inputs: StudyInputs) -> Mapping[str, Nested]: ...

    def full_cost(self, inputs: StudyInputs, house: PlanningConventions) -> FullCost: ...


@cache
def discover_methods() -> dict[str, Method]:
    """Every method by name.

    >>> "linear_breakeven" in methods()
    True
    """
    names = sorted(info.name for info in pkgutil.iter_modules(__path__) if not info.name.startswith("_"))
    return {name: importlib.import_module(f"{__name__}.{name}") for name in names}


@dataclass(frozen=True, slots=True)
class Example:
    """One published case: what went in, what was printed, and how near a reproduction must come.

    `expected` and `tolerance` are nested as in the file; `inputs` are those of the method, checked.
    """

    id: str
    title: str
    method: str
    inputs: StudyInputs
    expected: Nested
    tolerance: object
    source: str
    notes: str


@dataclass(frozen=True, slots=True)
class ReproducedExample:
    """An example with every printed figure beside ours, and the cost in full; `not_used` are inputs without effect."""

    example: Example
    leaves: tuple[CheckedValue, ...]
    full_cost: FullCost
    leaves_out: str
    not_used: tuple[str, ...]

    @property
    def ok(self) -> bool:
        return all(leaf.ok for leaf in self.leaves)


def reproduce(examples: Sequence[Example], house: PlanningConventions) -> tuple[ReproducedExample, ...]:
    """Every example, in order; a figure that a method does not give is not reproduced, and its leaf says so."""
    return tuple(_reproduce_example(example, discover_methods()[example.method], house) for example in examples)


def _reproduce_example(example: Example, method: Method, house: PlanningConventions) -> ReproducedExample:
    return ReproducedExample(
        example=example,
        leaves=compare_values(example.expected, method.outputs(example.inputs), example.tolerance),
        full_cost=_full_cost(example, method, house),
        leaves_out=method.LEAVES_OUT,
        not_used=example.inputs.not_used(),
    )


def _full_cost(example: Example, method: Method, house: PlanningConventions) -> FullCost:
    why_not = getattr(method, "NO_FULL_COST", None)
    if why_not is not None:
        return FullCost({}, f"none: {why_not}")
    return method.full_cost(example.inputs, replace(house, title=f"{example.title} {example.id}"))
