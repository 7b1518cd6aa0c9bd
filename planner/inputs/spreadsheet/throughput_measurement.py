"""A measured throughput in a row -> a measurement: what is counted, per what time, per accelerator or whole job."""

from __future__ import annotations

import re
from datetime import date
from typing import Any

from planner.inputs.notation.dates import EXPECTED_DATE_FORMAT, describe_ambiguous_date
from planner.inputs.notation.units import (
    ACCELERATOR,
    normalize_text,
    parse_header_magnitude,
    parse_magnitude,
    parse_rate_basis,
    parse_rate_seconds,
    parse_work_unit,
)
from planner.inputs.spreadsheet.column_meanings import parse_rate
from planner.inputs.spreadsheet.hardware import Hardware
from planner.inputs.spreadsheet.row_values import CellNumber, WorkloadRow

PRECISIONS = {
    "float32": "fp32",
    "single": "fp32",
    "half": "fp16",
    "bfloat16": "bf16",
    "amp bf16": "bf16",
    "amp": "fp16",
}


def read_measurement(line: WorkloadRow, hardware: Hardware, source: str) -> tuple[dict[str, Any], str] | None:
    """The measurement as a request writes it and the unit it counts; None where there is none or after a complaint."""
    found = line.number("throughput")
    if found is None:
        return None
    ledger = line.ledger
    rate = _read_rate(line, found)
    per = _read_rate_basis(line, found, hardware)
    if not hardware.name:
        ledger.add_problem(found.cell, "measured on which accelerator?", "an accelerator (GPU) in the row")
    if found.value == 0:
        ledger.add_problem(found.cell, "a throughput of 0", "a number above 0")
    if rate is None or per is None or not hardware.name or found.value == 0:
        return None
    unit, seconds, scale = rate
    path = f"{line.path}.measurements[0]"
    key = "units_per_hour" if seconds == 3600 else "units_per_second"
    value = found.value * scale / (1 if seconds == 3600 else seconds)
    result: dict[str, Any] = {"accelerator": hardware.name, "count": hardware.count or 1.0, key: value, "per": per}
    ledger.read(
        f"{path}.{key}", found.cell, f"{value:.15g} {unit} per {'hour' if seconds == 3600 else 'second'}, per {per}"
    )
    for name, cell in (("accelerator", hardware.name_cell), ("count", hardware.count_cell)):
        if cell is not None:
            ledger.read(f"{path}.{name}", cell, result[name])
    for name in ("precision", "scaling"):
        if (cell := line.cell(name)) is not None and (text := line.text(name)):
            word = normalize_text(text)
            result[name] = PRECISIONS.get(word, word)
            ledger.read(f"{path}.{name}", cell, result[name])
    if (cell := line.cell("measured_on")) is not None and (why := describe_ambiguous_date(cell)):
        ledger.add_problem(cell, why, EXPECTED_DATE_FORMAT)
    elif cell is not None and isinstance(cell.value, date | str):
        result["measured_on"] = cell.text
        ledger.read(f"{path}.measured_on", cell, cell.text)
    source_note = line.text("source")
    result["source"] = f"{source} {found.cell.place}" + (f": {source_note}" if source_note else "")
    return result, unit


def _read_rate(line: WorkloadRow, number: CellNumber) -> tuple[str, float, float] | None:
    """The unit counted, the seconds it is per, and the magnitude of the number."""
    unit, seconds = parse_rate(number.column)
    scale = parse_header_magnitude(number.column.words, number.column.header.text)
    text = normalize_text(number.quantity.unit)
    beside = normalize_text(line.text("unit"))
    if text:
        scale = parse_magnitude(text) or scale
        if parse_magnitude(text, alone=True) is None:
            unit, seconds = parse_work_unit(text) or unit, parse_rate_seconds(text) or seconds
    elif seconds is None and parse_rate_seconds(beside) is not None:
        unit, seconds = parse_work_unit(beside), parse_rate_seconds(beside)
    if seconds is None:
        line.ledger.add_problem(
            number.cell, "a throughput per what time?", "tokens/s, samples/s ... in the header or the cell"
        )
        return None
    return unit, seconds, scale


def _read_rate_basis(line: WorkloadRow, number: CellNumber, hardware: Hardware) -> str | None:
    """device or job, as the cell, the per column or the header says; of one accelerator both are the same."""
    beside = line.text("per")
    basis = (
        parse_rate_basis(normalize_text(number.quantity.unit))
        or parse_rate_basis(normalize_text(beside))
        or parse_rate_basis(number.column.words)
    )
    if not basis and re.fullmatch(rf"(?:device|{ACCELERATOR})", normalize_text(beside)):
        basis = "device"
    if basis == "job" and hardware.count is None:
        line.ledger.add_problem(
            number.cell, "a throughput of the whole job, but on how many GPUs?", "a number of GPUs in the row"
        )
        return None
    if basis or hardware.count == 1:
        return basis or "device"
    many = f"all {hardware.count:g} together" if hardware.count else "the whole job"
    line.ledger.add_problem(
        number.cell,
        f"is this for each GPU or for {many}?",
        "'per GPU' or 'whole job' in the header, or in a column called Per",
    )
    return None
