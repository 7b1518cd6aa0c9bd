"""The accelerator of a row and its count: "8x H100", "H100:8", a GPU and a GPUs column, nodes times GPUs.

A cloud's instance type (p4d.24xlarge) is read as the accelerators in it.
"""

from __future__ import annotations

import math
import re
import unicodedata
from functools import lru_cache
from typing import TYPE_CHECKING

from planner.inputs.cell_grid import Cell
from planner.inputs.doubt_record import A_NUMBER, UNKNOWN
from planner.inputs.notation.units import ACCELERATOR
from planner.inputs.spreadsheet.row_values import CellNumber, WorkloadRow
from pricing.frozen_values import dataclass
from pricing.search.retired import describe_ended

if TYPE_CHECKING:
    from pricing.catalog.price_catalog import Catalog
    from pricing.offering import Offering

_TIMES = r"(?P<nodes>\d{1,4}) ?(?:nodes? of|nodes? ?[x×*]|servers? of|[x×*]) ?(?P<each>\d{1,3})(?! ?g|\d)"
_COUNTED = (
    re.compile(r"(?P<count>\d+(?:\.\d+)?) ?(?:[x×*]|pcs|pieces) ?(?P<name>\D.*)", re.IGNORECASE),
    re.compile(r"(?P<name>.*[^\s(\d].*) ?(?<!rt)[×*x] ?(?P<count>\d{1,3})", re.IGNORECASE),
    re.compile(r"(?P<name>.*\S) ?[:(] ?(?P<count>\d+(?:\.\d+)?) ?\)?"),
    re.compile(r"(?P<count>\d{1,3}) (?P<name>[A-Za-z][A-Za-z ]*\d.*)"),
)
_NODES = re.compile(rf"{_TIMES} ?(?:[x×*] ?|{ACCELERATOR} ?|per node ?|each ?)*(?P<name>[A-Za-z].*)?", re.IGNORECASE)
_NAME_AND_SIZE = re.compile(
    r"(?P<name>(?:\w+ )*[a-z]{1,2}\d{2,3})(?: ?[-/ ] ?| ?\((?=\d+\)))(?P<gb>\d{2,3})\)?", re.IGNORECASE
)
"""A100-80 and A100 (80): the second may also be a count."""
SIZES_GB = frozenset({16, 24, 32, 40, 48, 80, 94, 96, 141, 180, 192})
"""Memory sizes of accelerators: any other number behind a name is a count."""
_UNITS = re.compile(rf"(?:{ACCELERATOR}|nodes?|x|units?|pcs)")
_INSTANCE_TYPE = re.compile(
    r"(?:ml\.)?[a-z]{1,4}\d{1,2}[a-z-]*\.(?:\d{0,3}x?large|metal[\w-]*)|[a-z]\d-[a-z]+-\d+[a-z]*|standard_n[\w-]+"
    r"|(?:vm|bm)\.gpu[\w.]+",
    re.IGNORECASE,
)
"""The form of an instance type in any cloud: p4d.24xlarge."""
NAME_MAX = 200
"""Characters of an accelerator as people write it; the forms above take long in longer texts."""


@dataclass(frozen=True, slots=True)
class Hardware:
    """The accelerator as written and its count; either may be missing. `each` is the number in one node."""

    name: str = ""
    count: float | None = None
    name_cell: Cell | None = None
    count_cell: Cell | None = None
    each: float | None = None
    each_cell: Cell | None = None


_OR_SIMILAR = re.compile(
    r"[ ,]*\(?\b(?:or|oder|ou|o|od\.) (?:similar|equivalent|comparable|better|vergleichbar|ähnlich\w*|gleichwertig|"
    r"[eé]quivalente?|similaire|equivalente|simile)\b\.?\)?$|[ ,]*\((?:preferred|bevorzugt|tbc|tbd)\)$",
    re.IGNORECASE,
)


@lru_cache(maxsize=4096)
def split_hardware_text(text: str) -> tuple[str, float | None]:
    """ "8x H100" -> (H100, 8), "H100:8" -> (H100, 8), "2x8 H100" -> (H100, 16), "A100-80" -> (A100 80GB, None)."""
    if len(text) > NAME_MAX:
        return text, None
    text = " ".join(unicodedata.normalize("NFKC", text).replace("\u00d7", "x").split())
    if match := _NODES.fullmatch(text):
        return (match["name"] or "").strip(), float(match["nodes"]) * float(match["each"])
    if (match := _NAME_AND_SIZE.fullmatch(text)) and int(match["gb"]) in SIZES_GB:
        return f"{match['name']} {match['gb']}GB", None
    for form in _COUNTED:
        if match := form.fullmatch(text):
            return split_hardware_text(match["name"].strip())[0] or match["name"].strip(), float(match["count"])
    return text, None


