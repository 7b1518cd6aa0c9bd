"""Sections of the readable report as GitHub-flavoured Markdown that fits into one comment: open ones, and folds.

Text from outside shows as it is: it never becomes a link, an image, a mention, HTML, a directive or a new table cell.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from planner.reports._content.markdown_text import disable_autolinks, escape_line, escape_markdown, table_row
from planner.reports._content.sections import Bullets, ReportTable, Section

COMMENT_BYTES = 65_536
"""The length of a comment on GitHub in characters, of which a text never has more than bytes."""


def render_comment(head: Sequence[str], folded: Sequence[Section]) -> bytes:
    """The lines of `head`, then a fold for each section; the longest sections are left out, by name, until it fits."""
    parts = [(section.title, "\n".join(_folded_section(section))) for section in folded]
    left_out: list[str] = []
    text = _assemble_comment(head, parts, left_out)
    while len(text) > COMMENT_BYTES and parts:
        longest = max(parts, key=lambda part: len(part[1]))
        parts.remove(longest)
        left_out.append(longest[0])
        text = _assemble_comment(head, parts, left_out)
    return text


def open_sections(sections: Iterable[Section], level: int = 2) -> list[str]:
    """The lines of sections under headings of a level, up to half the length of a comment: a first section may be
    too long for a thousand workloads."""
    shortened: list[str] = []
    left = COMMENT_BYTES // 2
    for line in (line for section in sections for line in _open_section(section, level)):
        left -= len(line.encode()) + 1
        if left < 0:
            return [*shortened, "- More is left out here. The plan as a workbook or as JSON has all of it.", ""]
        shortened.append(line)
    return shortened


def _assemble_comment(head: Sequence[str], parts: Sequence[tuple[str, str]], left_out: Sequence[str]) -> bytes:
    """The report, with a list of omitted sections before the folded ones."""
    reason = f"Left out, so that the rest fits into a comment ({COMMENT_BYTES:,d} bytes)"
    omission = f"{reason}: {'; '.join(left_out)}. The plan as a workbook or as JSON has all of it."
    omission_note = [escape_line(omission), ""] if left_out else []
    return ("\n".join([*head, *omission_note, *(text for _, text in parts)]).rstrip("\n") + "\n").encode()


def _open_section(section: Section, level: int) -> Iterator[str]:
    yield from (f"{'#' * level} {escape_markdown(section.title)}", "")
    yield from _block_lines(section)


def _folded_section(section: Section) -> Iterator[str]:
    """A section that opens when its title is clicked. Its blank lines matter: without them no table is made."""
    yield from ("<details>", f"<summary>{disable_autolinks(section.title)}</summary>", "")
    yield from _block_lines(section)
    yield from ("</details>", "")


def _block_lines(section: Section) -> Iterator[str]:
    for block in section.blocks:
        if isinstance(block, ReportTable):
            yield from _table_lines(block)
        elif isinstance(block, Bullets):
            yield from (f"- {escape_line(item)}" for item in block.items)
        else:
            yield escape_line(block)
        yield ""


def _table_lines(table: ReportTable) -> Iterator[str]:
    yield table_row(table.titles)
    yield "|".join(("", *(" ---: " if c in table.numbers else " --- " for c in range(len(table.titles))), ""))
    for index, row in enumerate(table.rows):
        is_total = table.has_total and index == len(table.rows) - 1
        yield table_row((*row, *("" for _ in table.titles[len(row) :])), "**" if is_total or len(row) == 1 else "")
