"""A price calculator's export -> demand: machines become accelerator-hours, other lines are summed apart.

What was estimated is kept beside it, so that the plan can be held against it.
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
from planner.inputs.cell_grid import Cell, GridRow, InputSheet
from planner.inputs.notation.numbers import parse_currency
from planner.inputs.parsed_file import CalculatorEstimate, ColumnInterpretation, TableInterpretation
from planner.inputs.reading_log import ReadingLog
from planner.inputs.sheet_options import IGNORE, SheetOptions, normalize_title
from planner.request.errors import InputProblem
from pricing.errors import UnknownName

if TYPE_CHECKING:
    from pricing.catalog.price_catalog import Catalog
    from pricing.offering import Offering

LAYOUTS = (aws.LAYOUT, azure.LAYOUT)
NAMED_MAX = 12
HEADER_SEARCH_ROWS = 200
_TOTAL = re.compile(r"(?:(?P<annual>annual|yearly)|monthly|estimated|grand)? ?totals?:?", re.IGNORECASE)
ROLES = {
    "service": "what is estimated",
    "region": "region",
    "name": "name",
    "text": "machines, hours, way of paying",
    "monthly": "cost per month there",
    "upfront": "cost upfront there",
    "currency": "currency",
}


@dataclass(slots=True)
class _EstimateTally:
    """The lines of an export so far: amounts per month and upfront, those with accelerators and those without."""

    export: CalculatorExport
    catalog: Catalog
    ledger: ReadingLog
    workloads: list[dict[str, Any]]
    seen: dict[str, str]
    keeps_region: bool
    decimal: str
    currency: str
    currencies: set[str] = field(default_factory=set)
    per_month: list[float] = field(default_factory=list)
    upfront: list[tuple[float, int]] = field(default_factory=list)
    apart: list[tuple[str, float, float]] = field(default_factory=list)
    disks: list[str] = field(default_factory=list)


def find_export(sheet: InputSheet) -> CalculatorExport | None:
    """The export that a sheet is, else None."""
    for at, row in enumerate(sheet.rows[:HEADER_SEARCH_ROWS]):
        words = [" ".join(cell.text.casefold().split()) for cell in row.cells]
        for layout in LAYOUTS:
            columns: dict[str, int] = {}
            for index, word in enumerate(words):
                if word and (role := layout.roles(word)):
                    columns.setdefault(role, index)
            if layout.needed <= columns.keys():
                return CalculatorExport(layout, sheet, at, columns)
    return None


def read_export(
    export: CalculatorExport,
    workloads: list[dict[str, Any]],
    seen: dict[str, str],
    ledger: ReadingLog,
    choices: SheetOptions,
) -> tuple[CalculatorEstimate, TableInterpretation]:
    """Adds the demand of an export to `workloads`; gives what it costs there and how its columns were understood."""
    from pricing.catalog.price_catalog import Catalog

    known = choices.catalog or Catalog.embedded()
    keeps_region = choices.field_of(export.cell(export.header, "region").text) != IGNORE
    lines = _EstimateTally(
        export, known, ledger, workloads, seen, keeps_region, detect_export_decimal(export), _find_currency(export)
    )
    problem_count = len(ledger.complaints)
    totals: list[tuple[Cell, bool]] = []
    for row in export.sheet.rows[export.at + 1 :]:
        if row.is_blank:
            continue
        if row.hidden:
            ledger.reject_row(row, "hidden row; unhide it to have it planned")
        elif (total := _read_total(export, row)) is not None:
            ledger.reject_row(row, "total")
            totals.append(total)
        else:
            _read_line(lines, row)
    _reject_mapped_columns(export, ledger, choices)
    estimated = _sum_estimate(lines)
    _check_totals(lines, totals or _summary_total(export))
    _add_export_notes(lines, estimated, has_demand=bool(lines.per_month) or len(ledger.complaints) > problem_count)
    return estimated, _interpret_columns(export, choices)


def _reject_mapped_columns(export: CalculatorExport, ledger: ReadingLog, choices: SheetOptions) -> None:
    """A complaint for each column that is said to be something: the layout says it, and only the region may be left."""
    region = export.cell(export.header, "region").text
    for cell in export.header.cells:
        chosen, place = choices.field_of(cell.text), choices.required.get(normalize_title(cell.text), "")
        if place and (chosen != IGNORE or cell.text != region):
            message = f"the columns of {export.layout.calculator} are known, and not to be chosen"
            expected = f"'{region}={IGNORE}', to let its lines go anywhere, or nothing"
            ledger.complaints.append(InputProblem("", place, message, "", expected))


def _read_total(export: CalculatorExport, row: GridRow) -> tuple[Cell, bool] | None:
    """The figure of a totals row, and whether it is of a year."""
    label = next((found for cell in row.cells if (found := _TOTAL.fullmatch(cell.text))), None)
    cell = export.cell(row, "monthly")
    if label is None or export.cell(row, "service").text not in ("", label[0]):
        return None
    return cell, bool(label["annual"])


def _read_line(lines: _EstimateTally, row: GridRow) -> None:
    export, ledger = lines.export, lines.ledger
    text, cost = export.cell(row, "text"), export.cell(row, "monthly")
    if cost.fault or text.fault:
        ledger.add_problem(cost if cost.fault else text, "no value can be read", "a value")
        return
    service = export.cell(row, "service").text or next(c.text for c in row.cells if not c.is_blank)
    machines = export.layout.machines(text.text, service)
    amount = parse_amount(cost, lines.decimal)
    if amount is None:
        if machines:
            ledger.add_problem(cost, f"machines of type {machines[0].instance_type}, but no cost a month", "an amount")
        else:
            ledger.reject_row(row, "note: no amount in it")
        return
    upfront = parse_amount(export.cell(row, "upfront"), lines.decimal)
    currency = export.cell(row, "currency").text.upper() or lines.currency or amount[1]
    lines.currencies |= {currency} if currency else set()
    if not machines:
        lines.apart.append((service, amount[0], upfront[0] if upfront else 0.0))
        ledger.reject_row(row, f"no accelerator: {service}, {amount[0]:,.2f} {currency} a month there")
        return
    ledger.rows_used += 1
    lines.per_month.append(amount[0])
    if upfront and upfront[0]:
        lines.upfront.append((upfront[0], next((m.term_months for m in machines if m.term_months), 0)))
    for each in machines:
        _add_workload(lines, row, each)
    if disks_gb := export.layout.disks_gb(text.text):
        lines.disks.append(f"{disks_gb:,.15g} GB in {row.place}")
    if "windows" in text.text.casefold():
        ledger.note(f"{text.place} estimates Windows: licences are not planned")


def _find_currency(export: CalculatorExport) -> str:
    """The currency that an export names beneath its lines ("All prices shown are in Euro (€) EUR")."""
    words = (c.text for row in export.sheet.rows[export.at + 1 :] for c in row.cells if isinstance(c.value, str))
    sentence = next((text for text in words if re.search(r"\bprices? shown\b", text, re.IGNORECASE)), "")
    codes = re.findall(r"\b([A-Z]{3})\b", sentence.partition(" This is ")[0])
    return next((code for code in reversed(codes) if parse_currency(code) == code), "")


def _add_workload(lines: _EstimateTally, row: GridRow, machines: EstimatedMachines) -> None:
    """One workload: as many accelerator-hours as the machines have, in jobs as large as one of them."""
    export, ledger, cell = lines.export, lines.ledger, lines.export.cell(row, "text")
    offering = _find_offering(lines, machines, cell)
    if offering is None:
        return
    if machines.hours is None or machines.hours <= 0 or not offering.accelerator_count:
        what = "for how many hours?" if offering.accelerator_count else "with how many accelerators?"
        message = f"machines of type {machines.instance_type}, but {what} ({machines.how})"
        ledger.add_problem(cell, message, "hours a month, or a sheet of GPU-hours")
        return
    each, hours = offering.accelerator_count, machines.hours * offering.accelerator_count
    index = len(lines.workloads)
    path = f"workloads[{index}]"
    name_cell = export.cell(row, "name")
    region = export.cell(row, "region")
    name = _unique_name(lines, row, machines.instance_type)
    ledger.places[path] = row.place
    ledger.read(f"{path}.name", name_cell if name_cell.text else cell, name)
    what = f"{each:g} {offering.accelerator} in a {offering.instance_type}"
    how = f"{hours:.15g} accelerator-hours: {machines.how} x {what}"
    ledger.read(f"{path}.demand.accelerator_hours_per_month", cell, how)
    ledger.read(f"{path}.demand.accelerator", cell, offering.accelerator)
    workload: dict[str, Any] = {
        "name": name,
        "demand": {"accelerator_hours_per_month": hours, "accelerator": offering.accelerator},
        "gang": each,
        "notes": f"estimated as {machines.how} of {offering.instance_type}, {machines.option}",
    }
    if lines.keeps_region and region.text:
        workload["regions"] = [_catalog_region(lines.catalog, export.layout.provider, region.text)]
        workload["providers"] = [export.layout.provider]
        ledger.read(f"{path}.regions[0]", region, workload["regions"][0])
    if machines.is_interruptible:
        workload["interruptible"] = True
    if machines.egress_gb_per_month:
        workload["egress_gb_per_month"] = machines.egress_gb_per_month
        ledger.read(f"{path}.egress_gb_per_month", cell, machines.egress_gb_per_month)
    lines.workloads.append(workload)


def _find_offering(lines: _EstimateTally, machines: EstimatedMachines, cell: Cell) -> Offering | None:
    layout = lines.export.layout
    written = layout.spelled(machines.instance_type)
    try:
        return lines.catalog.check_type(layout.provider, written, include_retired=True)
    except UnknownName as unknown:
        close = ", ".join(unknown.nearest) or "a type from `planner offers`"
        message = f"{machines.instance_type} is no machine with accelerators that is known"
        lines.ledger.add_problem(cell, message, f"one of {close}")
    return None


def _unique_name(lines: _EstimateTally, row: GridRow, instance_type: str) -> str:
    """The line's own name, else its type; with its place where another line has it already."""
    stem = lines.export.cell(row, "name").text or instance_type
    name = stem if stem.casefold() not in lines.seen else f"{stem} ({row.place})"
    number = 1
    while name.casefold() in lines.seen:
        number += 1
        name = f"{stem} ({row.place}, {number})"
    lines.seen[name.casefold()] = row.place
    return name


