"""The demand of a row: exactly one kind of it, from any of the columns that state demand."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import Any

from planner.inputs.cell_grid import Cell
from planner.inputs.notation.units import Metric, parse_metric, parse_month_metric, parse_period, parse_rate_basis
from planner.inputs.spreadsheet.active_period import read_active_period
from planner.inputs.spreadsheet.column_meanings import REQUIRED_DEMAND, SheetColumn
from planner.inputs.spreadsheet.demand_period import settle_month_period, settle_period
from planner.inputs.spreadsheet.hardware import Hardware
from planner.inputs.spreadsheet.monthly_hours import (
    MonthlyHours,
    read_monthly_hours,
    repetitions_per_month,
    scale_amount,
)
from planner.inputs.spreadsheet.row_values import CellNumber, WorkloadRow
from pricing.frozen_values import dataclass
from pricing.units import HOURS_PER_MONTH

HOURS_AGREE_WITHIN = 0.01
HOURS_OF_A_MONTH = (720.0, 730.0, 744.0)
"""GPU-hours that are more likely those of each of several GPUs than of all."""
_DEMAND_KEYS = {
    "accelerator_hours": "accelerator_hours_per_month",
    "units": "units_per_month",
    "requests_per_second": "requests_per_second",
}
_CHIP_UTILISATION = re.compile(r"\b(?:gpu|sm|compute|mfu|memory|tensor|accelerator|chip|tpu)\b")


@dataclass(frozen=True, slots=True)
class DemandStatement:
    """One statement of demand: the key in the request, its value, its unit and the cells it was read from."""

    key: str
    value: float | dict[str, float] | list[float]
    unit: str
    cells: tuple[tuple[Cell, str], ...]

    @property
    def is_zero(self) -> bool:
        values = self.value.values() if isinstance(self.value, dict) else self.value
        return not any(values) if not isinstance(values, float) else values == 0


def _build_hours_demand(value: float, *cells: tuple[Cell, str]) -> DemandStatement:
    """A demand of accelerator-hours a month."""
    return DemandStatement(_DEMAND_KEYS["accelerator_hours"], value, "", cells)


def read_demand(line: WorkloadRow, hardware: Hardware, problem_count: int) -> DemandStatement | None:
    """The demand of a row; None after a problem. `problem_count` is the number of problems before the row."""
    hours = read_monthly_hours(line)
    statements = [
        each
        for each in (
            _read_accelerator_hours(line, hardware, hours),
            _read_node_hours(line, hardware),
            _read_month_columns(line, hardware, hours),
            _read_column(line, "units_per_month", "units_per_month"),
            _read_column(line, "total_units", "total_units"),
            _read_requests(line),
            _read_amount_column(line, hardware, hours),
        )
        if each is not None
    ]
    if len(line.ledger.complaints) > problem_count:
        return None
    statements = _prefer_month_columns(line, statements)
    if not statements and "yearless" in line.table.meanings:
        return None  # the column has a problem already
    if not statements:
        cell = line.cell("name") or line.row.cell(0)
        line.ledger.add_problem(cell, "this row has no demand", REQUIRED_DEMAND)
        return None
    if len(statements) > 1:
        first, second = statements[0].cells[0][0], statements[1].cells[0][0]
        message = f"a second kind of demand in one row; the first is in {first.place}"
        line.ledger.add_problem(second, message, "one kind of demand: leave one of the two empty")
        return None
    return _limit_to_active_period(line, statements[0], problem_count)


def _limit_to_active_period(line: WorkloadRow, stated: DemandStatement, problem_count: int) -> DemandStatement | None:
    """The demand in the months of the row's active period."""
    span = read_active_period(line)
    if len(line.ledger.complaints) > problem_count:
        return None
    if span is None or stated.key == "total_units":
        return stated
    if not isinstance(stated.value, float):
        line.ledger.note(f"{span.cells[0][0].place} is not used: the month columns of its row define the period")
        return stated
    return replace(stated, value=span.by_month(stated.value), cells=stated.cells + span.cells)


def _prefer_month_columns(line: WorkloadRow, statements: list[DemandStatement]) -> list[DemandStatement]:
    """Values by month replace a single value of the same kind."""
    by_month = next((each for each in statements if not isinstance(each.value, float)), None)
    if by_month is None:
        return statements
    same = [each for each in statements if each is not by_month and each.key == by_month.key]
    for each in same:
        line.ledger.note(f"{each.cells[0][0].place} is not used: the month columns of its row state the same demand")
    return [each for each in statements if each not in same]


