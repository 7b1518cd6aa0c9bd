"""Cost allocations of Kubernetes: OpenCost's (and Kubecost's) API as JSON, flat CSV of it, and OpenCost's CSV export.

    curl -G .../allocation -d window=2026-09-01T00:00:00Z,2026-10-01T00:00:00Z -d step=1d -d aggregate=controller

(opencost.io/docs/integrations/api; fields of opencost/opencost core/pkg/opencost/allocation_json.go and columns of
pkg/costmodel/csv_export.go). gpuHours are GPUs times hours; costs are gpuCost with its adjustment. The CSV export has
the mean of GPUs while a pod ran and not for how long: its hours are asked. __idle__ are nodes that nobody asked for.
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

from planner.inputs.measured_use.use_record import UNALLOCATED, MeasuredUsage, MeasuredUse, RowCount, UnreadableUse
from planner.inputs.text_encoding import binary_kind, decode
from planner.inputs.workload_files.hardware_names import find_accelerator
from pricing.catalog.price_catalog import Catalog

TITLE = "OpenCost or Kubecost allocations"
GROUPS = ("controller", "controllername", "namespace", "name")
"""Properties that name workloads, the first that any allocation has."""
IDLE = "__idle__"
HOURS_QUESTION = "hours a day"
"""The answer with the hours a day of pods in OpenCost's CSV export."""
DAY_HOURS = 24.0
_JSON_MARKS = ('"gpuHours"', '"gpuCost"')


def claims(data: bytes) -> bool:
    """Whether it is JSON with GPU-hours of allocations, or CSV with their columns."""
    if binary_kind(data) is not None:
        return False
    head = data[:100_000].decode("utf-8", "replace").removeprefix("\ufeff").lstrip()
    if head[:1] in ("{", "["):
        return all(mark in head for mark in _JSON_MARKS)
    columns = {name.strip().strip('"').casefold() for name in head.partition("\n")[0].split(",")}
    return "gpucost" in columns and bool({"gpuhours", "gpus"} & columns)


def read(data: bytes, name: str, catalog: Catalog, tag: str, answers: Mapping[str, str]) -> MeasuredUsage:
    """The allocations with GPUs. Raises UnreadableUse."""
    try:
        text = decode(data)[0].removeprefix("\ufeff")
    except UnicodeDecodeError:
        raise UnreadableUse("no text") from None
    rows = list(_list_json(text) if text.lstrip()[:1] in "{[" else _list_csv(text))
    known = {key for _, row in rows for key, value in row.items() if value not in ("", None)}
    group = tag.casefold() or next((each for each in GROUPS if each in known), "")
    if group not in known:
        raise UnreadableUse(f"no property {tag!r}; --tag names one of {', '.join(sorted(known))}")
    left, uses, notes = RowCount(), list[MeasuredUse](), dict[str, None]()
    hours_a_day = _read_hours_a_day(answers)
    for place, row in rows:
        use = _build_use(place, row, group, catalog, hours_a_day)
        if use is None:
            left.add("no GPUs", place)
        else:
            uses.append(use)
            if "gpuhours" not in row:
                notes[f"GPUs of the export ran {hours_a_day:g} hours a day, as answer {HOURS_QUESTION!r} says it or at"
                      " most: the export does not say how long"] = None  # fmt: skip
    currency = next((str(row["currency"]) for _, row in rows if row.get("currency")), "")
    notes["costs are those that the cluster's price list gives, not a bill"] = None
    return MeasuredUsage(
        name, TITLE, len(rows), len(uses), tuple(uses), left.listed(), f"the property {group}", tuple(notes),
        currency=currency,
    )  # fmt: skip


def _read_hours_a_day(answers: Mapping[str, str]) -> float:
    stated = answers.get(HOURS_QUESTION, "")
    try:
        hours = float(stated) if stated else DAY_HOURS
    except ValueError:
        hours = math.nan
    if not 0 < hours <= DAY_HOURS:
        raise UnreadableUse(f"the answer {HOURS_QUESTION!r} is {stated!r}, expected hours up to 24")
    return hours


