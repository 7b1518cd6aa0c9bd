"""Names, texts and subqueries in SQL: the only module that quotes."""

from __future__ import annotations

from collections.abc import Mapping


def quote_name(column: str) -> str:
    """A column's name with any characters."""
    return '"' + column.replace('"', '""') + '"'


def quote_text(text: str) -> str:
    """A text with any characters."""
    return "'" + text.replace("'", "''") + "'"


def select(columns: str, source: str, where: str = "") -> str:
    """A subquery; all of its parts must be quoted with the functions here."""
    return " ".join(("(SELECT", columns, "FROM", source, *(("WHERE", where) if where else ()), ")"))


def case_expression(value: str, meanings: Mapping[str, str], otherwise: str = "NULL::VARCHAR") -> str:
    """The meaning of `value` by a table of lower-case words."""
    cases = " ".join(f"WHEN {quote_text(word)} THEN {quote_text(meaning)}" for word, meaning in meanings.items())
    return f"CASE lower(trim({value})) {cases} ELSE {otherwise} END"
