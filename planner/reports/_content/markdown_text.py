"""Markdown for every format that writes it: tables, and text from outside with all its markup made literal."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from pricing.plain_text import plain_text

_MARKUP = re.compile(r"[\\`*\[\]~|!${]|(?<![^\W_])_|_(?![^\W_])")
_AT_START = re.compile(r"^(?P<digits>\d+)?(?P<sign>(?(digits)[.)]|[-+=#:]))")
_LINKED = re.compile(r"(?<=:)(?=//)|(?<=\bwww)(?=\.)|(?<=@)|#(?=\d)|(?<=\bgh)(?=-\d)", re.IGNORECASE)
_HTML = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
_BREAK = "<!-- -->"  # splits a text without showing, so that no address, mention or issue number is made a link


def escape_markdown(text: str) -> str:
    r"""The plain text with everything that Markdown would read as markup inside a line made literal.

    >>> escape_markdown("a|b <b> [x](http://y)")
    'a\\|b &lt;b&gt; \\[x\\](http:<!-- -->//y)'
    """
    return disable_autolinks(_MARKUP.sub(lambda match: f"\\{match[0]}", plain_text(text)))


def disable_autolinks(text: str) -> str:
    """The text without tags, and with no address, mention or issue number that becomes a link."""
    text = re.sub(r"[&<>]", lambda match: _HTML[match[0]], text)
    return _LINKED.sub(lambda match: match[0] + _BREAK, text)


def escape_line(text: str) -> str:
    """An escaped text for the start of a line, where a list or a heading could begin."""
    return _AT_START.sub(lambda match: f"{match['digits'] or ''}\\{match['sign']}", escape_markdown(text))


def table_row(cells: Sequence[str], mark: str = "") -> str:
    """A row of cells that are texts from outside, `mark` on both sides of each that is not empty."""
    return "|".join(("", *(f" {mark}{escape_markdown(cell)}{mark} " if cell else " " for cell in cells), ""))


def table_lines(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """The lines of a table of cells that are Markdown already, and an empty line."""
    return [f"| {' | '.join(row)} |" for row in (titles, ["---"] * len(titles), *rows)] + [""]
