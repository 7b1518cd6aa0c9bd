"""Tables as lines of text for terminals and pipes: the one aligner of the command line and of the tools.

Every cell is made plain and measured as a terminal shows it, so names in wide characters line up too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pricing.plain_text import display_width, plain_text, truncate_text

COLUMN_GAP = "  "


def align_columns(
    head: Sequence[str],
    rows: Iterable[Sequence[str]],
    right: Sequence[str] = (),
    *,
    width_max: int | None = None,
    indent: str = "",
) -> list[str]:
    """Lines of a table under its `head`; columns named in `right` are right-aligned.

    `width_max` truncates the cells of all columns but the last.

    >>> align_columns(("node", "hours"), [("機械", "8"), ("p5", "1,460")], right=["hours"])
    ['node  hours', '機械      8', 'p5    1,460']
    """
    lines = [[plain_text(cell) for cell in row] for row in (head, *rows)]
    if width_max is not None:
        lines = [[*(truncate_text(cell, width_max) for cell in line[:-1]), line[-1]] for line in lines]
    widths = [max(display_width(line[column]) for line in lines) for column in range(len(head))]
    is_right = [name in right for name in head]
    columns = list(zip(widths, is_right, strict=True))
    return [
        indent + COLUMN_GAP.join(pad_text(cell, *column) for cell, column in zip(line, columns, strict=True)).rstrip()
        for line in lines
    ]


def pad_text(text: str, columns: int, right: bool) -> str:
    """The text with spaces up to `columns` as a terminal shows them, before it (`right`) or after it."""
    space = " " * (columns - display_width(text))
    return space + text if right else text + space
