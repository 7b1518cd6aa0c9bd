"""A row that is a workload -> a workload of the request: what it is, where it may run, what it may cost."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from planner.intake._dates import EXPECTED, doubt
from planner.intake._demand import Stated, as_document, stated_demand
from planner.intake._hardware import Hardware, hardware_of, split
from planner.intake._line import Found, Line
from planner.intake._meanings import KINDS
from planner.intake._measurement import measurement_of
from planner.intake._months import done_by
from planner.intake._numbers import KRONE, KRONES
from planner.intake._read import STAND_IN_DEMAND
from planner.intake._span import last_month
from planner.intake._units import PER_MONTH, bytes_of, minutes_of, money_scale, per_of, period_of, plain, thousands_of
from pricing.units import GB, GIB

SHAPES = (
    ("business_hours", r"business|office|working|weekday|mon(?:day)?[ -]*(?:to|–|-)?[ -]*fri"),
    ("day_and_evening", r"day and evening|day/evening|daytime|diurnal|evening|consumer|^day$"),
    ("flat", r"flat|constant|steady|24 ?[/x] ?7|even|around the clock|uniform"),
)


def workload_of(line: Line, name: str, source: str) -> tuple[dict[str, Any], Stated | None]:
    """The workload as a request writes it, and its demand; after complaints parts of it are stood in for."""
    told = len(line.ledger.complaints)
    hardware = hardware_of(line)
    workload: dict[str, Any] = {"name": name}
    stated = stated_demand(line, hardware, told)
    if stated is not None and stated.is_zero:
        return workload, stated
    measured = measurement_of(line, hardware, source)
    workload |= _texts(line)
    kind = _kind(line, stated)
    if kind:
        workload["kind"] = kind
    workload |= _demand(line, stated, hardware, measured)
    workload |= _sizes(line, hardware, kind)
    workload |= _permissions(line)
    workload |= _amounts(line)
    return workload, stated


def _texts(line: Line) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for meaning, key in (("team", "team"), ("notes", "notes")):
        if (text := line.text(meaning)) and (cell := line.cell(meaning)):
            result[key] = text
            line.ledger.read(f"{line.path}.{key}", cell, text)
    for meaning, key in (("provider", "providers"), ("region", "regions"), ("residency", "residency")):
        result |= _list(line, meaning, key)
    result |= _list(line, "accelerators", "accelerators")
    return result


def _list(line: Line, meaning: str, key: str) -> dict[str, Any]:
    names = line.names(meaning)
    cell = line.cell(meaning)
    if not names or cell is None:
        return {}
    if key == "accelerators":
        names = tuple(split(name)[0] for name in names)
    line.ledger.read(f"{line.path}.{key}", cell, ", ".join(names))
    for index in range(len(names)):
        line.ledger.places[f"{line.path}.{key}[{index}]"] = cell.place
    return {key: list(names)}


def _kind(line: Line, stated: Stated | None) -> str:
    text = line.text("kind")
    cell = line.cell("kind")
    if text and cell:
        kind = kind_of(plain(text))
        if not kind:
            line.ledger.complain(cell, "no kind of workload", "training, batch, inference or interactive")
            return ""
        line.ledger.read(f"{line.path}.kind", cell, kind)
        return kind
    kind = "inference" if stated and stated.key == "requests_per_second" else "batch"
    where = "is inference, since it is stated in requests per second" if kind == "inference" else "is batch"
    line.ledger.note(f"a workload without a kind {where}")
    return kind


@lru_cache(maxsize=4096)
def kind_of(words: str) -> str:
    """The kind of workload that a text in plain words names, else empty."""
    return next((kind for kind, pattern in KINDS if re.search(pattern, words)), "")


def _demand(
    line: Line, stated: Stated | None, hardware: Hardware, measured: tuple[dict[str, Any], str] | None
) -> dict[str, Any]:
    ledger = line.ledger
    if stated is None:
        return {"demand": dict(STAND_IN_DEMAND)}
    demand: dict[str, Any] = as_document(line, stated)
    result: dict[str, Any] = {"demand": demand}
    unit = stated.unit
    if measured is not None:
        result["measurements"] = [measured[0]]
        unit = _agreed_unit(line, stated, measured[1], demand)
    if stated.key == "accelerator_hours_per_month":
        demand["accelerator"] = hardware.name
        if hardware.name and hardware.name_cell:
            ledger.read(f"{line.path}.demand.accelerator", hardware.name_cell, hardware.name)
            if measured is not None:
                ledger.note(
                    "GPU-hours with a measured throughput are compared on other accelerators by the work they do"
                )
        else:
            ledger.complain(stated.cells[0][0], "GPU-hours of which accelerator?", "an accelerator (GPU) in the row")
            result["demand"] = dict(STAND_IN_DEMAND)
    elif hardware.name and hardware.name_cell and measured is None:
        ledger.note(f"{hardware.name_cell.place} names an accelerator without a measured throughput: it is not used")
    if unit:
        result["unit"] = unit
    demand = result["demand"]
    demand |= _deadline(line, stated) | _shape(line, stated) | _growth(line, stated) | _per_request(line, stated)
    return result


def _agreed_unit(line: Line, stated: Stated, measured: str, demand: dict[str, Any]) -> str:
    """The unit that demand and measurement share; a complaint where they count different things."""
    if stated.key == "requests_per_second" and line.cell("units_per_request") is not None:
        return measured
    cell = line.cell("throughput")
    if stated.unit and measured and stated.unit != measured and cell is not None and demand:
        fix = "Units per request" if stated.key == "requests_per_second" else f"{stated.unit} per second"
        line.ledger.complain(cell, f"the throughput counts {measured}, the demand {stated.unit}", f"a column {fix}")
    return stated.unit or measured


def _deadline(line: Line, stated: Stated) -> dict[str, Any]:
    cell = line.cell("deadline")
    at = f"{line.path}.demand.deadline_month"
    if stated.key != "total_units":
        if cell is not None:
            line.ledger.note(f"{cell.place} is not used: a deadline belongs to total work, not to work per month")
        return {}
    month, said = (done_by(cell), cell) if cell is not None else (last_month(line), line.cell("end"))
    if month and said is not None:
        line.ledger.read(at, said, f"by the end of {month}")
        return {"deadline_month": month}
    if cell is None:
        line.ledger.complain(
            stated.cells[0][0],
            "total work by when?",
            "a deadline: a month (2027-03) or its number in the plan (1 is the first)",
        )
        return {"deadline_month": 1}
    if why := doubt(cell):
        line.ledger.complain(cell, why, EXPECTED)
        return {"deadline_month": 1}
    found = line.number("deadline")
    value = found.value if found is not None else 1.0
    if found is not None:
        line.ledger.read(at, cell, f"{value:g}")
    return {"deadline_month": int(value) if value.is_integer() else value}


def _shape(line: Line, stated: Stated) -> dict[str, Any]:
    text, cell = line.text("daily_shape"), line.cell("daily_shape")
    if not text or cell is None or stated.key == "total_units":
        return {}
    path = f"{line.path}.demand.daily_shape"
    numbers = re.split(r"[\s,;]+", text)
    if len(numbers) > 2 and all(re.fullmatch(r"\d+(?:\.\d+)?", number) for number in numbers):
        line.ledger.read(path, cell, f"{len(numbers)} values")
        return {"daily_shape": [float(number) for number in numbers]}
    shape = next((shape for shape, pattern in SHAPES if re.search(pattern, plain(text))), "")
    if not shape:
        line.ledger.complain(cell, "no daily shape", "flat, business hours, day and evening, or 24 or 168 numbers")
        return {}
    line.ledger.read(path, cell, shape)
    return {"daily_shape": shape}


def _growth(line: Line, stated: Stated) -> dict[str, Any]:
    column = line.table.column("growth")
    found = line.fraction("growth")
    if column is None or found is None or found[0] == 0:
        return {}
    if not isinstance(stated.value, float) or stated.key == "total_units":
        line.ledger.note(f"{found[1].place} is not used: growth belongs to a single value per month")
        return {}
    behind = line.number("growth")
    period = (period_of(plain(behind.quantity.unit)) if behind else "") or period_of(column.words)
    if not period and not re.search(r"\bmom\b", column.words):
        line.ledger.note(f"{column.header.text!r} ({column.header.place}) names no period: read as growth per month")
    per_month = PER_MONTH.get(period, 1.0)
    value = found[0] if per_month == 1 else (1 + found[0]) ** per_month - 1
    line.ledger.read(f"{line.path}.demand.growth_per_month", found[1], value)
    return {"growth_per_month": value}


def _per_request(line: Line, stated: Stated) -> dict[str, Any]:
    found = line.number("units_per_request")
    if found is None or stated.key != "requests_per_second":
        return {}
    line.ledger.read(f"{line.path}.demand.units_per_request", found.cell, found.value)
    return {"units_per_request": found.value}


def _sizes(line: Line, hardware: Hardware, kind: str) -> dict[str, Any]:
    result: dict[str, Any] = {}
    gang = line.number("gang")
    if gang is not None:
        result["gang"] = gang.value
        line.ledger.read(f"{line.path}.gang", gang.cell, gang.value)
    elif kind == "training" and hardware.count is not None and hardware.count_cell is not None:
        result["gang"] = hardware.count
        line.ledger.read(f"{line.path}.gang", hardware.count_cell, hardware.count)
    for meaning in ("accelerators_per_node", "parallel_jobs"):
        found = line.number(meaning)
        if found is not None:
            result[meaning] = int(found.value) if found.value.is_integer() else found.value
            line.ledger.read(f"{line.path}.{meaning}", found.cell, f"{found.value:g}")
    return result | _memory(line, hardware)


def _memory(line: Line, hardware: Hardware) -> dict[str, Any]:
    found = line.number("memory")
    if found is None:
        return {}
    size = bytes_of(plain(found.quantity.unit)) or bytes_of(found.column.words)
    said = per_of(found.column.words) or (
        "device" if re.match(r"(?:gpu|accelerator|tpu) (?:memory|vram)", found.column.words) else ""
    )
    if size is None:
        line.ledger.complain(found.cell, "memory in what unit?", "GB or GiB in the header")
        return {}
    if not said and hardware.count != 1:
        expected = "'per GPU' or 'total' in the header"
        line.ledger.complain(found.cell, "is this memory of each GPU or of all together?", expected)
        return {}
    key = "memory_gib_total" if said == "job" else "memory_gib_per_accelerator"
    if found.value == 0:
        return {}
    value = found.value * size / GIB
    line.ledger.read(f"{line.path}.{key}", found.cell, value)
    return {key: value}


def _permissions(line: Line) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for meaning in ("interruptible", "substitution", "may_be_owned"):
        said = line.flag(meaning)
        cell = line.cell(meaning)
        if said is not None and cell is not None:
            result[meaning] = said
            line.ledger.read(f"{line.path}.{meaning}", cell, said)
    return result


def _amounts(line: Line) -> dict[str, Any]:
    result: dict[str, Any] = {}
    readers: tuple[tuple[str, str, Callable[[Line, Found], float | None]], ...] = (
        ("checkpoint_minutes", "checkpoint_minutes", _minutes),
        ("restart_minutes", "restart_minutes", _minutes),
        ("storage", "storage_gb", _gigabytes),
        ("egress", "egress_gb_per_month", _gigabytes_per_month),
        ("budget", "budget_per_month", _money_per_month),
    )
    for meaning, key, reader in readers:
        found = line.number(meaning)
        value = reader(line, found) if found is not None else None
        if found is not None and value is not None:
            result[key] = value
            line.ledger.read(f"{line.path}.{key}", found.cell, value)
    return result


def _minutes(line: Line, found: Found) -> float | None:
    minutes = minutes_of(plain(found.quantity.unit)) or minutes_of(found.column.words)
    if minutes is None:
        line.ledger.complain(
            found.cell, f"{found.column.header.text!r} in what unit?", "minutes, seconds or hours in the header"
        )
        return None
    return found.value * minutes


def _gigabytes(line: Line, found: Found) -> float | None:
    size = bytes_of(plain(found.quantity.unit)) or bytes_of(found.column.words)
    if size is None:
        line.ledger.complain(
            found.cell, f"{found.column.header.text!r} in what unit?", "GB or TB in the header or the cell"
        )
        return None
    return found.value * size / GB


def _gigabytes_per_month(line: Line, found: Found) -> float | None:
    size = _gigabytes(line, found)
    return None if size is None else size * _times_per_month(line, found)


def _money_per_month(line: Line, found: Found) -> float | None:
    stated = [currency for currency in (found.column.currency, found.quantity.currency) if currency]
    if KRONE in stated and any(currency in KRONES for currency in stated):
        stated = [currency for currency in stated if currency != KRONE]
    if KRONE in stated:
        line.ledger.complain(found.cell, "kroner of which country?", f"{', '.join(KRONES)} in the header or the cell")
        return None
    if not all(line.ledger.is_in(currency, found.cell) for currency in stated):
        return None
    if not stated:
        header = found.column.header
        line.ledger.note(f"{header.text!r} ({header.place}) names no currency: read as that of the plan")
    behind = plain(found.quantity.unit)
    word = re.sub(
        r"(?:per |/|an? )?\b(?:day|week|month|mo|quarter|year|yr|annum|monthly|yearly|annually)\b", "", behind
    )
    scale = thousands_of(word.strip()) if behind else money_scale(found.column.words)
    if scale is None:
        line.ledger.complain(found.cell, "an amount of money in what?", "digits alone, or k, M ... behind them")
        return None
    scale = scale if scale != 1 else money_scale(found.column.words)
    value = found.value * scale * _times_per_month(line, found)
    if value == 0:
        line.ledger.complain(found.cell, "a budget of 0 allows nothing", "a number above 0, or nothing for no limit")
        return None
    return value


def _times_per_month(line: Line, found: Found) -> float:
    period = period_of(plain(found.quantity.unit)) or period_of(found.column.words)
    if not period and re.search(r"\btotal\b", found.column.words):
        line.ledger.complain(
            found.cell, f"{found.column.header.text!r} of what time?", "per month or per year in the header"
        )
    elif not period:
        line.ledger.note(
            f"{found.column.header.text!r} ({found.column.header.place}) names no period: read as per month"
        )
    return PER_MONTH.get(period, 1.0)
