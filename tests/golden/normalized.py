"""Values without their wording: numbers, dates, names and structure are kept, sentences are not.

A sentence becomes SENTENCE, so that one that appears or vanishes is still seen, and one that is worded anew is not.
"""

from __future__ import annotations

import csv
import io
import json
import math
import re
from typing import Any

SENTENCE = "~"
PLAN_ID = "<plan id>"
"""In place of every plan's id and content digest, and of the catalogue's digest: the first changes with any new field,
the second with any figure, the third with the day on which private prices are looked up."""
PLAN = re.compile(r"(?=[0-9]*[a-f])[0-9a-f]{12}(?:[0-9a-f]{4})?")
DIGITS = 12
"""Significant digits that are recorded: a thousand times finer than what the comparison looks at."""
WORDS_IN_A_NAME = 6
WORD = re.compile(r"[^\W\d_]{2,}")
"""Two letters or more in a row."""
CLAUSE_END = ".,;:?!"
DECIMAL = re.compile(r"-?\d+\.\d{6,}(?:[eE][-+]?\d+)?")
"""A number with all its digits in a text that may hold others too."""
NUMERIC = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")


def is_sentence(text: str) -> bool:
    """Whether a text is English rather than a name.

    A name has no space; or only one part with two letters in a row (`12 months`); or it is short, no part of it ends as
    clauses do, and at least half of those parts hold a digit, one of _/.- or two capitals (`aws us-east-1 p5 spot`).
    """
    parts = text.split()
    words = [part for part in parts if WORD.search(part)]
    if len(parts) < 2 or len(words) < 2:
        return False
    if len(words) > WORDS_IN_A_NAME or any(part[-1] in CLAUSE_END for part in parts):
        return True
    marked = sum(1 for word in words if re.search(r"[\d_/.-]|[A-Z]{2}", word))
    return 2 * marked < len(words)


def normal_text(text: str) -> str:
    """A name as it is, but for a plan's id; a sentence as SENTENCE."""
    if PLAN.fullmatch(text):
        return PLAN_ID
    return SENTENCE if is_sentence(text) else text


def normal_number(value: float) -> float:
    """A number with as many digits as are recorded; whole ones without a fraction."""
    if isinstance(value, int) or not math.isfinite(value):
        return value
    shown = float(f"{value:.{DIGITS}g}")
    return int(shown) if shown.is_integer() and abs(shown) < 10**DIGITS else shown


def normal_json(value: Any) -> Any:
    """A JSON value without its sentences."""
    if isinstance(value, dict):
        return {key: normal_json(each) for key, each in value.items()}
    if isinstance(value, list):
        return [normal_json(each) for each in value]
    if isinstance(value, str):
        return f"{float(value):.{DIGITS}g}" if DECIMAL.fullmatch(value) else normal_text(value)
    return normal_number(value) if isinstance(value, float) else value


def normal_cell(text: str) -> Any:
    """The text of a cell: a number with all its digits as a number, JSON as its value, a sentence as SENTENCE."""
    if NUMERIC.fullmatch(text) and not re.match(r"[-+]?0\d", text):
        return normal_number(float(text))
    if text[:1] in ("{", "["):
        try:
            return normal_json(json.loads(text))
        except ValueError:
            return normal_text(text)
    return normal_text(text)


def read_json(data: bytes) -> Any:
    return normal_json(json.loads(data))


def read_csv(data: bytes) -> Any:
    """The columns in their order, and the rows by column, without empty cells; cells beyond the header by number."""
    header, *rows = csv.reader(io.StringIO(data.decode("utf-8-sig"), newline="")) or [[]]
    columns = [normal_text(title) if title else "" for title in header]
    names = [title if columns.count(title) == 1 else f"{title}{index}" for index, title in enumerate(columns)]
    return {
        "columns": columns,
        "rows": [
            {
                names[index] if index < len(names) else f"+{index}": normal_cell(cell)
                for index, cell in enumerate(row)
                if cell
            }
            for row in rows
        ],
    }
