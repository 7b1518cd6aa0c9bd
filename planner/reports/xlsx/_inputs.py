"""Whether inputs are as planned: a word beside each, and what sheet Checks counts of them.

Knows no sheet. A cell that was cleared or has a text is no number: it would count as 0, or as an error.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from planner.reports.xlsx._book import Formula, Sheet

AS_PLANNED, CHANGED, NO_NUMBER, OUTSIDE = "as planned", "changed here", "no number", "out of range"
WITHOUT_EFFECT = "plan again"
"""Changed, where it acts on nothing that is live."""
ROUNDED = "0.000001"
"""What a sum may round off, over its amount."""


@dataclass(frozen=True, slots=True)
class Inputs:
    """Formulas of how many inputs are not as planned, and how many cannot be right."""

    edited: str
    wrong: str


def state(value: str, planned: str, outside: str = "", acts: str = "") -> Formula:
    """The state of an input; `outside` is the formula of a value that cannot be, `acts` of whether it is live."""
    changed = f'IF({acts},"{CHANGED}","{WITHOUT_EFFECT}")' if acts else f'"{CHANGED}"'
    told = f'IF({differs(value, planned)},{changed},"{AS_PLANNED}")'
    if outside:
        told = f'IF({outside},"{OUTSIDE}",{told})'
    return Formula(f'=IF(ISNUMBER({value}),{told},"{NO_NUMBER}")', AS_PLANNED)


def differs(value: str, planned: str) -> str:
    """Whether a number is not as planned, but for what rounds off."""
    return f"ABS({value}-{planned})>{ROUNDED}*ABS({planned})"


def marked(sheet: Sheet, first: int, last: int, column: int, cell: str) -> None:
    """Colours a column of states; `cell` is the first of them."""
    is_wrong = f'OR({cell}="{NO_NUMBER}",{cell}="{OUTSIDE}")'
    is_changed = f'OR({cell}="{CHANGED}",{cell}="{WITHOUT_EFFECT}")'
    sheet.mark(first, column, last, {"bad": is_wrong, "warn": is_changed})


def of_states(states: str) -> Inputs:
    """Of a column of states."""
    wrong = "+".join(f'COUNTIF({states},"{word}")' for word in (NO_NUMBER, OUTSIDE))
    return Inputs(f'COUNTA({states})-COUNTIF({states},"{AS_PLANNED}")', wrong)


def of_pairs(values: str, planned: str) -> Inputs:
    """Of a column in which those are inputs that have a planned value in another."""
    is_input = f'({planned}<>"")'
    return Inputs(f"SUMPRODUCT({is_input}*({values}<>{planned}))", f"SUMPRODUCT({is_input}*(1-ISNUMBER({values})))")


def together(groups: Iterable[Inputs]) -> Inputs:
    """Of several groups."""
    found = tuple(groups)
    return Inputs("+".join(one.edited for one in found) or "0", "+".join(one.wrong for one in found) or "0")
