"""Outputs as values that can be compared: structure, numbers, dates and names are kept, sentences are not.

A sentence becomes SENTENCE, so that one that appears or vanishes is still seen, and one that is worded anew is not.
"""

from __future__ import annotations

import json
import re
from typing import Any

SENTENCE = "~"
PLAN_ID = "<plan id>"
DIGITS = 12
"""Significant digits that are recorded; more than the comparison looks at."""
WORD = re.compile(r"[^\W\d_]{2,}")
"""Two letters or more in a row."""
NUMERIC = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
WORDS_IN_A_NAME = 6


def is_sentence(text: str) -> bool:
    """Whether a text is English rather than a name.

    A name has no space; or only one part with letters in it (`12 months`); or it is short, no part ends as clauses end,
    and at least half of its parts with letters hold a digit, a sign or two capitals (`aws us-east-1 p5.48xlarge spot`).
    """
    parts = [part for part in text.split() if WORD.search(part)]
    if len(text.split()) < 2 or len(parts) < 2:
        return False
    if len(parts) > WORDS_IN_A_NAME or any(part[-1] in ".,;:?!()" for part in parts[:-1]) or text[-1] in ".;:?!)":
        return True
    marked = sum(1 for part in parts if re.search(r"[\d_/.-]|[A-Z]{2}", part))
    return 2 * marked < len(parts)


def normal_text(text: str) -> str:
    return SENTENCE if is_sentence(text) else text


def normal_number(value: float) -> int | float:
    """A number with as many digits as are compared; whole ones without a fraction."""
    if isinstance(value, (bool, int)):
        return value
    if value != value or abs(value) == float("inf"):
        return value
    shown = float(f"{value:.{DIGITS}g}")
    return int(shown) if shown.is_integer() and abs(shown) < 10**DIGITS else shown


def normal_json(value: Any) -> Any:
    """A JSON value without its sentences."""
    if isinstance(value, dict):
        return {key: PLAN_ID if key in ("plan_id", "planId") else normal_json(each) for key, each in value.items()}
    if isinstance(value, list):
        return [normal_json(each) for each in value]
    if isinstance(value, str):
        return normal_text(value)
    return normal_number(value) if isinstance(value, float) else value


def read_json(data: bytes) -> Any:
    return normal_json(json.loads(data))
