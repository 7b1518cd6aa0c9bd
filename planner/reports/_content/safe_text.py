"""Text from outside (names, notes, file names, sources) made harmless, whatever the format.

Knows no format but the spreadsheet's habit of running text as a formula. Every format passes every text through here.
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


def plain_text(text: str) -> str:
    r"""The text on one line, without terminal sequences, control characters or invisible and unassigned characters.

    >>> plain("a\x1b[31mred\x1b[0m\nline\u202e\x00")
    'ared line'
    """
    text = _ESCAPE_SEQUENCES.sub("", text)
    spaced = "".join(" " if c.isspace() else c for c in text)
    return " ".join("".join(c for c in spaced if unicodedata.category(c) not in _INVISIBLE).split())


def spreadsheet_text(text: str) -> str:
    """The plain text, with an apostrophe before it where a spreadsheet would read a formula when it opens a CSV file.

    >>> for_spreadsheet("=1+1"), for_spreadsheet("H100")
    ("'=1+1", 'H100')
    """
    text = plain_text(text)
    return f"'{text}" if text.startswith(_FORMULA_STARTS) else text


def log_safe_text(text: str) -> str:
    """The text, of any number of lines, without what a build server would run when it stands in its log: a line that
    begins with ::command (GitHub Actions), ##[command] or ##vso[command] anywhere (also Azure Pipelines, TeamCity).

    >>> for_log("::error::x ##vso[task.setvariable]")
    ': :error::x # #vso[task.setvariable]'
    """
    return _COMMANDS.sub(lambda found: found[0].replace("::", ": :").replace("##", "# #"), text)


def display_width(text: str) -> int:
    """Columns of a terminal that the text takes: East Asian wide characters count two, combining marks none."""
    if text.isascii():
        return len(text)
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)