def read_hardware(line: WorkloadRow) -> Hardware:
    """The hardware of a row. Counts that contradict each other are a problem."""
    name, in_name = split_hardware_text(_OR_SIMILAR.sub("", line.text("accelerator")))
    name_cell = line.cell("accelerator") if name else None
    if name_cell is not None and _OR_SIMILAR.search(name_cell.text):
        line.ledger.note(f"{name_cell.quoted} is read as {name}; a column Substitution says whether others will do")
    hardware = _hardware_of_instance_type(line, name, in_name, name_cell)
    if hardware is not None:
        return hardware
    nodes, each = _read_positive_count(line, "nodes"), _read_positive_count(line, "accelerators_per_node")
    count, count_cell = _read_count(line, nodes, each)
    if (text := line.cell("gpus")) is not None and count is None and isinstance(text.value, str):
        other, in_count = split_hardware_text(text.text)
        if not name:
            name, in_name, name_cell = other, in_count, text
        elif in_count is not None and not other:
            count, count_cell = in_count, text
    if _is_ambiguous_name(line, name_cell, count):
        return Hardware(name, count, name_cell, count_cell)
    if in_name is not None and count is not None and not math.isclose(in_name, count) and name_cell and count_cell:
        line.ledger.add_problem(count_cell, f"{count:g} here, but {name_cell.text!r} in {name_cell.place}", "one count")
    if count is None and in_name is not None:
        count, count_cell = in_name, name_cell
    copies = _read_positive_count(line, "replicas") if line.cell("gang") is None else None
    if copies is not None and copies.value > 1 and count is not None:
        message = "ambiguous: the GPUs in this row are those of one replica or of all"
        line.ledger.add_problem(copies.cell, message, "a column GPUs per replica")
    per_node = (each.value, each.cell) if each else (None, None)
    return Hardware(name, count, name_cell, count_cell, *per_node)


def _is_ambiguous_name(line: WorkloadRow, cell: Cell | None, count: float | None) -> bool:
    """Whether "A100 (80)" may mean 80 of them, in a row without a number of GPUs; adds a problem then."""
    text = cell.text if cell is not None else ""
    if count is not None or cell is None or not text.endswith(")"):
        return False
    match = _NAME_AND_SIZE.fullmatch(text)
    if not match or int(match["gb"]) not in SIZES_GB:
        return False
    number, name = match["gb"], match["name"]
    line.ledger.add_problem(
        cell, f"ambiguous: {number} of them, or one with {number} GB", f"{number}x {name}, or {name} {number}GB"
    )
    return True


def _hardware_of_instance_type(
    line: WorkloadRow, name: str, in_name: float | None, name_cell: Cell | None
) -> Hardware | None:
    """The accelerators of an instance type, in its own column or in that of accelerators."""
    cell = line.cell("instance_type")
    if cell is None and not is_instance_type(name):
        return None
    written, times = (name, in_name) if cell is None else split_hardware_text(line.text("instance_type"))
    known = find_instance_type(written, line.catalog) if written else None
    at = cell or name_cell
    if known is None or known.accelerator_count is None or at is None:
        if at is not None and (cell is None or line.cell("accelerator") is None):
            ended = describe_ended(written, line.catalog or _embedded_catalog())
            message = ended or f"no known machine with accelerators is called {written}"
            line.ledger.add_problem(at, message, "a type such as p5.48xlarge, or the accelerator and a number of GPUs")
        return None
    each = known.accelerator_count
    machines = _read_positive_count(line, "nodes") or (
        _read_positive_count(line, "gpus") if not _counts_accelerators(line) else None
    )
    if machines is not None:
        times = machines.value if times is None or math.isclose(times, machines.value) else None
        if times is None:
            line.ledger.add_problem(
                machines.cell, f"{machines.value:g} here, but {at.text!r} in {at.place}", "one count"
            )
    if times is None and machines is None and _needs_a_count(line):
        times = _decide_machines(line, at)
    line.ledger.note(f"{known.instance_type} is read as {each:g} x {known.accelerator}")
    named = (name, name_cell) if cell is not None and name else (known.accelerator, at)
    gpus = _read_positive_count(line, "gpus") if _counts_accelerators(line) else None
    count, count_cell = (times * each, machines.cell if machines else at) if times is not None else (None, None)
    if gpus is not None and count is not None and not math.isclose(gpus.value, count) and count_cell is not None:
        line.ledger.add_problem(gpus.cell, f"{gpus.value:g} here, but {count:g} by {count_cell.place}", "one count")
    if gpus is not None and count is None:
        count, count_cell = gpus.value, gpus.cell
    return Hardware(named[0], count, named[1], count_cell, each, at)


