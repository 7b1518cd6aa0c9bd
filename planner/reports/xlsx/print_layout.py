"""How many pages a sheet takes in print: as few across as can still be read, none with a few last rows alone.

Knows no sheet; sizes in points, on A4 that lies.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

WIDE, TALL = 784.0, 500.0
"""The size of a page without its margins."""
SCALE_MIN = 0.57
"""The least scale: letters of 11 points are then 6.3 high."""
SPARSE_PAGE_SHARE, SPARSE_SCALE_MIN = 0.35, 0.55
"""A last page filled no more than this is saved where the others need not become smaller than that."""


@dataclass(frozen=True, slots=True)
class PrintSize:
    """The widths of columns in characters, how many of them repeat; the height of all rows, and of those that do."""

    widths: Sequence[float]
    repeated: int
    height: float
    head: float


def fit_pages(page: PrintSize) -> tuple[int, int]:
    """Pages across, and down; 0 down is as many as it takes."""
    # a character is 7 pixels with 5 of padding, a pixel 0.75 points
    points = [0.75 * (7 * width + 5) for width in page.widths]
    repeated_points = sum(points[: page.repeated])
    rest = sum(points) - repeated_points
    across = max(1, math.ceil(rest / (WIDE / SCALE_MIN - repeated_points)))
    scale = min(1.0, WIDE / max(1.0, repeated_points + rest / across))
    # the repeated head takes its height from every page
    down = (page.height - page.head) / (TALL / scale - page.head)
    whole = math.floor(down)
    is_few = whole > 0 and 0 < down - whole <= SPARSE_PAGE_SHARE and scale * whole / down >= SPARSE_SCALE_MIN
    return across, whole if is_few else 0