def _catalog_region(catalog: Catalog, provider: str, written: str) -> str:
    """The provider's name of a region by its title (an older title by its city); as written where none fits."""
    city = re.search(r"\(([^)]+)\)", written)
    for text in (written, *((city[1],) if city else ())):
        for region in catalog.regions.values():
            if region.provider == provider and (
                text.casefold() in (region.region.casefold(), region.name.casefold()) or f"({text})" in region.name
            ):
                return region.region
    return written


def _sum_estimate(lines: _EstimateTally) -> CalculatorEstimate:
    return CalculatorEstimate(
        calculator=lines.export.layout.calculator,
        currency=next(iter(lines.currencies)) if len(lines.currencies) == 1 else "",
        per_month=math.fsum(lines.per_month),
        upfront=tuple(lines.upfront),
        apart_per_month=math.fsum(cost for _, cost, _ in lines.apart),
    )


def _summary_total(export: CalculatorExport) -> list[tuple[Cell, bool]]:
    """The monthly total in the block above the lines, as AWS writes it."""
    for above, row in zip(export.sheet.rows[: export.at], export.sheet.rows[1 : export.at], strict=False):
        for index, cell in enumerate(above.cells):
            if cell.text.casefold() == "monthly cost":
                return [(row.cell(index), False)]
    return []