def _read_column(line: WorkloadRow, meaning: str, key: str) -> DemandStatement | None:
    number = line.number(meaning)
    if number is None:
        return None
    bare = Metric("units", period=parse_period(number.column.words))
    metric = number.column.metric or _read_unit_column(line) or bare
    return _build_statement(line, number, metric, key)


def _read_requests(line: WorkloadRow) -> DemandStatement | None:
    number = line.number("requests_per_second")
    if number is None:
        return None
    if number.column.is_peak:
        message = "a peak is not a demand; demand is the mean of the month, and a daily shape adds the peaks"
        line.ledger.add_problem(number.cell, message, "a column with mean requests per second")
        return None
    return _build_statement(
        line,
        number,
        number.column.metric or Metric("requests_per_second", "requests", 1.0, "second"),
        "requests_per_second",
    )


def _build_statement(line: WorkloadRow, number: CellNumber, metric: Metric, key: str) -> DemandStatement | None:
    scaled = scale_amount(line, number, metric)
    if scaled is None:
        return None
    value, metric = scaled
    if key == "total_units":
        value = number.value * metric.scale
    else:
        value *= settle_period(line, number, metric)
    return DemandStatement(key, value, metric.unit, ((number.cell, f"{value:.15g} {metric.unit}".strip()),))


def _read_unit_column(line: WorkloadRow) -> Metric | None:
    text = line.text("unit")
    return parse_metric(text) if text else None


def _read_accelerator_hours(
    line: WorkloadRow, hardware: Hardware, hours: MonthlyHours | None
) -> DemandStatement | None:
    """GPU-hours as stated, else GPUs x hours (x utilisation, where that is a share of the hours)."""
    number = line.number("accelerator_hours")
    scaled = scale_amount(line, number, number.column.metric or Metric("accelerator_hours")) if number else None
    product = _multiply_hours(line, hardware, hours)
    if number is None:
        return product
    factor = repetitions_per_month(line, number, scaled[1]) if scaled else None
    if scaled is None or factor is None:
        return None
    value, metric = (number.value * scaled[1].scale * factor[0], scaled[1]) if factor[1] else scaled
    each = _hours_of_each(line, hardware, number, product)
    if each is None:
        return None
    value *= math.prod(float(count) for _, count in each)
    if product is None and not metric.period and not factor[1] and re.search(r"\btotal\b", number.column.words):
        message = "ambiguous: GPU-hours in total or per month"
        line.ledger.add_problem(number.cell, message, "a column GPU-hours / month, or a column for each month")
        return None
    if (
        product is not None
        and isinstance(product.value, float)
        and abs(product.value - value) > HOURS_AGREE_WITHIN * value
    ):
        cells = " x ".join(cell.place for cell, _ in product.cells)
        line.ledger.add_problem(
            number.cell, f"{value:,.15g} GPU-hours, but {cells} is {product.value:,.15g}", "one of the two"
        )
        return None
    value *= settle_period(line, number, metric, is_by_run=bool(factor[1]))
    return _build_hours_demand(value, (number.cell, f"{value:.15g} accelerator-hours"), *factor[1], *each)


def _hours_of_each(
    line: WorkloadRow, hardware: Hardware, number: CellNumber, product: DemandStatement | None
) -> tuple[tuple[Cell, str], ...] | None:
    """The number of accelerators by which GPU-hours "per GPU" are multiplied, as one cell with its text; none where
    they are of all. None after a problem."""
    is_of_each = parse_rate_basis(number.column.words) == "device" or parse_rate_basis(number.unit_words) == "device"
    count, cell = hardware.count, hardware.count_cell
    if is_of_each and (count is None or cell is None):
        line.ledger.add_problem(number.cell, "hours per GPU without a number of GPUs", "a number of GPUs in the row")
        return None
    if count is None or cell is None or count <= 1:
        return ()
    if not is_of_each and product is None and number.value in HOURS_OF_A_MONTH:
        header = number.column.header
        question = f"{number.value:g} GPU-hours beside {count:g} GPUs, under {header.quoted}: of each GPU, or of all?"
        factors = {"each": 1.0, "all": 1 / count}
        chosen = line.ledger.doubts.decide(
            f"hours of each GPU: {header.text}", number.cell, question, factors, "each", line.index
        )
        is_of_each = chosen == "each"
    return ((cell, f"{count:g}"),) if is_of_each else ()


