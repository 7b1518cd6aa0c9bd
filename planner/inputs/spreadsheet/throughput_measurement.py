"""The measured throughput of a row: its unit, its period, and whether it is per accelerator or per job."""

from __future__ import annotations

import re
from datetime import date
from typing import Any

from planner.inputs.notation.dates import date_problem, is_ambiguous_date
from planner.inputs.notation.units import (
    ACCELERATOR,
    normalize_text,
    parse_header_magnitude,
    parse_magnitude,
    parse_rate_basis,
    parse_rate_seconds,
    parse_work_unit,
)
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
    """The measurement as a request has it, and its unit; None where there is none or after a problem."""
    number = line.number("throughput")
    if number is None:
        return None
    ledger = line.ledger
    rate = _read_rate(line, number)
    per = _read_rate_basis(line, number, hardware)
    if not hardware.name:
        ledger.add_problem(
            number.cell, "a throughput without the accelerator it was measured on", "an accelerator (GPU) in the row"
        )
    if number.value == 0:
        ledger.add_problem(number.cell, "a throughput of 0", "a number above 0")
    if rate is None or per is None or not hardware.name or number.value == 0:
        return None
    unit, seconds, scale = rate
    path = "measurements[0]"
    key = "units_per_hour" if seconds == 3600 else "units_per_second"
    value = number.value * scale / (1 if seconds == 3600 else seconds)
    shown = f"{value:.15g} {unit} per {'hour' if seconds == 3600 else 'second'}, per {per}"
    result: dict[str, Any] = {"accelerator": hardware.name, "count": hardware.count or 1.0}
    result |= line.record(f"{path}.{key}", number.cell, value, shown) | {"per": per}
    for name, cell in (("accelerator", hardware.name_cell), ("count", hardware.count_cell)):
        if cell is not None:
            line.record(f"{path}.{name}", cell, result[name])
    for name in ("precision", "scaling"):
        if (cell := line.cell(name)) is not None and (text := line.text(name)):
            word = normalize_text(text)
            result |= line.record(f"{path}.{name}", cell, PRECISIONS.get(word, word))
    if (cell := line.cell("measured_on")) is not None and is_ambiguous_date(cell):
        ledger.add_problem(cell, *date_problem(cell))
    elif cell is not None and isinstance(cell.value, date | str):
        result |= line.record(f"{path}.measured_on", cell, cell.text)
    source_note = line.text("source")
    result["source"] = f"{source} {number.cell.place}" + (f": {source_note}" if source_note else "")
    return result, unit


def _read_rate(line: WorkloadRow, number: CellNumber) -> tuple[str, float, float] | None:
    """The unit, the seconds of its period, and the magnitude of the number."""
    unit, seconds = parse_work_unit(number.column.words), parse_rate_seconds(number.column.words)
    scale = parse_header_magnitude(number.column.words, number.column.header.text)
    text = number.unit_words
    row_unit = normalize_text(line.text("unit"))
    if text:
        scale = parse_magnitude(text) or scale
        if parse_magnitude(text, alone=True) is None:
            unit, seconds = parse_work_unit(text) or unit, parse_rate_seconds(text) or seconds
    elif seconds is None and parse_rate_seconds(row_unit) is not None:
        unit, seconds = parse_work_unit(row_unit), parse_rate_seconds(row_unit)
    if seconds is None:
        line.ledger.add_problem(
            number.cell, "a throughput without a period", "tokens/s, samples/s ... in the header or the cell"
        )
        return None
    return unit, seconds, scale


def _read_rate_basis(line: WorkloadRow, number: CellNumber, hardware: Hardware) -> str | None:
    """device or job, by the cell, the column Per or the header; for one accelerator both are the same."""
    row_basis = line.text("per")
    basis = (
        parse_rate_basis(number.unit_words)
        or parse_rate_basis(normalize_text(row_basis))
        or parse_rate_basis(number.column.words)
    )
    if not basis and re.fullmatch(rf"(?:device|{ACCELERATOR})", normalize_text(row_basis)):
        basis = "device"
    if basis == "job" and hardware.count is None:
        line.ledger.add_problem(
            number.cell, "a throughput of the job without its number of GPUs", "a number of GPUs in the row"
        )
        return None
    if basis or hardware.count == 1:
        return basis or "device"
    total = f"all {hardware.count:g} together" if hardware.count else "the entire job"
    line.ledger.add_problem(
        number.cell,
        f"ambiguous: for each GPU or for {total}",
        "'per GPU' or 'whole job' in the header, or in a column called Per",
    )
    return None
