"""Reads a price calculator's export as demand: machines become accelerator-hours, other lines are summed separately.

The estimated cost is stored with it, for comparison with the plan.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sized
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from planner.inputs.calculators import aws, azure
from planner.inputs.calculators.export_layout import (
    CalculatorExport,
    EstimatedMachines,
    detect_export_decimal,
    parse_amount,
)
from planner.inputs.catalog_regions import find_region
from planner.inputs.cell_grid import HEADER_SEARCH_ROWS, Cell, GridRow, InputSheet
from planner.inputs.notation.numbers import parse_currency
from planner.inputs.parsed_file import CalculatorEstimate, ColumnInterpretation, TableInterpretation, unique_name
from planner.inputs.reading_log import ReadingLog, RowKind
from planner.inputs.sheet_options import IGNORE, SheetOptions, normalize_title
from planner.request.errors import InputProblem
from pricing.counted_nouns import format_count
from pricing.errors import UnknownName
from pricing.search.retired import describe_ended

if TYPE_CHECKING:
    from pricing.catalog.price_catalog import Catalog
    from pricing.offering import Offering

LAYOUTS = (aws.LAYOUT, azure.LAYOUT)
REQUIRED_ROLES = frozenset({"service", "text", "monthly"})
"""The roles of columns by which an export is recognised."""
NAMED_MAX = 12
_TOTAL = re.compile(r"(?:(?P<annual>annual|yearly)|monthly|estimated|grand)? ?totals?:?", re.IGNORECASE)
ROLES = {
    "service": "estimated service",
    "region": "region",
    "name": "name",
    "text": "machines, hours, purchase option",
    "monthly": "estimated cost per month",
    "upfront": "estimated upfront cost",
    "currency": "currency",
}


@dataclass(slots=True)
class _EstimateTally:
    """The lines of an export so far. `apart` are lines without accelerators: service, cost per month, upfront cost."""

    export: CalculatorExport
    catalog: Catalog
    ledger: ReadingLog
    uses_region: bool
    decimal: str
    currency: str
    currencies: set[str] = field(default_factory=set)
    per_month: list[float] = field(default_factory=list)
    upfront: list[tuple[float, int]] = field(default_factory=list)
    apart: list[tuple[str, float, float]] = field(default_factory=list)
    disks: list[str] = field(default_factory=list)


def read_calculator_sheet(sheet: InputSheet, ledger: ReadingLog, options: SheetOptions) -> bool:
    """Reads a sheet that is a price calculator's export; False for any other."""
    export = find_export(sheet)
    if export is None:
        return False
    ledger.estimated.append(_read_export(export, ledger, options))
    ledger.tables.append(_interpret_columns(export, options))
    return True


def find_export(sheet: InputSheet) -> CalculatorExport | None:
    """The export in a sheet; None for any other sheet."""
    for at, row in enumerate(sheet.rows[:HEADER_SEARCH_ROWS]):
        titles = [normalize_title(cell.text) for cell in row.cells]
        for layout in LAYOUTS:
            roles = [(layout.roles(title), index) for index, title in enumerate(titles)]
            columns = {role: index for role, index in reversed(roles) if role}
            if columns.keys() >= REQUIRED_ROLES:
                return CalculatorExport(layout, sheet, at, columns)
    return None


def _read_export(export: CalculatorExport, ledger: ReadingLog, options: SheetOptions) -> CalculatorEstimate:
    """Adds the demand of an export to the record; gives its estimated cost."""
    from pricing.catalog.price_catalog import Catalog

    catalog = options.catalog or Catalog.embedded()
    uses_region = options.field_of(export.cell(export.header, "region").text) != IGNORE
    lines = _EstimateTally(export, catalog, ledger, uses_region, detect_export_decimal(export), _find_currency(export))
    problem_count = len(ledger.complaints)
    totals: list[tuple[Cell, bool]] = []
    for row in export.sheet.rows[export.at + 1 :]:
        if row.is_blank:
            continue
        if row.hidden:
            ledger.reject_row(row, RowKind.HIDDEN)
        elif (total := _read_total(export, row)) is not None:
            ledger.reject_row(row, RowKind.TOTAL)
            totals.append(total)
        else:
            _read_line(lines, row)
    _reject_mapped_columns(export, ledger, options)
    estimated = _sum_estimate(lines)
    _check_totals(lines, totals or _summary_total(export))
    _add_export_notes(lines, estimated, has_demand=bool(lines.per_month) or len(ledger.complaints) > problem_count)
    return estimated


