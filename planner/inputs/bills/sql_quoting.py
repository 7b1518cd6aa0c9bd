"""How names and texts are written in SQL: the only place that quotes."""

from __future__ import annotations

from collections.abc import Mapping


def quote_name(column: str) -> str:
    """A column's name, whatever signs it holds."""
    return '"' + column.replace('"', '""') + '"'


def quote_text(text: str) -> str:
    """A text, whatever signs it holds."""
    return "'" + text.replace("'", "''") + "'"


def select(what: str, source: str, where: str = "") -> str:
    """A table within a query; every part is made of what the functions here quote."""
    return " ".join(("(SELECT", what, "FROM", source, *(("WHERE", where) if where else ()), ")"))


def case_expression(value: str, meanings: Mapping[str, str], otherwise: str = "NULL::VARCHAR") -> str:
    """What `value` means by a table of lower-case words."""
    cases = " ".join(f"WHEN {quote_text(word)} THEN {quote_text(meaning)}" for word, meaning in meanings.items())
    return f"CASE lower(trim({value})) {cases} ELSE {otherwise} END"