def _check_totals(lines: _EstimateTally, totals: list[tuple[Cell, bool]]) -> None:
    """A warning with both figures where a total is not the sum of the lines, rounding of each aside."""
    count = len(lines.per_month) + len(lines.apart)
    total = math.fsum([*lines.per_month, *(cost for _, cost, _ in lines.apart)])
    for cell, is_annual in totals:
        shown, expected = parse_amount(cell, lines.decimal), total * (12 if is_annual else 1)
        if shown is not None and abs(shown[0] - expected) > 0.005 * (count + 1) * (12 if is_annual else 1):
            lines.ledger.note(f"{cell.place}: the total reads {cell.text}, but the lines add up to {expected:,.2f}")


def _add_export_notes(lines: _EstimateTally, estimated: CalculatorEstimate, *, has_demand: bool) -> None:
    """What was found, and the lines that are not planned; a complaint where there is nothing to plan."""
    several = "(several currencies)" if lines.currencies else "(currency not told)"
    layout, currency = lines.export.layout, estimated.currency or several
    paid = [(service, cost) for service, cost, upfront in lines.apart if cost or upfront]
    named = [f"{service} {cost:,.2f}" for service, cost in paid[:NAMED_MAX]]
    named += [f"{len(paid) - NAMED_MAX} more"] if len(paid) > NAMED_MAX else []
    apart = f"{_count_lines(paid)} without accelerators, {estimated.apart_per_month:,.2f} {currency} a month"
    if not has_demand:
        message = f"{layout.calculator}, and none of its lines has an accelerator"
        expected = "a line with machines such as " + ("g5.xlarge" if layout.provider == "aws" else "NC24ads A100 v4")
        shown = f"{apart}: {'; '.join(named)}" if named else "no line"
        lines.ledger.complaints.append(InputProblem("", lines.export.header.place, message, shown, expected))
        return
    upfront = math.fsum(amount for amount, _ in estimated.upfront)
    beside = f" and {upfront:,.2f} upfront" if upfront else ""
    lines.ledger.note(
        f"{layout.calculator}: {_count_lines(lines.per_month)} with accelerators cost {estimated.per_month:,.2f} "
        f"{currency} a month there{beside}; {layout.left_aside}{_describe_disks(lines)}"
    )
    if named:
        lines.ledger.note(f"not planned: {apart} there ({'; '.join(named)})")
    if lines.keeps_region and any(workload.get("regions") for workload in lines.workloads):
        title = lines.export.cell(lines.export.header, "region").text
        lines.ledger.note(f"each line stays in its provider and region; --map '{title}={IGNORE}' lets it go anywhere")