def _reject_mapped_columns(export: CalculatorExport, ledger: ReadingLog, options: SheetOptions) -> None:
    """A problem for each mapped column: the layout decides, and only the region may be ignored."""
    region = export.cell(export.header, "region").text
    for cell in export.header.cells:
        mapped, place = options.field_of(cell.text), options.required.get(normalize_title(cell.text), "")
        if place and (mapped != IGNORE or cell.text != region):
            message = f"the columns of {export.layout.calculator} are known and cannot be mapped"
            expected = f"'{region}={IGNORE}', for lines that may run anywhere, or no mapping"
            ledger.complaints.append(InputProblem("", place, message, "", expected))


def _read_total(export: CalculatorExport, row: GridRow) -> tuple[Cell, bool] | None:
    """The amount of a totals row, and whether it is annual."""
    label = next((match for cell in row.cells if (match := _TOTAL.fullmatch(cell.text))), None)
    cell = export.cell(row, "monthly")
    if label is None or export.cell(row, "service").text not in ("", label[0]):
        return None
    return cell, bool(label["annual"])


def _read_line(lines: _EstimateTally, row: GridRow) -> None:
    export, ledger = lines.export, lines.ledger
    text, cost = export.cell(row, "text"), export.cell(row, "monthly")
    if cost.fault or text.fault:
        ledger.add_problem(cost if cost.fault else text, "the cell has an error", "a value")
        return
    service = export.cell(row, "service").text or next(c.text for c in row.cells if not c.is_blank)
    machines = export.layout.machines(text.text)
    amount = parse_amount(cost, lines.decimal)
    if amount is None:
        if machines:
            ledger.add_problem(
                cost, f"machines of type {machines[0].instance_type} without a monthly cost", "an amount"
            )
        else:
            ledger.reject_row(row, RowKind.NO_AMOUNT)
        return
    upfront = parse_amount(export.cell(row, "upfront"), lines.decimal)
    currency = export.cell(row, "currency").text.upper() or lines.currency or amount[1]
    lines.currencies |= {currency} if currency else set()
    if not machines:
        lines.apart.append((service, amount[0], upfront[0] if upfront else 0.0))
        ledger.reject_row(row, RowKind.NO_ACCELERATOR, service=service, amount=amount[0], currency=currency)
        return
    ledger.rows_used += 1
    lines.per_month.append(amount[0])
    if upfront and upfront[0]:
        lines.upfront.append((upfront[0], next((m.term_months for m in machines if m.term_months), 0)))
    for each in machines:
        _add_workload(lines, row, each)
    if export.layout.disks_gb and (disks_gb := export.layout.disks_gb(text.text)):
        lines.disks.append(f"{disks_gb:,.15g} GB in {row.place}")
    if "windows" in text.text.casefold():
        ledger.note(f"{text.place} estimates Windows: licences are not part of the plan")


def _find_currency(export: CalculatorExport) -> str:
    """The currency named beneath the lines ("All prices shown are in Euro (€) EUR")."""
    texts = (c.text for row in export.sheet.rows[export.at + 1 :] for c in row.cells if isinstance(c.value, str))
    sentence = next((text for text in texts if re.search(r"\bprices? shown\b", text, re.IGNORECASE)), "")
    codes = re.findall(r"\b([A-Z]{3})\b", sentence.partition(" This is ")[0])
    return next((code for code in reversed(codes) if parse_currency(code) == code), "")


