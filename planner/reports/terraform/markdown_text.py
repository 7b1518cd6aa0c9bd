"""Markdown of the emitted texts: tables, and words from outside without a mark-up character left alive."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from pricing.plain_text import plain_text

MARKUP = re.compile(r"([\\`*_\[\](){}<>|#~&$!])")


def escape_text(value: str) -> str:
    """A text from outside on one line of Markdown."""
    return MARKUP.sub(r"\\\1", plain_text(value))


def table_lines(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """The lines of a table, and an empty one."""
    return [f"| {' | '.join(row)} |" for row in (titles, ["---"] * len(titles), *rows)] + [""]