def _describe_disks(lines: _EstimateTally) -> str:
    """The disks that those lines name, with the catalogue's price of a GB, by which a reader may take them off."""
    if not lines.disks:
        return ""
    more = f" and {len(lines.disks) - NAMED_MAX} more" if len(lines.disks) > NAMED_MAX else ""
    tiers = lines.catalog.reference_tiers(lines.export.layout.provider, "block_storage")
    price = f"; for scale: {tiers[0].price_per_gb:g} {tiers[0].currency} a GB in {tiers[0].region}" if tiers else ""
    return f". Disks they name, of a machine or of the line: {', '.join(lines.disks[:NAMED_MAX])}{more}{price}"


def _count_lines(lines: Sized) -> str:
    return f"{len(lines)} line{'s' if len(lines) != 1 else ''}"


def _interpret_columns(export: CalculatorExport, choices: SheetOptions) -> TableInterpretation:
    by_index = {index: role for role, index in export.columns.items()}
    columns = []
    for index, cell in enumerate(export.header.cells):
        role = by_index.get(index, "")
        if role == "region" and choices.field_of(cell.text) == IGNORE:
            role = ""
        if not cell.is_blank:
            rule = "the layout of the calculator" if role else "not used"
            columns.append(ColumnInterpretation(cell.place, cell.text, ROLES.get(role, ""), "", rule))
    return TableInterpretation(export.sheet.name, export.header.place, tuple(columns), export.layout.calculator)
