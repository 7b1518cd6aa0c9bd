"""Whether inputs are as planned: a word next to each, and the counts for sheet Checks.

Knows no sheet. A cell that was cleared or has a text is no number: it would count as 0, or as an error.
"""

from __future__ import annotations

from collections.abc import Iterable

from planner.reports.xlsx.workbook import Formula, WorkbookSheet
from pricing.frozen_values import dataclass

AS_PLANNED, CHANGED, NO_NUMBER, OUTSIDE = "as planned", "changed here", "no number", "out of range"
WITHOUT_EFFECT = "may change what is possible: plan again"
"""Changed, without an effect on live cells."""
ROUNDED = "0.000001"
"""The relative rounding error of a sum."""


@dataclass(frozen=True, slots=True)
class InputCounts:
    """Formulas of how many inputs are not as planned, and how many cannot be right."""

    edited: str
    wrong: str


def state_formula(value: str, planned: str, outside: str, acts: str = "") -> Formula:
    """The state of an input; `outside` is the formula of a value that cannot be, `acts` of whether it is live."""
    changed = f'IF({acts},"{CHANGED}","{WITHOUT_EFFECT}")' if acts else f'"{CHANGED}"'
    inside = f'IF({difference_condition(value, planned)},{changed},"{AS_PLANNED}")'
    return Formula(f'=IF(ISNUMBER({value}),IF({outside},"{OUTSIDE}",{inside}),"{NO_NUMBER}")', AS_PLANNED)


def difference_condition(value: str, planned: str) -> str:
    """Whether a number is not as planned, except for rounding errors."""
    return f"ABS({value}-{planned})>{ROUNDED}*ABS({planned})"


def mark_states(sheet: WorkbookSheet, first: int, last: int, column: int, cell: str) -> None:
    """Colours a column of states; `cell` is the first of them."""
    is_wrong = f'OR({cell}="{NO_NUMBER}",{cell}="{OUTSIDE}")'
    is_changed = f'OR({cell}="{CHANGED}",{cell}="{WITHOUT_EFFECT}")'
    sheet.mark(first, column, last, {"bad": is_wrong, "warn": is_changed})


def count_states(states: str) -> InputCounts:
    """Of a column of states."""
    wrong = "+".join(f'COUNTIF({states},"{word}")' for word in (NO_NUMBER, OUTSIDE))
    return InputCounts(f'COUNTA({states})-COUNTIF({states},"{AS_PLANNED}")', wrong)


def count_pairs(values: str, planned: str) -> InputCounts:
    """Of a column in which those are inputs that have a planned value in another."""
    is_input = f'({planned}<>"")'
    return InputCounts(
        f"SUMPRODUCT({is_input}*({values}<>{planned}))", f"SUMPRODUCT({is_input}*(1-ISNUMBER({values})))"
    )


def sum_counts(groups: Iterable[InputCounts]) -> InputCounts:
    """Of several groups."""
    counts = tuple(groups)
    return InputCounts("+".join(one.edited for one in counts) or "0", "+".join(one.wrong for one in counts) or "0")
