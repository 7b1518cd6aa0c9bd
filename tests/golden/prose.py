"""Text and Markdown as the numbers and names that they show, section by section."""

from __future__ import annotations

import re

from tests.golden.normalized import SENTENCE, is_sentence

Section = list[str]
"""Rows of tables, each as one text, and the numbers between them, in their order."""

RULER = re.compile(r"\s*-+(?:\s{2,}-+)+")
"""Under the header of a table in text."""
UNDERLINE = re.compile(r"[-=]{3,}")
NOTE = "    "
"""Starts a line of a table that is a sentence about the row above."""
EDGES = "\\\"'`()[]{}<>,;:.!?*|"
PLAN_ID = re.compile(r"\b(?=[0-9]*[a-f])[0-9a-f]{12}\b")
NOISE = re.compile(r"[-+]?0\.0{6,}\d*")
"""What is left of a sum that should be zero."""


def tokens(text: str) -> list[str]:
    """What a text shows besides words: parts with a digit or an underscore, without the marks around them."""
    parts = (part.strip(EDGES) for part in PLAN_ID.sub("", text).replace("**", "").split())
    return ["0" if NOISE.fullmatch(part) else part for part in parts if re.search(r"[\d_]", part)]


def read_text(data: bytes) -> list[Section]:
    """Sections by their underlined headings. A row of a table is one text; what wraps elsewhere is not seen."""
    sections: list[Section] = [[]]
    in_table = False
    lines = data.decode("utf-8").splitlines()
    for line, after in zip(lines, [*lines[1:], ""], strict=True):
        if UNDERLINE.fullmatch(after) and len(after) == len(line):
            sections.append([])
        if not line.strip():
            in_table = False
        elif RULER.fullmatch(line):
            in_table = True
        elif in_table and not line.startswith(NOTE):
            sections[-1] += [row] if (row := _row(line)) else []
        else:
            sections[-1] += tokens(line)
    return sections


def _row(line: str) -> str:
    """What a row of a table shows, with dashes for what it says that there is not; nothing where it only has words."""
    shown = [part for part in line.split() if part == "-" or tokens(part)]
    return " ".join("-" if part == "-" else tokens(part)[0] for part in shown) if tokens(line) else ""


def read_markdown(data: bytes) -> list[Section]:
    """Sections by their headings. A row of a table is one text with all its cells."""
    sections: list[Section] = [[]]
    for line in data.decode("utf-8").splitlines():
        if line.startswith("#"):
            sections.append([])
        if not line.startswith("|"):
            sections[-1] += tokens(line)
        elif not re.fullmatch(r"[|\s:-]+", line):
            cells = re.split(r"(?<!\\)\|", line.strip().strip("|"))
            sections[-1].append(" | ".join(_markdown_cell(cell) for cell in cells))
    return sections


def _markdown_cell(cell: str) -> str:
    """A name as it is; of a sentence what it shows besides words."""
    text = re.sub(r"<br */?>", " ", cell).replace("**", "").replace("\\", "").strip()
    return " ".join([SENTENCE, *tokens(text)]) if is_sentence(text) else text


def read_errors(text: str) -> list[str]:
    """What is printed on standard error, line by line, but for the files written and their sizes."""
    lines = (tokens(line) for line in text.splitlines() if not line.startswith("wrote "))
    return [" ".join(shown) for shown in lines if shown]
