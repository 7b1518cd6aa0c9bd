"""Text from outside (names, notes, file names, sources) made harmless: for terminals, spreadsheets and build logs.

All output of such text passes through here, the only such filter: decision 0023.
"""

from __future__ import annotations

import re
import unicodedata

_ESCAPE_SEQUENCES = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # colours, cursor movement
    r"|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?"  # window titles, links and other strings up to their end
    r"|\x1b[ -/]*[0-~]?"  # two-character sequences
    r"|\x9b[0-?]*[ -/]*[@-~]"  # the one-byte form of the first
)
_COMMANDS = re.compile(r"^[^\S\n]*::|##(?=\w*\[)", re.MULTILINE)
_INVISIBLE = frozenset({"Cc", "Cf", "Cn", "Co", "Cs"})
_FORMULA_STARTS = tuple("=+-@\t\r＝＋－＠")  # the last four are full-width forms


def plain_line(text: str) -> str:
    r"""The text on one line with its spaces, without terminal sequences, control, invisible and unassigned characters.

    >>> plain_line("  a\x1b[31mred\x1b[0m\nline\u202e\x00")
    '  ared line'
    """
    if text.isascii() and text.isprintable():  # nearly every text, and half the time of a large workbook
        return text
    spaced = (" " if character.isspace() else character for character in _ESCAPE_SEQUENCES.sub("", text))
    return "".join(character for character in spaced if unicodedata.category(character) not in _INVISIBLE)


def plain_text(text: str) -> str:
    r"""The plain line with single spaces between its words: a name, a cell, a sentence.

    >>> plain_text(" two\t words\x07")
    'two words'
    """
    return " ".join(plain_line(text).split())


def spreadsheet_text(text: str) -> str:
    """The plain text, with an apostrophe before it where a spreadsheet would read a formula when it opens a CSV file.

    >>> spreadsheet_text("=1+1"), spreadsheet_text("H100")
    ("'=1+1", 'H100')
    """
    text = plain_text(text)
    return f"'{text}" if text.startswith(_FORMULA_STARTS) else text


def log_safe_text(text: str) -> str:
    """The text, of any number of lines, without commands that a build server would run from its log: a line that begins
    with ::command (GitHub Actions), ##[command] or ##vso[command] anywhere (also Azure Pipelines, TeamCity).

    >>> log_safe_text("::error::x ##vso[task.setvariable]")
    ': :error::x # #vso[task.setvariable]'
    """
    return _COMMANDS.sub(lambda match: match[0].replace("::", ": :").replace("##", "# #"), text)


def display_width(text: str) -> int:
    """Columns of a terminal that the text takes: East Asian wide characters count two, combining marks none."""
    if text.isascii():
        return len(text)
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def truncate_text(text: str, width: int) -> str:
    """The text in at most `width` columns, with an ellipsis of three dots where something is cut off."""
    if display_width(text) <= width:
        return text
    text = text[:width]
    while display_width(text) > width - 3:
        text = text[:-1]
    return f"{text}..."
