"""The plan for a terminal or a mail: plain text, at most 110 columns, no colours. Decides layout, not words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from planner.answer import Plan
from planner.reports._shared.clean import for_log, width
from planner.reports._shared.order import report
from planner.reports._shared.sections import Bullets, Section, Table

MEDIA_TYPE = "text/plain; charset=utf-8"
SUFFIX = ".txt"

COLUMNS_MAX = 110
BETWEEN = "  "
INDENT = "    "
NARROWEST = 9
"""A column of words is not squeezed below this; a table still too wide is set in several parts."""

KEY = 16
"""The first column keeps room for a range of months."""


def render(plan: Plan) -> bytes:
    """The whole report, UTF-8, the recommendation first."""
    return for_log("\n\n".join("\n".join(_section(section)) for section in report(plan)) + "\n").encode()


def _section(section: Section) -> Iterator[str]:
    yield section.title
    yield "-" * width(section.title)
    for block in section.blocks:
        if isinstance(block, Table):
            yield from _table(block)
        elif isinstance(block, Bullets):
            for item in block.items:
                first, *others = _wrapped(item, COLUMNS_MAX - 2)
                yield f"- {first}"
                yield from (f"  {line}" for line in others)
        else:
            yield from _wrapped(block, COLUMNS_MAX)


def _table(table: Table) -> Iterator[str]:
    """The table; too many columns continue below, the first one repeated. Prose stands indented under its row."""
    prose: tuple[str, ...] = ()
    if table.has_prose:
        prose = tuple(row[-1] if len(row) > 1 else "" for row in table.rows)
        rows = tuple(row[:-1] if len(row) > 1 else row for row in table.rows)
        table = replace(table, titles=table.titles[:-1], rows=rows)
    widths = _widths(table)
    parts = _parts(widths)
    for number, part in enumerate(parts):
        if number:
            yield ""
        yield from _part(table, widths, part, () if number else prose)


def _part(table: Table, widths: Sequence[int], part: Sequence[int], prose: Sequence[str]) -> Iterator[str]:
    rule = BETWEEN.join("-" * widths[column] for column in part)
    yield from _row(table.titles, table, widths, part)
    yield rule
    for index, row in enumerate(table.rows):
        if table.has_total and index == len(table.rows) - 1:
            yield rule
        if len(row) == 1:
            yield from _wrapped(row[0], COLUMNS_MAX)
        else:
            yield from _row(row, table, widths, part)
        if prose and prose[index]:
            yield from (f"{INDENT}{line}" for line in _wrapped(prose[index], COLUMNS_MAX - len(INDENT)))


def _row(cells: Sequence[str], table: Table, widths: Sequence[int], part: Sequence[int]) -> Iterator[str]:
    wrapped = [_wrapped(cells[column], widths[column]) for column in part]
    for line in range(max(len(lines) for lines in wrapped)):
        texts = [lines[line] if line < len(lines) else "" for lines in wrapped]
        padded = [
            _padded(text, widths[column], right=column in table.numbers)
            for text, column in zip(texts, part, strict=True)
        ]
        yield BETWEEN.join(padded).rstrip()


def _padded(text: str, columns: int, *, right: bool) -> str:
    space = " " * (columns - width(text))
    return space + text if right else text + space


def _widths(table: Table) -> list[int]:
    """Natural widths, the widest columns squeezed until the table fits; figures are never broken."""
    columns = range(len(table.titles))
    words = [max(width(word) for word in (table.titles[c].split() or [""])) for c in columns]
    widest = [max([width(table.titles[c]), *(width(row[c]) for row in table.rows if len(row) > 1)]) for c in columns]
    floors = [min(widest[c], max(NARROWEST, words[c], _longest_figure(table, c))) for c in columns]
    floors[0] = min(widest[0], max(floors[0], KEY))
    widths = list(widest)
    while sum(widths) + len(BETWEEN) * (len(widths) - 1) > COLUMNS_MAX:
        loose = [c for c in columns if widths[c] > floors[c]]
        if not loose:
            break
        widths[max(loose, key=lambda c: widths[c])] -= 1
    return widths


def _longest_figure(table: Table, column: int) -> int:
    if column not in table.numbers:
        return 0
    figures = [
        word
        for row in table.rows
        if len(row) > 1
        for word in row[column].split()
        if word[:1].isdigit() or word[:1] == "-"
    ]
    return max((width(figure) for figure in figures), default=0)


def _parts(widths: Sequence[int]) -> list[list[int]]:
    """Which columns stand side by side; every part begins with the first column."""
    parts = [[0]]
    room = COLUMNS_MAX - widths[0]
    for column in range(1, len(widths)):
        needed = widths[column] + len(BETWEEN)
        if needed > room and len(parts[-1]) > 1:
            parts.append([0])
            room = COLUMNS_MAX - widths[0]
        parts[-1].append(column)
        room -= needed
    return parts


def _wrapped(text: str, columns: int) -> list[str]:
    """The text in lines of at most `columns`; words that are longer are broken."""
    lines: list[str] = []
    line = ""
    for word in text.split():
        rest = word
        if line and width(line) + 1 + width(rest) <= columns:
            line += f" {rest}"
            continue
        if line:
            lines.append(line)
        while width(rest) > columns:
            cut = _fitting(rest, columns)
            lines.append(rest[:cut])
            rest = rest[cut:]
        line = rest
    return [*lines, line] if line or not lines else lines


def _fitting(word: str, columns: int) -> int:
    """How many characters of the word fit; names break after a joint (- _ . /) where one is near the end."""
    cut = 1
    while cut < len(word) and width(word[: cut + 1]) <= columns:
        cut += 1
    joint = max(word.rfind(sign, columns // 2, cut) for sign in "-_./;,")
    return joint + 1 if joint > 0 else cut
