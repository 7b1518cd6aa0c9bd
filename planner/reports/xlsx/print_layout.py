"""How many pages a sheet takes in print: as few across as can still be read, none with a few last rows alone.

Knows no sheet; sizes in points, on A4 that lies.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

WIDE, TALL = 784.0, 500.0
"""The size of a page without its margins."""
SCALE_MIN = 0.57
"""The least scale: letters of 11 points are then 6.3 high."""
SPARSE_PAGE_SHARE, SPARSE_SCALE_MIN = 0.35, 0.55
"""A last page filled no more than this is saved where the others need not become smaller than that."""


def fit_pages(widths: Sequence[float], repeated: int, height: float, head: float) -> tuple[int, int]:
    """Pages across, and down; 0 down is as many as it takes. Of the columns with these widths in characters the first
    `repeated` are on every page; `height` is that of all rows, `head` of those on every page."""
    # a character is 7 pixels with 5 of padding, a pixel 0.75 points
    points = [0.75 * (7 * width + 5) for width in widths]
    repeated_points = sum(points[:repeated])
    rest = sum(points) - repeated_points
    across = max(1, math.ceil(rest / (WIDE / SCALE_MIN - repeated_points)))
    scale = min(1.0, WIDE / max(1.0, repeated_points + rest / across))
    # the repeated head takes its height from every page
    down = (height - head) / (TALL / scale - head)
    whole = math.floor(down)
    is_few = whole > 0 and 0 < down - whole <= SPARSE_PAGE_SHARE and scale * whole / down >= SPARSE_SCALE_MIN
    return across, whole if is_few else 0
