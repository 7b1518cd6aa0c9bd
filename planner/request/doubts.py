"""Doubts of reading a file: what can be read in more than one way, the proposed reading, and what the others change.

Reading goes on with the proposal or with the answer given before; whether a doubt stops planning is decided once, in
`planner.application`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from planner.request.errors import InputProblem
from pricing.frozen_values import dataclass

DEMAND_CHANGE_MAX = 0.01
"""The share of the demand that a doubt may change and still be planned with its proposal."""


@dataclass(frozen=True, slots=True)
class Doubt:
    """A question about a file. `id` names it in an answers file and stays the same in the next file of its kind.

    `places` are the cells concerned, the first of them that of `read`; `change` is the largest share of the demand (of
    one unit) that another choice adds or takes away, inf where that is unknown; `answer` is empty while it is open.
    """

    id: str
    places: tuple[str, ...]
    read: str
    question: str
    proposed: str
    choices: tuple[str, ...]
    change: float
    answer: str = ""

    @property
    def stops_planning(self) -> bool:
        return not self.answer and self.change > DEMAND_CHANGE_MAX

    @property
    def change_text(self) -> str:
        """The change in words: "up to 1,100 % of the demand"."""
        return "the demand" if math.isinf(self.change) else f"up to {self.change:,.0%} of the demand".replace("%", " %")

    def to_problem(self) -> InputProblem:
        """The doubt as a problem of the input, for callers that must have an answer."""
        choices = " or ".join(self.choices)
        expected = f"{choices}; proposed {self.proposed}; it changes {self.change_text}; answer {self.id!r}"
        return InputProblem("", self.places[0], self.question, self.read, expected)

    def to_note(self) -> str:
        """The doubt as a remark on how the file was read."""
        chosen = f"Read as {self.answer}, as answered" if self.answer else f"Read as {self.proposed}, the proposal"
        return f"{self.places[0]}: {self.question} {chosen}"


def open_doubts(doubts: Sequence[Doubt]) -> tuple[Doubt, ...]:
    """Those that stop planning."""
    return tuple(each for each in doubts if each.stops_planning)