def _add_workload(lines: _EstimateTally, row: GridRow, machines: EstimatedMachines) -> None:
    """Adds a workload with the accelerator-hours of the machines, in jobs as large as one machine."""
    export, ledger, cell = lines.export, lines.ledger, lines.export.cell(row, "text")
    offering = _find_offering(lines, machines, cell)
    if offering is None:
        return
    if machines.hours is None or machines.hours <= 0 or not offering.accelerator_count:
        unknown = "hours" if offering.accelerator_count else "number of accelerators"
        message = f"machines of type {machines.instance_type}: unknown {unknown} ({machines.how})"
        ledger.add_problem(cell, message, "hours a month, or a sheet of GPU-hours")
        return
    each, hours = offering.accelerator_count, machines.hours * offering.accelerator_count
    path = f"workloads[{len(ledger.workloads)}]"
    name_cell = export.cell(row, "name")
    region = export.cell(row, "region")
    name = unique_name(name_cell.text or machines.instance_type, ledger.names, row.place)
    ledger.names[name.casefold()] = row.place
    ledger.places[path] = row.place
    ledger.read(f"{path}.name", name_cell if name_cell.text else cell, name)
    machine = f"{each:g} {offering.accelerator} in a {offering.instance_type}"
    how = f"{hours:.15g} accelerator-hours: {machines.how} x {machine}"
    ledger.read(f"{path}.demand.accelerator_hours_per_month", cell, how)
    ledger.read(f"{path}.demand.accelerator", cell, offering.accelerator)
    workload: dict[str, Any] = {
        "name": name,
        "demand": {"accelerator_hours_per_month": hours, "accelerator": offering.accelerator},
        "gang": each,
        "notes": f"estimated as {machines.how} of {offering.instance_type}, {machines.option}",
    }
    if lines.uses_region and region.text:
        workload["regions"] = [find_region(lines.catalog, export.layout.provider, region.text) or region.text]
        workload["providers"] = [export.layout.provider]
        ledger.read(f"{path}.regions[0]", region, workload["regions"][0])
    if machines.is_interruptible:
        workload["interruptible"] = True
    if machines.egress_gb_per_month:
        workload["egress_gb_per_month"] = machines.egress_gb_per_month
        ledger.read(f"{path}.egress_gb_per_month", cell, machines.egress_gb_per_month)
    ledger.workloads.append(workload)


def _find_offering(lines: _EstimateTally, machines: EstimatedMachines, cell: Cell) -> Offering | None:
    layout = lines.export.layout
    written = layout.spelled(machines.instance_type)
    try:
        return lines.catalog.check_type(layout.provider, written)
    except UnknownName as unknown:
        expected = f"one of {', '.join(unknown.nearest)}" if unknown.nearest else "a type from `planner offers`"
        ended = describe_ended(machines.instance_type, lines.catalog)
        message = ended or f"no known machine with accelerators is called {machines.instance_type}"
        lines.ledger.add_problem(cell, message, expected)
    return None


def _sum_estimate(lines: _EstimateTally) -> CalculatorEstimate:
    return CalculatorEstimate(
        calculator=lines.export.layout.calculator,
        currency=next(iter(lines.currencies)) if len(lines.currencies) == 1 else "",
        per_month=math.fsum(lines.per_month),
        upfront=tuple(lines.upfront),
        apart_per_month=math.fsum(cost for _, cost, _ in lines.apart),
    )


def _summary_total(export: CalculatorExport) -> list[tuple[Cell, bool]]:
    """The monthly total in the block above the lines, where AWS writes it."""
    for above, row in zip(export.sheet.rows[: export.at], export.sheet.rows[1 : export.at], strict=False):
        for index, cell in enumerate(above.cells):
            if cell.text.casefold() == "monthly cost":
                return [(row.cell(index), False)]
    return []


