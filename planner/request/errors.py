"""What can go wrong on the way from a question to a plan.

PlannerError
├── InvalidRequest     problems of the input: all at once, each with its place         (exit code 2, HTTP 422)
│   └── OpenQuestions  only questions that an answer settles                           (the same)
└── InternalError      a plan that does not replay: a bug of this program          (exit code 1, HTTP 500)

A plan that cannot exist is no error: it is a Plan with `status` infeasible (exit code 3, HTTP 200).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from pricing.csv_tables import find_nearest_names
from pricing.frozen_values import dataclass

if TYPE_CHECKING:
    from planner.request.doubts import Doubt

SUGGESTIONS_MAX = 12
"""Names that a problem lists where none is close to what was written."""


@dataclass(frozen=True, slots=True)
class InputProblem:
    """One fault of the input: where it stands, what was read, what was expected (with the nearest valid value).

    `path` is the JSON path in the request (workloads[2].demand.deadline_month), "" where there is none;
    `place` is where the asker sees it (Sheet1!C5, line 3 column 7, the path itself).
    """

    path: str
    place: str
    message: str
    value: str = ""
    expected: str = ""

    def __str__(self) -> str:
        parts = [f"{self.place or self.path}: {self.message}"]
        if self.value:
            parts.append(f"read {self.value}")
        if self.expected:
            parts.append(f"expected {self.expected}")
        return "; ".join(parts)


def unknown_name(
    path: str, written: str, known: Iterable[str] = (), *, kind: str = "", nearest: Sequence[str] = (), hint: str = ""
) -> InputProblem:
    """A name that is none of `known`: expected is the nearest of them (or `nearest`), else the first few, else `hint`.

    `kind` is what it should name; by default the field of the path.
    """
    names = sorted(known)
    suggestions = nearest or find_nearest_names(written, names) or names[:SUGGESTIONS_MAX]
    expected = f"one of {', '.join(suggestions)}" if suggestions else hint
    return InputProblem(path, path, f"unknown {kind or path.rpartition('.')[2]}", written, expected)


class PlannerError(Exception):
    """Anything that this package refuses; carries fields, doors make the words."""


class InvalidRequest(PlannerError):
    """The input is not a request that can be planned; `complaints` are all its faults, in the order of the input.

    `doubts` are the questions among them, which an answer settles.
    """

    def __init__(self, complaints: tuple[InputProblem, ...], doubts: tuple[Doubt, ...] = ()) -> None:
        self.complaints = complaints
        self.doubts = doubts
        super().__init__("\n".join(str(complaint) for complaint in complaints))

    @property
    def faults(self) -> tuple[InputProblem, ...]:
        """The problems that no answer settles: `complaints` without the questions."""
        questions = {each.to_problem() for each in self.doubts}
        return tuple(each for each in self.complaints if each not in questions)

    @property
    def proposals(self) -> dict[str, str]:
        """The proposed answer to each question, by its id: change wrong ones, and give them as answers."""
        return {each.id: each.proposed for each in self.doubts}


class OpenQuestions(InvalidRequest):
    """The input can be planned once its `doubts` have answers; `proposals` has one for each."""


class InternalError(PlannerError):
    """The program contradicts itself; nothing it computed may be shown."""
