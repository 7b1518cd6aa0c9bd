"""Builds a workload of the request from a row: its demand, its placement, its sizes and its budget."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from planner.inputs.notation.dates import date_problem, is_ambiguous_date, last_finished_month
from planner.inputs.notation.header_terms import RECOVERY_LEVELS, match_kind
from planner.inputs.notation.numbers import KRONE, KRONES
from planner.inputs.notation.units import (
    PER_MONTH,
    normalize_text,
    parse_byte_unit,
    parse_header_money_factor,
    parse_minute_unit,
    parse_money_factor,
    parse_period,
    parse_rate_basis,
)
from planner.inputs.parsed_file import PLACEHOLDER_DEMAND
from planner.inputs.spreadsheet.binding_notes import read_binding_notes, read_deadline_note
from planner.inputs.spreadsheet.demand import DemandStatement, read_demand, record_demand
from planner.inputs.spreadsheet.hardware import Hardware, read_hardware, split_hardware_text
from planner.inputs.spreadsheet.row_values import CellNumber, WorkloadRow
from planner.inputs.spreadsheet.served_models import read_served_model
from planner.inputs.spreadsheet.throughput_measurement import read_measurement
from pricing.units import GB, GIB

SHAPES = (
    ("business_hours", r"business|office|working|weekday|mon(?:day)?[ -]*(?:to|–|-)?[ -]*fri"),
    ("day_and_evening", r"day and evening|day/evening|daytime|diurnal|evening|consumer|^day$"),
    ("flat", r"flat|constant|steady|24 ?[/x] ?7|even|around the clock|uniform"),
)

NO_RECOVERY = ("", "none", "no", "n/a", "na")


def build_workload(line: WorkloadRow, name: str, source: str) -> tuple[dict[str, Any], DemandStatement | None]:
    """The workload as a request has it, and its demand; after problems with placeholders."""
    problem_count = len(line.ledger.complaints)
    hardware = read_hardware(line)
    workload: dict[str, Any] = {"name": name}
    stated = read_demand(line, hardware, problem_count)
    if stated is not None and stated.is_zero:
        return workload, stated
    measured = read_measurement(line, hardware, source)
    workload |= _read_texts(line)
    kind = _read_kind(line, stated)
    workload |= {"kind": kind} if kind else {}
    workload |= _build_demand(line, stated, hardware, measured)
    workload |= read_served_model(line, stated)
    workload |= _read_sizes(line, hardware, kind)
    workload |= _read_permissions(line)
    workload |= _read_amounts(line)
    workload |= _read_recovery(line)
    workload |= read_binding_notes(line, workload)
    return workload, stated


def _read_texts(line: WorkloadRow) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for key in ("team", "notes"):
        if (text := line.text(key)) and (cell := line.cell(key)):
            result |= line.record(key, cell, text)
    for meaning, key in (("provider", "providers"), ("region", "regions")):
        result |= _read_names(line, meaning, key)
    return result | _read_names(line, "residency", "residency") | _read_names(line, "accelerators", "accelerators")


def _read_names(line: WorkloadRow, meaning: str, key: str) -> dict[str, Any]:
    names = line.names(meaning)
    cell = line.cell(meaning)
    if not names or cell is None:
        return {}
    if key == "accelerators":
        names = tuple(split_hardware_text(name)[0] for name in names)
    field = line.record(key, cell, list(names), ", ".join(names))
    for index in range(len(names)):
        line.ledger.places[f"{line.path}.{key}[{index}]"] = cell.place
    return field


def _read_kind(line: WorkloadRow, stated: DemandStatement | None) -> str:
    text = line.text("kind")
    cell = line.cell("kind")
    if text and cell:
        kind = match_kind(normalize_text(text))
        if not kind:
            line.ledger.add_problem(cell, "not a kind of workload", "training, batch, inference or interactive")
            return ""
        line.ledger.read(f"{line.path}.kind", cell, kind)
        return kind
    kind = "inference" if stated and stated.key == "requests_per_second" else "batch"
    where = "is inference, since it is stated in requests per second" if kind == "inference" else "is batch"
    line.ledger.note(f"a workload without a kind {where}")
    return kind


def _build_demand(
    line: WorkloadRow, stated: DemandStatement | None, hardware: Hardware, measured: tuple[dict[str, Any], str] | None
) -> dict[str, Any]:
    ledger = line.ledger
    if stated is None and hardware.name and hardware.name_cell:  # an unknown name is told beside the other problems
        ledger.read(f"{line.path}.demand.accelerator", hardware.name_cell, hardware.name)
        return {"demand": {"accelerator_hours_per_month": 1, "accelerator": hardware.name}}
    if stated is None:
        return {"demand": dict(PLACEHOLDER_DEMAND)}
    demand: dict[str, Any] = record_demand(line, stated)
    result: dict[str, Any] = {"demand": demand}
    unit = stated.unit
    if measured is not None:
        result["measurements"] = [measured[0]]
        unit = _common_unit(line, stated, measured[1], demand)
    if stated.key == "accelerator_hours_per_month":
        demand["accelerator"] = hardware.name
        if hardware.name and hardware.name_cell:
            ledger.read(f"{line.path}.demand.accelerator", hardware.name_cell, hardware.name)
            if measured is not None:
                ledger.note(
                    "GPU-hours with a measured throughput are compared on other accelerators by the work they do"
                )
        else:
            ledger.add_problem(
                stated.cells[0][0], "GPU-hours without an accelerator", "an accelerator (GPU) in the row"
            )
            result["demand"] = dict(PLACEHOLDER_DEMAND)
    elif hardware.name and hardware.name_cell and measured is None:
        ledger.note(f"{hardware.name_cell.place} names an accelerator without a measured throughput: it is not used")
    if unit:
        result["unit"] = unit
    demand = result["demand"]
    demand |= (
        _read_deadline(line, stated)
        | _read_daily_shape(line, stated)
        | _read_growth(line, stated)
        | _read_units_per_request(line, stated)
    )
    return result


def _common_unit(line: WorkloadRow, stated: DemandStatement, measured: str, demand: dict[str, Any]) -> str:
    """The common unit of demand and measurement; adds a problem where they differ."""
    if stated.key == "requests_per_second" and line.cell("units_per_request") is not None:
        return measured
    cell = line.cell("throughput")
    if stated.unit and measured and stated.unit != measured and cell is not None and demand:
        fix = "Units per request" if stated.key == "requests_per_second" else f"{stated.unit} per second"
        line.ledger.add_problem(cell, f"the throughput counts {measured}, the demand {stated.unit}", f"a column {fix}")
    return stated.unit or measured


def _read_deadline(line: WorkloadRow, stated: DemandStatement) -> dict[str, Any]:
    cell, key = line.cell("deadline"), "demand.deadline_month"
    if stated.key != "total_units":
        if cell is not None:
            line.ledger.note(f"{cell.place} is not used: a deadline belongs to total work, not to work per month")
        return {}
    source_cell = cell if cell is not None else line.cell("end")
    if source_cell is not None and (month := last_finished_month(source_cell)):
        return line.record(key, source_cell, month, f"by the end of {month}")
    if cell is None and (noted := read_deadline_note(line)) is not None:
        return line.record(key, noted[0], noted[1], f"by the end of {noted[1]}")
    if cell is None:
        line.ledger.add_problem(
            stated.cells[0][0],
            "total work without a deadline",
            "a deadline: a month (2027-03) or its number in the plan (1 is the first)",
        )
        return {"deadline_month": 1}
    if is_ambiguous_date(cell):
        line.ledger.add_problem(cell, *date_problem(cell))
        return {"deadline_month": 1}
    number = line.number("deadline")
    return line.record(key, cell, *_plain_number(number.value)) if number is not None else {"deadline_month": 1}


def _read_daily_shape(line: WorkloadRow, stated: DemandStatement) -> dict[str, Any]:
    text, cell = line.text("daily_shape"), line.cell("daily_shape")
    if not text or cell is None or stated.key == "total_units":
        return {}
    key = "demand.daily_shape"
    numbers = re.split(r"[\s,;]+", text)
    if len(numbers) > 2 and all(re.fullmatch(r"\d+(?:\.\d+)?", number) for number in numbers):
        return line.record(key, cell, [float(number) for number in numbers], f"{len(numbers)} values")
    shape = next((shape for shape, pattern in SHAPES if re.search(pattern, normalize_text(text))), "")
    if not shape:
        line.ledger.add_problem(
            cell, "not a daily shape", "flat, business hours, day and evening, or 24 or 168 numbers"
        )
        return {}
    return line.record(key, cell, shape)


def _read_growth(line: WorkloadRow, stated: DemandStatement) -> dict[str, Any]:
    rate = line.fraction("growth")
    number = line.number("growth") if rate else None
    if rate is None or number is None or rate[0] == 0:
        return {}
    if not isinstance(stated.value, float) or stated.key == "total_units":
        line.ledger.note(f"{rate[1].place} is not used: growth belongs to a single value per month")
        return {}
    period = number.stated(parse_period)
    if not period and not re.search(r"\bmom\b", number.column.words):
        line.ledger.note(f"{number.column.header.quoted} names no period: read as growth per month")
    per_month = PER_MONTH.get(period, 1.0)
    value = rate[0] if per_month == 1 else (1 + rate[0]) ** per_month - 1
    return line.record("demand.growth_per_month", rate[1], value)


def _read_units_per_request(line: WorkloadRow, stated: DemandStatement) -> dict[str, Any]:
    number = line.number("units_per_request")
    if number is None and line.cell("served_model") is None:
        number = line.number("output_tokens")  # "output tokens per request" of a row that names no model
    if number is None or stated.key != "requests_per_second":
        return {}
    return line.record("demand.units_per_request", number.cell, number.value)


def _read_sizes(line: WorkloadRow, hardware: Hardware, kind: str) -> dict[str, Any]:
    result: dict[str, Any] = {}
    gang = line.number("gang")
    if gang is not None:
        result |= line.record("gang", gang.cell, gang.value)
    elif kind == "training" and hardware.count is not None and hardware.count_cell is not None:
        result |= line.record("gang", hardware.count_cell, hardware.count)
    for meaning in ("accelerators_per_node", "parallel_jobs"):
        number = line.number(meaning)
        if number is not None:
            result |= line.record(meaning, number.cell, *_plain_number(number.value))
    return result | _read_memory(line, hardware)


def _plain_number(value: float) -> tuple[float, str]:
    """A whole number as an integer, and the number as people write it."""
    return int(value) if value.is_integer() else value, f"{value:g}"


def _read_memory(line: WorkloadRow, hardware: Hardware) -> dict[str, Any]:
    number = line.number("memory")
    if number is None:
        return {}
    size = number.stated(parse_byte_unit)
    basis = parse_rate_basis(number.column.words) or (
        "device" if re.match(r"(?:gpu|accelerator|tpu) (?:memory|vram)", number.column.words) else ""
    )
    if size is None:
        line.ledger.add_problem(number.cell, "memory without a unit", "GB or GiB in the header")
        return {}
    if not basis and hardware.count != 1:
        expected = "'per GPU' or 'total' in the header"
        line.ledger.add_problem(number.cell, "ambiguous: the memory of each GPU or of all together", expected)
        return {}
    key = "memory_gib_total" if basis == "job" else "memory_gib_per_accelerator"
    if number.value == 0:
        return {}
    return line.record(key, number.cell, number.value * size / GIB)


def _read_permissions(line: WorkloadRow) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for meaning in ("interruptible", "substitution", "may_be_owned"):
        flag = line.flag(meaning)
        cell = line.cell(meaning)
        if flag is not None and cell is not None:
            result |= line.record(meaning, cell, flag)
    return result


def _read_recovery(line: WorkloadRow) -> dict[str, Any]:
    """The second place of a row; both its level and its place must be stated."""
    level, place = line.cell("recovery"), line.cell("recovery_place")
    if level is None and (place is None or not line.text("recovery_place")):
        return {}
    if level is None or place is None:
        cell = level or place
        assert cell is not None
        if normalize_text(cell.text) not in NO_RECOVERY:
            expected = "two columns: disaster recovery (warm standby) and recovery place (aws eu-north-1)"
            line.ledger.add_problem(cell, "a second place needs a level and a place", expected)
        return {}
    text = normalize_text(line.text("recovery"))
    if text in NO_RECOVERY:
        return {}
    name = next((each for each, pattern in RECOVERY_LEVELS if re.search(pattern, text)), "")
    if not name:
        line.ledger.add_problem(level, "not a level of recovery", "pilot light, warm standby, active or none")
        return {}
    stated = line.record("recovery.level", level, name) | line.record(
        "recovery.place", place, line.text("recovery_place")
    )
    return {"recovery": stated}


def _read_amounts(line: WorkloadRow) -> dict[str, Any]:
    result: dict[str, Any] = {}
    readers: tuple[tuple[str, str, Callable[[WorkloadRow, CellNumber], float | None]], ...] = (
        ("checkpoint_minutes", "checkpoint_minutes", _convert_minutes),
        ("restart_minutes", "restart_minutes", _convert_minutes),
        ("storage", "storage_gb", _convert_gigabytes),
        ("egress", "egress_gb_per_month", _convert_gigabytes_per_month),
        ("budget", "budget_per_month", _convert_money_per_month),
    )
    for meaning, key, reader in readers:
        number = line.number(meaning)
        value = reader(line, number) if number is not None else None
        if number is not None and value is not None:
            result |= line.record(key, number.cell, value)
    return result


def _convert_minutes(line: WorkloadRow, number: CellNumber) -> float | None:
    return _convert_unit(line, number, parse_minute_unit, "minutes, seconds or hours in the header")


def _convert_gigabytes(line: WorkloadRow, number: CellNumber) -> float | None:
    size_bytes = _convert_unit(line, number, parse_byte_unit, "GB or TB in the header or the cell")
    return None if size_bytes is None else size_bytes / GB


def _convert_unit(
    line: WorkloadRow, number: CellNumber, parse: Callable[[str], float | None], expected: str
) -> float | None:
    """The number in the base unit of `parse`; None after a problem."""
    factor = number.stated(parse)
    if factor is None:
        line.ledger.add_problem(number.cell, f"{number.column.header.text!r} has no unit", expected)
        return None
    return number.value * factor


def _convert_gigabytes_per_month(line: WorkloadRow, number: CellNumber) -> float | None:
    size = _convert_gigabytes(line, number)
    return None if size is None else size * _times_per_month(line, number)


def _convert_money_per_month(line: WorkloadRow, number: CellNumber) -> float | None:
    stated = [currency for currency in (number.column.currency, number.quantity.currency) if currency]
    if KRONE in stated and any(currency in KRONES for currency in stated):
        stated = [currency for currency in stated if currency != KRONE]
    if KRONE in stated:
        line.ledger.add_problem(
            number.cell, "ambiguous: the krone of several countries", f"{', '.join(KRONES)} in the header or the cell"
        )
        return None
    if not all(line.ledger.accepts_currency(currency, number.cell) for currency in stated):
        return None
    if not stated:
        header = number.column.header
        line.ledger.note(f"{header.quoted} names no currency: read as in the currency of the plan")
    unit = number.unit_words
    word = re.sub(r"(?:per |/|an? )?\b(?:day|week|month|mo|quarter|year|yr|annum|monthly|yearly|annually)\b", "", unit)
    scale = parse_money_factor(word.strip()) if unit else parse_header_money_factor(number.column.words)
    if scale is None:
        line.ledger.add_problem(
            number.cell, "an amount of money with an unknown unit", "a number alone, or with k, M ..."
        )
        return None
    scale = scale if scale != 1 else parse_header_money_factor(number.column.words)
    value = number.value * scale * _times_per_month(line, number)
    if value == 0:
        line.ledger.add_problem(number.cell, "a budget of 0", "a number above 0, or a blank cell for no limit")
        return None
    return value


def _times_per_month(line: WorkloadRow, number: CellNumber) -> float:
    period = number.stated(parse_period)
    if not period and re.search(r"\btotal\b", number.column.words):
        line.ledger.add_problem(
            number.cell, f"{number.column.header.text!r} has no period", "per month or per year in the header"
        )
    elif not period:
        line.ledger.note(f"{number.column.header.quoted} names no period: read as per month")
    return PER_MONTH.get(period, 1.0)
