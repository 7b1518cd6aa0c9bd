"""The plan for a terminal or a mail: plain text, at most 110 columns, no colours. Decides on layout only."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from planner.reports._content.evidence import plan_names
from planner.reports._content.first_screen import LISTED_MAX, first_screen
from planner.reports._content.report_outline import SECTIONS, list_sections
from planner.reports._content.sections import Bullets, ReportTable, Section
from planner.result import Plan
from pricing.plain_text import display_width, log_safe_text
from pricing.text_tables import COLUMN_GAP, pad_text

__all__ = ["MEDIA_TYPE", "SECTIONS", "SUFFIX", "render", "render_sections", "section_lines"]

MEDIA_TYPE = "text/plain; charset=utf-8"
SUFFIX = ".txt"

COLUMNS_MAX = 110
INDENT = "    "
COLUMN_MIN = 9
"""A column of words is not squeezed below this; a table still too wide is set in several parts."""

FIRST_COLUMN_MIN = 16
"""The first column has room for a range of months."""


SCREEN_LINES = 60
"""The first screen has no more."""
LISTED_MIN = 2
"""Lines of each of its lists, up to LISTED_MAX: as many as fit."""
MORE = "The whole report: --full. A part of it: --section NAME."


def render(plan: Plan) -> bytes:
    """The first screen, UTF-8, the recommendation first."""
    for listed in range(LISTED_MAX, LISTED_MIN - 1, -1):
        text = f"{_sections_text(first_screen(plan, listed))}\n\n{MORE} {plan_names(plan)}"
        if text.count("\n") < SCREEN_LINES:
            break
    return log_safe_text(f"{text}\n").encode()


def render_sections(plan: Plan, names: Iterable[str] = ()) -> bytes:
    """These parts of the report in full, or all of it (without every month of a plan of years), UTF-8."""
    chosen = tuple(names)
    text = (
        _sections_text(list_sections(plan, chosen or SECTIONS, in_full=bool(chosen)))
        or "This plan has nothing to tell there."
    )
    return log_safe_text(f"{text}\n").encode()


def _sections_text(sections: Iterable[Section]) -> str:
    return "\n\n".join("\n".join(section_lines(section)) for section in sections)


def section_lines(section: Section) -> Iterator[str]:
    """The lines of one section: its title, then its blocks."""
    yield section.title
    yield "-" * display_width(section.title)
    for block in section.blocks:
        if isinstance(block, ReportTable):
            yield from _table_lines(block)
        elif isinstance(block, Bullets):
            for item in block.items:
                first, *others = _wrap_text(item, COLUMNS_MAX - 2)
                yield f"- {first}"
                yield from (f"  {line}" for line in others)
        else:
            yield from _wrap_text(block, COLUMNS_MAX)


def _table_lines(table: ReportTable) -> Iterator[str]:
    """The table; too many columns continue below, the first one repeated. Prose is indented under its row."""
    prose: tuple[str, ...] = ()
    if table.has_prose:
        prose = tuple(row[-1] if len(row) > 1 else "" for row in table.rows)
        rows = tuple(row[:-1] if len(row) > 1 else row for row in table.rows)
        table = replace(table, titles=table.titles[:-1], rows=rows)
    widths = _column_widths(table)
    parts = _column_groups(widths)
    for number, part in enumerate(parts):
        if number:
            yield ""
        yield from _part_lines(table, widths, part, () if number else prose)


def _part_lines(table: ReportTable, widths: Sequence[int], part: Sequence[int], prose: Sequence[str]) -> Iterator[str]:
    rule = COLUMN_GAP.join("-" * widths[column] for column in part)
    yield from _row_lines(table.titles, table, widths, part)
    yield rule
    for index, row in enumerate(table.rows):
        if table.has_total and index == len(table.rows) - 1:
            yield rule
        if len(row) == 1:
            yield from _wrap_text(row[0], COLUMNS_MAX)
        else:
            yield from _row_lines(row, table, widths, part)
        if prose and prose[index]:
            yield from (f"{INDENT}{line}" for line in _wrap_text(prose[index], COLUMNS_MAX - len(INDENT)))


def _row_lines(cells: Sequence[str], table: ReportTable, widths: Sequence[int], part: Sequence[int]) -> Iterator[str]:
    wrapped = [_wrap_text(cells[column], widths[column]) for column in part]
    for line in range(max(len(lines) for lines in wrapped)):
        padded = [
            pad_text(lines[line] if line < len(lines) else "", widths[column], right=column in table.numbers)
            for lines, column in zip(wrapped, part, strict=True)
        ]
        yield COLUMN_GAP.join(padded).rstrip()


def _column_widths(table: ReportTable) -> list[int]:
    """Natural widths, the widest columns squeezed until the table fits; figures are never broken."""
    columns = range(len(table.titles))
    words = [max(display_width(word) for word in (table.titles[c].split() or [""])) for c in columns]
    widest = [
        max([display_width(table.titles[c]), *(display_width(row[c]) for row in table.rows if len(row) > 1)])
        for c in columns
    ]
    floors = [min(widest[c], max(COLUMN_MIN, words[c], _longest_number(table, c))) for c in columns]
    floors[0] = min(widest[0], max(floors[0], FIRST_COLUMN_MIN))
    widths = list(widest)
    while sum(widths) + len(COLUMN_GAP) * (len(widths) - 1) > COLUMNS_MAX:
        loose = [c for c in columns if widths[c] > floors[c]]
        if not loose:
            break
        # one column of the widest at a time, so that columns end up of similar width
        widths[max(loose, key=lambda c: widths[c])] -= 1
    return widths


def _longest_number(table: ReportTable, column: int) -> int:
    if column not in table.numbers:
        return 0
    words = (word for row in table.rows if len(row) > 1 for word in row[column].split())
    figures = (word for word in words if word[:1].isdigit() or word[:1] == "-")
    return max(map(display_width, figures), default=0)


def _column_groups(widths: Sequence[int]) -> list[list[int]]:
    """The columns of each part of a wide table; every part begins with the first column."""
    parts = [[0]]
    room = COLUMNS_MAX - widths[0]
    for column in range(1, len(widths)):
        needed = widths[column] + len(COLUMN_GAP)
        if needed > room and len(parts[-1]) > 1:
            parts.append([0])
            room = COLUMNS_MAX - widths[0]
        parts[-1].append(column)
        room -= needed
    return parts


def _wrap_text(text: str, columns: int) -> list[str]:
    """The text in lines of at most `columns`; words that are longer are broken."""
    lines: list[str] = []
    line = ""
    for word in text.split():
        rest = word
        if line and display_width(line) + 1 + display_width(rest) <= columns:
            line += f" {rest}"
            continue
        if line:
            lines.append(line)
        while display_width(rest) > columns:
            cut = _break_position(rest, columns)
            lines.append(rest[:cut])
            rest = rest[cut:]
        line = rest
    return [*lines, line] if line or not lines else lines


def _break_position(word: str, columns: int) -> int:
    """How many characters of the word fit; names break after a joint (- _ . /) where one is near the end."""
    cut = 1
    while cut < len(word) and display_width(word[: cut + 1]) <= columns:
        cut += 1
    joint = max(word.rfind(sign, columns // 2, cut) for sign in "-_./;,")
    return joint + 1 if joint > 0 else cut