def _needs_a_count(line: WorkloadRow) -> bool:
    """Whether the row states hours of machines whose number stands nowhere."""
    stated = ("gpus", "nodes", "accelerator_hours", "node_hours", "gang", "replicas")
    has_months = any(column.meaning == "month" for column in line.table.columns)
    return line.cell("hours") is not None and not has_months and all(line.cell(each) is None for each in stated)


def _decide_machines(line: WorkloadRow, at: Cell) -> float:
    """The number of machines in a row of an instance type with hours: one, unless an answer says otherwise."""
    identity = f"machines: {line.text('name') or at.place}"
    factors = {"1": 1.0, A_NUMBER: UNKNOWN}
    question = "no number of machines stands in the row: hours of one, or of how many?"
    return float(line.ledger.doubts.decide(identity, at, question, factors, "1", line.index))


def _counts_accelerators(line: WorkloadRow) -> bool:
    """Whether the column of counts names accelerators; Qty alone, with an instance type, counts machines."""
    column = line.table.column("gpus")
    return column is not None and bool(re.search(rf"\b{ACCELERATOR}\b", column.words))


def _read_count(
    line: WorkloadRow, nodes: CellNumber | None, each: CellNumber | None
) -> tuple[float | None, Cell | None]:
    gpus = _read_positive_count(line, "gpus")
    if gpus is not None:
        return gpus.value, gpus.cell
    if nodes is not None and each is not None:
        return nodes.value * each.value, nodes.cell
    replicas, gang = (
        _read_positive_count(line, "replicas"),
        _read_positive_count(line, "gang") if line.cell("replicas") else None,
    )
    if replicas is not None and gang is not None:
        return replicas.value * gang.value, replicas.cell
    return None, None


def _read_positive_count(line: WorkloadRow, meaning: str) -> CellNumber | None:
    """A count of accelerators or nodes above zero, also of slices (0.5). Zero is valid in a row with hours."""
    cell = line.cell(meaning)
    if cell is None or (meaning == "gpus" and _is_hardware_text(cell)):
        return None
    number = line.number(meaning)
    if number is None:
        return None
    unit = number.unit_words
    idle = number.value == 0 and line.cell("hours") is not None and line.cell("throughput") is None
    is_unit = not unit or _UNITS.fullmatch(unit)
    if (number.value == 0 and not idle) or number.quantity.percent or not is_unit:
        line.ledger.add_problem(number.cell, f"not a count, under {number.column.header.text!r}", "a number above 0")
        return None
    return number


def _is_hardware_text(cell: Cell) -> bool:
    """Whether a cell of a count column is "8x H100" rather than a number."""
    return (
        isinstance(cell.value, str)
        and split_hardware_text(cell.text)[1] is not None
        and not cell.text.replace(",", "").isdigit()
    )


def is_instance_type(text: str) -> bool:
    """Whether a text has the form of an instance type; decided without opening the catalogue."""
    return bool(_INSTANCE_TYPE.fullmatch(text.strip()))


def find_instance_type(text: str, catalog: Catalog | None) -> Offering | None:
    """The machine of that name, with full accelerators; None where no cloud, or clouds with different ones, have it."""
    offerings = _offerings_by_name(catalog or _embedded_catalog()).get(text.strip().casefold().removeprefix("ml."), ())
    variants = {(each.accelerator, each.accelerator_count) for each in offerings}
    return offerings[0] if len(variants) == 1 and offerings[0].accelerator and offerings[0].accelerator_count else None


def _embedded_catalog() -> Catalog:
    from pricing.catalog.price_catalog import Catalog as EmbeddedCatalog

    return EmbeddedCatalog.embedded()


@lru_cache(maxsize=2)
def _offerings_by_name(catalog: Catalog) -> dict[str, tuple[Offering, ...]]:
    names: dict[str, tuple[Offering, ...]] = {}
    for (_, instance_type), offering in sorted(catalog.offerings.items()):
        names[instance_type.casefold()] = (*names.get(instance_type.casefold(), ()), offering)
    return names
