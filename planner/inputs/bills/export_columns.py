"""The columns of an export as SQL over text: matched by their header, with NULL and numbers in all their spellings.

The only module that quotes names and texts in SQL.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

NULLS = ("", "NULL", "null", "None", "none", "N/A", "<NA>", "\\N")
_BRACKETED = re.compile(r"\(([^()]+)\)\s*$")


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


def header_key(header: str) -> str:
    """The common key of a header's spellings: lineItem/UsageType and line_item_usage_type; Menge (Quantity), Quantity.

    An English name in brackets takes precedence over the translated one before it.
    """
    bracketed = _BRACKETED.search(header)
    inner = fold_alphanumeric(bracketed[1]) if bracketed else ""
    return inner if len(inner) > 2 else fold_alphanumeric(_BRACKETED.sub("", header))


def fold_alphanumeric(text: str) -> str:
    """A header or a tag without case and separators."""
    return "".join(c for c in text.casefold() if c.isalnum())


@dataclass(frozen=True)
class Columns:
    """The columns of one file; methods give SQL expressions. `comma`: the file has decimal commas.

    Cells are text or NULL: `DetectedExport.rows` has converted NULLS.
    """

    names: tuple[str, ...]
    comma: bool = False

    @cached_property
    def by_key(self) -> dict[str, str]:
        """The first column of each key."""
        return {header_key(name): name for name in reversed(self.names)}

    def has(self, *keys: str) -> bool:
        """Whether all of these columns exist."""
        return all(each in self.by_key for each in keys)

    def text(self, *keys: str) -> str:
        """The first of these columns that is filled in a row."""
        filled = [quote_name(self.by_key[each]) for each in keys if each in self.by_key]
        return f"coalesce({', '.join(filled)})" if len(filled) > 1 else filled[0] if filled else "NULL::VARCHAR"

    def inside(self, column: str, *path: str) -> str:
        """A part of a JSON column (sku -> description), or the flat column of both names (sku.description)."""
        if self.has(flat := header_key(".".join((column, *path)))):
            return self.text(flat)
        if not self.has(column):
            return "NULL::VARCHAR"
        steps = "$." + ".".join(f'"{step}"' for step in path)
        json = quote_name(self.by_key[column])
        return f"CASE WHEN json_valid({json}) THEN json_extract_string({json}, {quote_text(steps)}) END"

    def number(self, *keys: str) -> str:
        return self.as_number(self.text(*keys))

    def as_number(self, text: str) -> str:
        """The number in a text: 1.8E-8, -3, also with grouped thousands; else NULL."""
        if self.comma:
            return f"try_cast(replace(replace({text}, '.', ''), ',', '.') AS DOUBLE)"
        grouping = r"'^-?\d{1,3}(,\d{3})+(\.\d+)?$'"
        grouped = f"CASE WHEN regexp_matches({text}, {grouping}) THEN try_cast(replace({text}, ',', '') AS DOUBLE) END"
        return f"coalesce(try_cast({text} AS DOUBLE), {grouped})"

    def tags_of(self, prefix: str) -> str:
        """The columns with a prefix, one for each tag, as one JSON object; NULL without such columns."""
        tag_columns = [name for name in self.names if name.casefold().startswith(prefix)]
        if not tag_columns:
            return "NULL::VARCHAR"
        parts = ", ".join(
            f"{quote_text(name[len(prefix) :])}, nullif(trim({quote_name(name)}), '')" for name in tag_columns
        )
        return f"CAST(json_object({parts}) AS VARCHAR)"
