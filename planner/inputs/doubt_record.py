"""The doubts of a file while it is read: each is decided once, by its answer or else by the proposed reading."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from planner.inputs.cell_grid import Cell, shorten_text
from planner.request.doubts import Doubt
from planner.request.errors import InputProblem

A_NUMBER = "a number"
"""A choice that stands for any number above 0."""
UNKNOWN = math.nan
"""The factor of a choice whose effect on the demand is not known before it is read so."""


@dataclass(slots=True)
class _Entry:
    question: str
    read: str
    factors: Mapping[str, float]
    proposed: str
    chosen: str
    answer: str
    change: float | None
    places: dict[str, None] = field(default_factory=dict)
    workloads: set[int] = field(default_factory=set)


@dataclass(slots=True)
class DoubtRecord:
    """The doubts so far, by id; `answers` are the choices of an answers file."""

    answers: Mapping[str, str] = field(default_factory=dict)
    entries: dict[str, _Entry] = field(default_factory=dict)
    problems: list[InputProblem] = field(default_factory=list)

    def decide(
        self,
        identity: str,
        cell: Cell,
        question: str,
        factors: Mapping[str, float],
        proposed: str,
        workload: int = -1,
        *,
        change: float | None = None,
    ) -> str:
        """The choice for a doubt: its answer, else `proposed`.

        `factors` has each choice with what the demand of `workload` (-1: of all) is multiplied by under it, UNKNOWN
        where only reading tells; `change` is its effect where no factor has it. The same doubt of several cells or
        workloads is one question.
        """
        entry = self.entries.get(identity)
        if entry is None:
            answer = self._find_answer(identity, factors)
            text = shorten_text(cell.text, 80)
            entry = _Entry(question, text, factors, proposed, answer or proposed, answer, change)
            self.entries[identity] = entry
        entry.places[cell.place] = None
        entry.workloads.add(workload)
        return entry.chosen

    def _find_answer(self, identity: str, factors: Mapping[str, float]) -> str:
        answer = self.answers.get(identity, "")
        if not answer or answer in factors or (A_NUMBER in factors and _is_positive_number(answer)):
            return answer
        expected = f"one of {', '.join(factors)}"
        self.problems.append(InputProblem("", f"answer {identity!r}", "not a choice", answer, expected))
        return ""

    def forget(self, workload: int) -> None:
        """Removes a workload that is not planned, with the doubts about it alone."""
        for identity, entry in list(self.entries.items()):
            entry.workloads.discard(workload)
            if not entry.workloads:
                del self.entries[identity]

    def list_doubts(self, workloads: Sequence[Mapping[str, Any]]) -> tuple[Doubt, ...]:
        """All doubts with what each can change of the demand of `workloads`."""
        amounts = [_measure_demand(each) for each in workloads]
        return tuple(
            Doubt(
                identity,
                tuple(entry.places),
                entry.read,
                entry.question,
                entry.proposed,
                tuple(entry.factors),
                _largest_change(entry, amounts),
                entry.answer,
            )
            for identity, entry in self.entries.items()
        )

    def unused_answers(self) -> list[str]:
        """The ids of answers to which the file has no question."""
        return [identity for identity in self.answers if identity not in self.entries]


def _is_positive_number(text: str) -> bool:
    try:
        return 0 < float(text) < math.inf
    except ValueError:
        return False


def _largest_change(entry: _Entry, amounts: Sequence[tuple[str, float]]) -> float:
    """The largest share of the demand of one unit that another choice than the chosen one changes."""
    if entry.change is not None:
        return entry.change
    others = [factor for choice, factor in entry.factors.items() if choice != entry.chosen]
    chosen = entry.factors.get(entry.chosen, UNKNOWN)
    if any(math.isnan(factor) for factor in (*others, chosen)):
        return math.inf
    by_unit: dict[str, list[float]] = {}
    for index, (unit, amount) in enumerate(amounts):
        affected, total = by_unit.setdefault(unit, [0.0, 0.0])
        concerned = index in entry.workloads or -1 in entry.workloads
        by_unit[unit] = [affected + amount * concerned, total + amount]
    share = max((affected / total for affected, total in by_unit.values() if total), default=0.0)
    return max((abs(factor / chosen - 1) * share for factor in others), default=0.0)


def _measure_demand(workload: Mapping[str, Any]) -> tuple[str, float]:
    """The unit of a workload's demand with its amount in the mean month, for comparisons of one unit."""
    demand = workload.get("demand", {})
    for key in ("accelerator_hours_per_month", "units_per_month", "total_units", "requests_per_second"):
        value = demand.get(key)
        if isinstance(value, Mapping):
            value = list(value.values())
        if isinstance(value, list):
            stated = [each for each in value if each]
            value = math.fsum(stated) / len(stated) if stated else 0.0
        if isinstance(value, int | float):
            return f"{key} {workload.get('unit', '')}", float(value)
    return "", 0.0