def _read_node_hours(line: WorkloadRow, hardware: Hardware) -> DemandStatement | None:
    """Hours of nodes, times the accelerators in one."""
    number = line.number("node_hours")
    if number is None or line.cell("accelerator_hours") is not None:
        return None
    scaled = scale_amount(line, number, replace(number.column.metric or Metric("hours"), kind="hours"))
    if scaled is None:
        return None
    if hardware.each is None:
        line.ledger.add_problem(number.cell, "hours of nodes without the GPUs of a node", "a column GPUs per node")
        return None
    hours = scaled[0] * settle_period(line, number, scaled[1])
    each = () if hardware.each_cell is None else ((hardware.each_cell, f"{hardware.each:g} each"),)
    return _build_hours_demand(hours * hardware.each, (number.cell, f"{hours:.15g} node-hours"), *each)


def _multiply_hours(line: WorkloadRow, hardware: Hardware, hours: MonthlyHours | None) -> DemandStatement | None:
    if (
        hours is None
        or line.cell("node_hours") is not None
        or any(column.meaning == "month" and not line.row.cell(column.index).is_blank for column in line.table.columns)
    ):
        return None
    if hardware.count is None or hardware.count_cell is None:
        if all(line.cell(meaning) is None for meaning in ("accelerator_hours", "gpus", "nodes")):
            line.ledger.add_problem(hours.cell, "hours without a number of GPUs", "a number of GPUs in the row")
        return None
    share = _read_hours_share(line, hours.value)
    if share is None:
        return None
    fraction, fraction_cell = share
    return _build_hours_demand(
        hardware.count * hours.value * fraction,
        (hardware.count_cell, f"{hardware.count:g} accelerators"),
        (hours.cell, f"{hours.value:.15g} hours per month"),
        *hours.by,
        *([] if fraction_cell is None else [(fraction_cell, f"{fraction:g} of the hours")]),
    )


def _read_hours_share(line: WorkloadRow, hours: float) -> tuple[float, Cell | None] | None:
    """The used share of the hours: 1 where utilisation is missing or is that of the chip. None after a problem."""
    column = line.table.column("utilisation")
    if column is None or line.cell("utilisation") is None:
        return 1.0, None
    if _CHIP_UTILISATION.search(column.words) and not column.is_share_of_hours:
        line.ledger.note(f"{column.header.quoted} is the utilisation of the chip: the hours stay as they are")
        return 1.0, None
    share = line.fraction("utilisation")
    if share is None:
        return None
    is_full_month = hours >= 0.98 * HOURS_PER_MONTH
    if not column.is_share_of_hours and is_full_month:
        line.ledger.note(f"{column.header.quoted} is read as a share of the hours")
    if not column.is_share_of_hours and not is_full_month:
        message = "ambiguous: a share of the hours, or the utilisation of the chip"
        line.ledger.add_problem(
            share[1], message, f"the header 'Utilisation (% of hours)' or 'GPU utilisation', not {column.header.text!r}"
        )
        return None
    return share


def _read_month_columns(line: WorkloadRow, hardware: Hardware, hours: MonthlyHours | None) -> DemandStatement | None:
    columns = [c for c in line.table.columns if c.meaning == "month" and not line.row.cell(c.index).is_blank]
    if not columns:
        return None
    first = line.row.cell(columns[0].index)
    unit = line.cell("unit")
    metric = (parse_month_metric(unit.text) if unit is not None else None) or columns[0].metric
    metric = _decide_unit(line, hardware, hours, first) if metric is None else metric
    if metric is None:
        return None
    metric = settle_month_period(line, metric, unit, first)
    times = _month_factor(line, metric, hardware, hours, first)
    if times is None:
        return None
    values: dict[str, float] = {}
    cells = []
    for column in columns:
        value = _read_month_value(line, column, metric)
        if value is not None:
            values[column.month] = value * times
            cells.append((line.row.cell(column.index), f"{column.month}: {value * times:.15g}"))
    key = _DEMAND_KEYS.get(metric.kind, _DEMAND_KEYS["accelerator_hours"])
    if any(month.startswith("#") for month in values):
        if list(values) != [f"#{number}" for number in range(1, len(values) + 1)]:
            line.ledger.add_problem(first, "months by number must run from 1 without gaps", "Month 1, Month 2, ...")
            return None
        return DemandStatement(key, list(values.values()), metric.unit, tuple(cells))
    return DemandStatement(key, values, metric.unit, tuple(cells)) if values else None