def _list_json(text: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each allocation of each step, with its properties, by names in lower case."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        raise UnreadableUse("not JSON") from None
    steps = document.get("data") if isinstance(document, Mapping) else document
    if isinstance(steps, Mapping):
        steps = [steps]
    if not isinstance(steps, list):
        raise UnreadableUse("no allocations: data is no list of steps")
    for step, allocations in enumerate(steps):
        listed = allocations.items() if isinstance(allocations, Mapping) else ()
        for name, allocation in listed:
            if isinstance(allocation, Mapping):
                yield f"data[{step}].{name}", _flatten_properties({"name": name, **allocation})


def _flatten_properties(allocation: Mapping[str, Any]) -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in allocation.items():
        if isinstance(value, Mapping):
            if key in ("properties", "gpuAllocation", "window", "labels"):
                flat = {**_flatten_properties(value), **flat}
        elif not isinstance(value, list):
            flat[key.casefold()] = value
    return flat


def _list_csv(text: str) -> Iterator[tuple[str, dict[str, Any]]]:
    reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
    try:
        for row in reader:
            flat = {name.strip().rpartition(".")[2].casefold(): value for name, value in row.items() if name and value}
            yield f"line {reader.line_num}", flat
    except csv.Error as error:
        raise UnreadableUse(f"not CSV: {error}") from None


def _read_number(row: Mapping[str, Any], name: str, place: str) -> float | None:
    value = row.get(name)
    if value in (None, ""):
        return None
    try:
        number = float(str(value))
    except ValueError:
        number = math.nan
    if not math.isfinite(number) or abs(number) > 1e15:
        raise UnreadableUse(f"{name} is {str(value)[:30]!r}, expected a number", place)
    return number


def _read_moment(row: Mapping[str, Any], names: tuple[str, ...], place: str) -> datetime:
    text = next((str(row[name]) for name in names if row.get(name)), "")
    try:
        return datetime.fromisoformat(text).replace(tzinfo=None)
    except ValueError:
        raise UnreadableUse(f"its time is {text[:30]!r}, expected 2026-09-01T00:00:00Z", place) from None


def _build_use(
    place: str, row: Mapping[str, Any], group: str, catalog: Catalog, hours_a_day: float
) -> MeasuredUse | None:
    """The use of one allocation; None without GPUs."""
    start = _read_moment(row, ("start", "date"), place)
    gpu_hours, gpus = _read_number(row, "gpuhours", place), _read_number(row, "gpus", place)
    end = _read_moment(row, ("end",), place) if row.get("end") else start + timedelta(hours=hours_a_day)
    hours = (end - start) / timedelta(hours=1)
    total = gpu_hours if gpu_hours is not None else (gpus or 0.0) * hours
    costs = [_read_number(row, name, place) for name in ("gpucost", "gpucostadjustment")]
    cost = math.fsum(each for each in costs if each is not None) if costs[0] is not None else None
    if total < 0 or hours <= 0:
        raise UnreadableUse("hours below 0", place)
    is_idle = IDLE in str(row.get("name", "")) or IDLE in str(row.get(group, ""))
    if not total and not (is_idle and cost):
        return None
    written = str(row.get("gpumodel") or row.get("gpudevice") or "")
    busy = _read_number(row, "gpuusageaverage", place)
    if busy is not None and busy > 1:
        busy /= 100
    return MeasuredUse(
        UNALLOCATED if is_idle else str(row.get(group) or f"(no {group})"), str(row.get("namespace") or ""), written,
        find_accelerator(catalog, written) if written else "", start, hours, total / hours,
        busy=busy if busy is not None and 0 <= busy <= 1 and (busy or written) else None, cost=cost,
    )  # fmt: skip
