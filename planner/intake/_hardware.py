"""Which accelerator a row names and how many of it: "8x H100", "H100:8", a GPU and a GPUs column, nodes times GPUs."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from planner.intake._grid import Cell
from planner.intake._line import Found, Line
from planner.intake._units import ACCELERATOR, plain

_COUNTED = (
    re.compile(r"(?P<count>\d+(?:\.\d+)?) ?(?:[x×*]|pcs|pieces) ?(?P<name>\D.*)", re.IGNORECASE),
    re.compile(r"(?P<name>.*\S) ?(?<!rt)[×*x] ?(?P<count>\d{1,3})", re.IGNORECASE),
    re.compile(r"(?P<name>.*\S) ?[:(] ?(?P<count>\d+(?:\.\d+)?) ?\)?"),
)


@dataclass(frozen=True, slots=True)
class Hardware:
    """The accelerator as written and the count of it; either may be missing. `cells` are where they stood."""

    name: str = ""
    count: float | None = None
    name_cell: Cell | None = None
    count_cell: Cell | None = None


def split(text: str) -> tuple[str, float | None]:
    """ "8x H100" -> (H100, 8), "H100:8" -> (H100, 8), "A100 80GB" -> (A100 80GB, None)."""
    for form in _COUNTED:
        if found := form.fullmatch(text.strip()):
            return found["name"].strip(), float(found["count"])
    return text.strip(), None


def hardware_of(line: Line) -> Hardware:
    """What the row runs on. Counts that contradict each other are complained of."""
    name, in_name = split(line.text("accelerator"))
    name_cell = line.cell("accelerator") if name else None
    count, count_cell = _counted(line)
    if not name and (text := line.cell("gpus")) is not None and count is None and isinstance(text.value, str):
        name, in_name = split(text.text)
        name_cell = text
    if in_name is not None and count is not None and not math.isclose(in_name, count) and name_cell and count_cell:
        line.ledger.complain(count_cell, f"{count:g} here, but {name_cell.text!r} in {name_cell.place}", "one count")
    if count is None and in_name is not None:
        count, count_cell = in_name, name_cell
    return Hardware(name, count, name_cell, count_cell)


def _counted(line: Line) -> tuple[float | None, Cell | None]:
    gpus = _whole(line, "gpus")
    nodes, each = _whole(line, "nodes"), _whole(line, "accelerators_per_node")
    if gpus is not None:
        return gpus.value, gpus.cell
    if nodes is not None and each is not None:
        return nodes.value * each.value, nodes.cell
    return None, None


def _whole(line: Line, meaning: str) -> Found | None:
    """A count of accelerators or nodes: above zero; slices (0.5) are counts too."""
    cell = line.cell(meaning)
    if cell is None or (meaning == "gpus" and _is_named(cell)):
        return None
    found = line.number(meaning)
    if found is None:
        return None
    unit = plain(found.quantity.unit)
    if found.value == 0 or found.quantity.percent or not re.fullmatch(rf"(?:{ACCELERATOR}|nodes?|x|units?|pcs)?", unit):
        line.ledger.complain(found.cell, f"no count, under {found.column.header.text!r}", "a number above 0")
        return None
    return found


def _is_named(cell: Cell) -> bool:
    """Whether a count column holds "8x H100" rather than a number."""
    return isinstance(cell.value, str) and split(cell.text)[1] is not None and not cell.text.replace(",", "").isdigit()