def _decide_unit(line: WorkloadRow, hardware: Hardware, hours: MonthlyHours | None, first: Cell) -> Metric | None:
    """The unit of month columns that name none: a doubt where an accelerator is named, else a problem."""
    if not hardware.name or hours is not None:
        expected = "a Unit column, or a heading above them: GPU-hours, tokens ..."
        line.ledger.add_problem(first, "the month columns have no unit", expected)
        return None
    question = "the month columns have no unit: GPU-hours, or GPUs around the clock?"
    factors = {"GPU-hours": 1.0, "GPUs": HOURS_PER_MONTH}
    sheet = line.table.sheet.name or "the file"
    chosen = line.ledger.doubts.decide(f"unit of months: {sheet}", first, question, factors, "GPU-hours", line.index)
    return Metric("accelerator_hours", scale=factors[chosen])


def _month_factor(
    line: WorkloadRow, metric: Metric, hardware: Hardware, hours: MonthlyHours | None, first: Cell
) -> float | None:
    """The factor from a month's value to demand: hours for a number of GPUs, GPUs for hours, else 1."""
    if metric.kind == "accelerators":
        if hours is None:
            line.ledger.add_problem(
                first,
                "a number of GPUs by month without hours",
                "a column Hours per month (730 is around the clock)",
            )
            return None
        share = _read_hours_share(line, hours.value)
        return None if share is None else hours.value * share[0]
    if metric.kind == "hours":
        if hardware.count is None:
            line.ledger.add_problem(first, "hours by month without a number of GPUs", "a number of GPUs in the row")
        return hardware.count
    return 1.0


def _read_month_value(line: WorkloadRow, column: SheetColumn, metric: Metric) -> float | None:
    """The value of a month; a dash is an explicit zero, as in accounting."""
    cell = line.row.cell(column.index)
    if cell.text in ("-", "–", "—"):
        return 0.0
    number = line.number_in(column, cell)
    if number is None or (scaled := scale_amount(line, number, metric)) is None:
        return None
    is_amount = metric.kind in ("accelerator_hours", "units", "hours")
    value = number.value if metric.kind == "accelerators" else scaled[0]
    return value * column.share if is_amount else value


def _read_amount_column(line: WorkloadRow, hardware: Hardware, hours: MonthlyHours | None) -> DemandStatement | None:
    """A column called demand or amount, in the unit of its cell, of a unit column or of its header."""
    number = line.number("amount")
    if number is None:
        return None
    metric = parse_metric(number.quantity.unit) or _read_unit_column(line) or number.column.metric
    if metric is None or metric.kind == "hours":
        line.ledger.add_problem(
            number.cell, "an amount without a unit", "a unit in the row: GPU-hours, tokens, requests/s ..."
        )
        return None
    if metric.kind == "accelerators":
        if hours is None or hardware.count is not None:
            line.ledger.add_problem(
                number.cell, "a number of GPUs is not an amount of work", "a column Hours per month, or GPU-hours"
            )
            return None
        gpus = (number.cell, f"{number.value:g} accelerators")
        return _build_hours_demand(number.value * hours.value, gpus, (hours.cell, "hours"))
    is_total = metric.kind == "units" and not metric.period and line.cell("deadline") is not None
    return _build_statement(line, number, metric, "total_units" if is_total else _DEMAND_KEYS[metric.kind])


def record_demand(line: WorkloadRow, stated: DemandStatement) -> dict[str, Any]:
    """The demand as a request has it; its cells are recorded in the log."""
    path = f"{line.path}.demand.{stated.key}"
    for cell, value in stated.cells:
        line.ledger.read(path, cell, value)
    if isinstance(stated.value, dict) and len(stated.cells) == len(stated.value):
        for (cell, _), month in zip(stated.cells, stated.value, strict=True):
            line.ledger.places[f"{path}.{month}"] = cell.place
    if isinstance(stated.value, list):
        for index, (cell, _) in enumerate(stated.cells):
            line.ledger.places[f"{path}[{index}]"] = cell.place
    return {stated.key: stated.value}