def _check_totals(lines: _EstimateTally, totals: list[tuple[Cell, bool]]) -> None:
    """Adds a note where a total differs from the sum of the lines by more than their rounding."""
    count = len(lines.per_month) + len(lines.apart)
    total = math.fsum([*lines.per_month, *(cost for _, cost, _ in lines.apart)])
    for cell, is_annual in totals:
        stated, expected = parse_amount(cell, lines.decimal), total * (12 if is_annual else 1)
        if stated is not None and abs(stated[0] - expected) > 0.005 * (count + 1) * (12 if is_annual else 1):
            lines.ledger.note(f"{cell.place}: the total reads {cell.text}, but the lines add up to {expected:,.2f}")


def _add_export_notes(lines: _EstimateTally, estimated: CalculatorEstimate, *, has_demand: bool) -> None:
    """Notes on the lines that are planned and those that are not; a problem where no line is planned."""
    unknown = "(several currencies)" if lines.currencies else "(unknown currency)"
    layout, currency = lines.export.layout, estimated.currency or unknown
    paid = [(service, cost) for service, cost, upfront in lines.apart if cost or upfront]
    named = [f"{service} {cost:,.2f}" for service, cost in paid[:NAMED_MAX]]
    named += [f"{len(paid) - NAMED_MAX} more"] if len(paid) > NAMED_MAX else []
    others = f"{_count_lines(paid)} without accelerators, {estimated.apart_per_month:,.2f} {currency} a month"
    if not has_demand:
        message = f"{layout.calculator} in which no line has an accelerator"
        expected = "a line with machines such as " + ("g5.xlarge" if layout.provider == "aws" else "NC24ads A100 v4")
        listed = f"{others}: {'; '.join(named)}" if named else "no line"
        lines.ledger.complaints.append(InputProblem("", lines.export.header.place, message, listed, expected))
        return
    upfront = math.fsum(amount for amount, _ in estimated.upfront)
    upfront_text = f" and {upfront:,.2f} upfront" if upfront else ""
    lines.ledger.note(
        f"{layout.calculator}: {_count_lines(lines.per_month)} with accelerators cost {estimated.per_month:,.2f} "
        f"{currency} a month in the estimate{upfront_text}; {layout.left_aside}{_describe_disks(lines)}"
    )
    if named:
        lines.ledger.note(f"not planned: {others} in the estimate ({'; '.join(named)})")
    if lines.uses_region and any(workload.get("regions") for workload in lines.ledger.workloads):
        title = lines.export.cell(lines.export.header, "region").text
        lines.ledger.note(
            f"each line stays with its provider and region; with --map '{title}={IGNORE}' it may run anywhere"
        )


def _describe_disks(lines: _EstimateTally) -> str:
    """The disks of those lines with the catalogue's price of a GB, so that a reader can subtract them."""
    if not lines.disks:
        return ""
    more = f" and {len(lines.disks) - NAMED_MAX} more" if len(lines.disks) > NAMED_MAX else ""
    tiers = lines.catalog.reference_tiers(lines.export.layout.provider, "block_storage")
    price = (
        f"; for comparison: {tiers[0].price_per_gb:g} {tiers[0].currency} a GB in {tiers[0].region}" if tiers else ""
    )
    return f". Disks in these lines, of each machine or of the line: {', '.join(lines.disks[:NAMED_MAX])}{more}{price}"


def _count_lines(lines: Sized) -> str:
    return format_count(len(lines), "line")


def _interpret_columns(export: CalculatorExport, options: SheetOptions) -> TableInterpretation:
    by_index = {index: role for role, index in export.columns.items()}
    columns = []
    for index, cell in enumerate(export.header.cells):
        role = by_index.get(index, "")
        if role == "region" and options.field_of(cell.text) == IGNORE:
            role = ""
        if not cell.is_blank:
            rule = "the layout of the calculator" if role else "not used"
            columns.append(ColumnInterpretation(cell.place, cell.text, ROLES.get(role, ""), "", rule))
    return TableInterpretation(export.sheet.name, export.header.place, tuple(columns), export.layout.calculator)
