"""Worked examples of published cost studies, reproduced by the planner's own functions.

A method turns the inputs of a study into calls of `planner.finance`, `planner.performance.goodput` and
`planner.supply.onprem`, and their results into the study's names, under the study's own conventions; next to them it
gives the full cost under the conventions of a plan. What plans have no function for is in `formulas`: a method that
says so in its docstring validates that formula, not the planner. Each method is a module of the folder `methods`.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Protocol

from planner.request.errors import InputProblem
from planner.studies import methods
from planner.studies.comparison import CheckedValue, Nested, compare_values
from planner.studies.conventions import FullCost, PlanningConventions
from planner.studies.inputs import StudyInputs
from pricing.frozen_values import dataclass

__all__ = [
    "AssumedInput",
    "CheckedValue",
    "Example",
    "FullCost",
    "Method",
    "Nested",
    "PlanningConventions",
    "ReproducedExample",
    "UnreadExample",
    "discover_methods",
    "reproduce",
]


class Method(Protocol):
    """The interface of each module of `methods`. `LEAVES_OUT` says in a sentence what such studies do not count.

    A method whose studies have no full cost has NO_FULL_COST, the reason, instead of `full_cost`.
    """

    LEAVES_OUT: str
    INPUTS: type[StudyInputs]

    def outputs(self, inputs: StudyInputs) -> Mapping[str, Nested]: ...

    def full_cost(self, inputs: StudyInputs, house: PlanningConventions) -> FullCost: ...


@cache
def discover_methods() -> dict[str, Method]:
    """Every method by name.

    >>> "linear_breakeven" in discover_methods()
    True
    """
    names = sorted(info.name for info in pkgutil.iter_modules(methods.__path__))
    return {name: importlib.import_module(f"{methods.__name__}.{name}") for name in names}


@dataclass(frozen=True, slots=True)
class AssumedInput:
    """An input that no source prints: the reader's to replace. `value` is what the case computes with, and why."""

    name: str
    value: float | str
    reason: str


@dataclass(frozen=True, slots=True)
class Example:
    """One published case: its inputs, the printed results, and the tolerance of a reproduction.

    `expected` and `tolerance` are nested as in the file; `inputs` are those of the method, checked. `assumed` are the
    inputs that are nowhere published, by path, each with the reason of the value that stands in for it.
    """

    id: str
    title: str
    method: str
    inputs: StudyInputs
    expected: Nested
    tolerance: object
    source: str
    notes: str
    assumed: tuple[AssumedInput, ...] = ()


@dataclass(frozen=True, slots=True)
class UnreadExample:
    """A case that cannot be worked: an unknown method or other faults, each with its place; `figures` of it are
    printed."""

    id: str
    title: str
    method: str
    figures: int
    problems: tuple[InputProblem, ...]

    @property
    def ok(self) -> bool:
        return False


@dataclass(frozen=True, slots=True)
class ReproducedExample:
    """An example with each printed and computed figure, and the full cost; `not_used` are inputs without effect."""

    example: Example
    leaves: tuple[CheckedValue, ...]
    full_cost: FullCost
    leaves_out: str
    not_used: tuple[str, ...]

    @property
    def ok(self) -> bool:
        return all(leaf.ok for leaf in self.leaves)


def reproduce(
    examples: Sequence[Example | UnreadExample], house: PlanningConventions
) -> tuple[ReproducedExample | UnreadExample, ...]:
    """Every example, in order; a figure that a method does not give is not reproduced, and its leaf says so. Cases that
    could not be read stay as they are."""
    return tuple(
        _reproduce_example(each, discover_methods()[each.method], house) if isinstance(each, Example) else each
        for each in examples
    )


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
