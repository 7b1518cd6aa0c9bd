"""Behind `planner throughput`: throughput on every accelerator and the next measurements, as text, JSON or CSV."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from planner.cli._catalog_options import parse_count, split_names
from planner.cli._exit_codes import DONE
from planner.cli._tables import print_report
from planner.messages import joined_text, text_of, with_texts
from planner.request.errors import InputProblem, InvalidRequest
from pricing.errors import UnknownName
from pricing.frozen_values import dataclass
from pricing.text_tables import align_columns

if TYPE_CHECKING:
    from planner.analysis.value_of_information import AcceleratorAssessment, MeasurementValue
    from planner.request.models import Request
    from planner.workloads.demand import WorkloadDemand
    from pricing.catalog.price_catalog import Catalog

COLUMNS = (
    "workload", "unit", "accelerator", "gang", "usable", "reason", "units_per_second", "units_per_hour",
    "units_per_hour_low", "units_per_hour_high", "basis", "explanation", "currency", "price_per_accelerator_hour",
    "where", "cost_per_million_units", "cost_per_million_units_low", "cost_per_million_units_high", "measure_cost",
    "measure_where", "measure_instead_of", "measure_chance", "measure_saving", "measure_saving_good",
)  # fmt: skip
"""Columns of the CSV; a measurement is in the row of its accelerator and gang."""
NEXT_MAX = 3
MILLION = 1e6
SECONDS = 3600.0


@dataclass(frozen=True, slots=True)
class WorkloadThroughput:
    """One workload with its rows and further measurements, the most valuable first; prices in `currency`."""

    need: WorkloadDemand
    rows: list[AcceleratorAssessment]
    further: list[MeasurementValue]
    currency: str


def report_throughput(
    file: str,
    workload_names: Sequence[str],
    accelerator_names: Sequence[str],
    gang_sizes: Sequence[str],
    options: Mapping[str, Any],
    format_name: str,
    *,
    everything: bool,
) -> int:
    """Print the table of every selected workload; InvalidRequest with every problem. Each name or size may be a
    comma-separated list."""
    from planner.library.catalog_files import open_catalog

    faults: list[InputProblem] = []
    texts = split_names(gang_sizes)
    counts = [count for text in texts if (count := parse_count(text, "--count", "more than 0", faults))]
    if not file:
        faults.append(InputProblem("", "FILE", "no file of workloads", "", "a request, a sheet, or --errors"))
        raise InvalidRequest(tuple(faults))
    listed, more = open_catalog(options["private_prices"], options["exchange_rates"])
    faults += more
    named = _select_accelerators(accelerator_names, listed, faults)
    request, catalog, needs = _read_needs(file, options, listed, faults)
    chosen = _select_workloads(needs, split_names(workload_names), faults)
    if faults:
        raise InvalidRequest(tuple(faults))
    results = [_assess_workload(request, need, catalog, named, counts) for need in chosen]
    lines = (line for one in results for line in _workload_lines(one, everything))
    records = (record for one in results for record in _csv_rows(one))
    print_report(format_name, lines, COLUMNS, records, lambda: [_workload_document(one) for one in results])
    return DONE


def _assess_workload(
    request: Request, need: WorkloadDemand, catalog: Catalog, named: Collection[str], counts: Sequence[float]
) -> WorkloadThroughput:
    """Rows at the gang of the request and at each of `counts`. `named` filters the output only: a measurement may
    change the choice among all accelerators."""
    from planner.analysis.value_of_information import assess_accelerators, sort_by_cost, value_measurements

    rows_by_gang: dict[tuple[str, float], AcceleratorAssessment] = {}
    further: dict[tuple[str, float], MeasurementValue] = {}
    for count in (None, *counts):
        of_count = assess_accelerators(request, need, catalog, count)
        for row in of_count:
            rows_by_gang.setdefault((row.accelerator, row.gang), row)
        for one in value_measurements(of_count, need):
            further.setdefault((one.row.accelerator, one.row.gang), one)
    best_first = sorted(further.values(), key=lambda one: (one.cost - one.saving, one.row.accelerator, one.row.gang))
    return WorkloadThroughput(
        need,
        [row for row in sort_by_cost(rows_by_gang.values()) if not named or row.accelerator in named],
        [one for one in best_first if not named or one.row.accelerator in named],
        request.currency,
    )


def _read_needs(
    file: str, options: Mapping[str, Any], listed: Catalog, faults: Sequence[InputProblem]
) -> tuple[Request, Catalog, Sequence[WorkloadDemand]]:
    """The request of a file as `planner estimate` plans it, its catalogue, and the demand of each workload."""
    from planner.application import process_document
    from planner.cli._input_problems import option_flag
    from planner.inputs.file_reader import read_isolated as read
    from planner.library.request_files import expand_document, read_bytes
    from planner.pipeline import prepare_needs

    settings = {name: split_names(options[name]) for name in ("providers", "regions") if options[name]}
    source = read(read_bytes(file, faults), file)
    document, unread = expand_document(source.document, settings, file, place=option_flag)
    complaints = (*unread, *source.complaints)
    places = {**source.places, **{name: f"--{name}" for name in settings}}
    try:
        return process_document(document, listed, lambda request: prepare_needs(request, listed), complaints, places)
    except InvalidRequest as error:
        raise InvalidRequest((*faults, *error.complaints)) from None


def _select_accelerators(texts: Sequence[str], catalog: Catalog, faults: list[InputProblem]) -> tuple[str, ...]:
    selected: list[str] = []
    for text in split_names(texts):
        try:
            selected += [part.name for part in catalog.names.match(text)]
        except UnknownName as error:
            near = f"one like {', '.join(error.nearest)}" if error.nearest else "a name of `planner offers`"
            faults.append(InputProblem("", "--accelerator", "no such accelerator", text, near))
    return tuple(selected)


def _select_workloads(
    needs: Sequence[WorkloadDemand], names: Sequence[str], faults: list[InputProblem]
) -> list[WorkloadDemand]:
    known = {need.workload.name.casefold(): need for need in needs}
    expected = f"one of {', '.join(need.workload.name for need in needs)}"
    strangers = [name for name in names if name.casefold() not in known]
    faults.extend(InputProblem("", "--workload", "no such workload", name, expected) for name in strangers)
    selected = dict.fromkeys(name.casefold() for name in names)
    return [known[name] for name in selected if name in known] if names else list(needs)


def _workload_lines(result: WorkloadThroughput, everything: bool) -> Iterator[str]:
    from planner.workloads.eligibility import is_described

    usable = [row for row in result.rows if row.usable]
    others = [row for row in result.rows if not row.usable]
    workload = result.need.workload
    yield f"{workload.name}, in {result.need.unit}"
    if not workload.measurements and not is_described(workload):
        yield "  only hours are given, no measurement: an accelerator-hour is one accelerator for one hour (definition)"
    if usable:
        prices = f"{result.currency} per accelerator-hour", f"{result.currency} per million"
        head = ("accelerator", "gang", "a second", "an hour", "80 % interval", "basis", *prices, "80 % range", "")
        yield from align_columns(head, map(_row_cells, usable), (*head[1:5], *head[6:9]), indent="  ")
    if others and not everything:
        without = sum(row.rate is None for row in others)
        yield f"  {len(others)} more cannot be rented or used ({without} of unknown throughput): --all shows why"
    if others and everything:
        yield "  cannot be rented or used"
        titles = ("accelerator", "gang", "a second", "")
        yield from align_columns(titles, map(_reason_cells, others), indent="    ")
    yield "  measure next"
    yield from (f"    {line}" for line in _next_measurement_lines(result.further, result.currency))
    yield ""


def _row_cells(row: AcceleratorAssessment) -> tuple[str, ...]:
    rate = row.rate
    assert rate is not None
    costs = _cost_interval(row)
    low, cost, high = (_format_number(costs[name] * MILLION) for name in ("low", "expected", "high"))
    exact = rate.low == rate.high
    rates = _format_number(rate.units_per_hour / SECONDS), _format_number(rate.units_per_hour)
    interval = "" if exact else f"{_format_number(rate.low)} to {_format_number(rate.high)}"
    basis, price = rate.basis.replace("_", " "), _format_number(row.price_per_accelerator_hour or 0.0)
    cost_range = "" if exact else f"{low} to {high}"
    return row.accelerator, f"{row.gang:g}", *rates, interval, basis, price, cost, cost_range, row.where


def _reason_text(row: AcceleratorAssessment) -> str:
    return "" if row.reason is None else text_of(row.reason)


def _reason_cells(row: AcceleratorAssessment) -> tuple[str, ...]:
    rate = "unknown" if row.rate is None else _format_number(row.rate.units_per_hour / SECONDS)
    return row.accelerator, f"{row.gang:g}", rate, _reason_text(row)


def _next_measurement_lines(further: Sequence[MeasurementValue], currency: str) -> Iterator[str]:
    worthwhile = [one for one in further if one.saving > one.cost][:NEXT_MAX]
    if not worthwhile:
        yield "none: no measurement is likely to save more than its cost, one hour of rent"
    for one in worthwhile:
        yield (
            f"{one.row.gang:g} x {one.row.accelerator} for an hour, {one.cost:,.2f} {currency} "
            f"({one.row.rent_where}): {one.chance:.0%} that it changes the choice against {one.instead_of}; "
            f"saves {one.saving:,.0f} {currency} on average, {one.saving_good:,.0f} at the good end"
        )


def _format_number(value: float) -> str:
    """Three significant digits."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def _workload_document(result: WorkloadThroughput) -> dict[str, Any]:
    return {
        "workload": result.need.workload.name,
        "unit": result.need.unit,
        "currency": result.currency,
        "accelerators": [
            {
                **asdict(with_texts(row)),
                "usable": row.usable,
                "price_per_accelerator_hour": row.price_per_accelerator_hour,
                "cost_per_unit": _cost_interval(row) if row.usable else None,
            }
            for row in result.rows
        ],
        "measure_next": [asdict(with_texts(one)) for one in result.further],
    }


def _csv_rows(result: WorkloadThroughput) -> Iterator[dict[str, Any]]:
    further = {(one.row.accelerator, one.row.gang): one for one in result.further}
    for row in result.rows:
        line: dict[str, Any] = {
            "workload": result.need.workload.name, "unit": result.need.unit, "accelerator": row.accelerator,
            "gang": row.gang, "usable": row.usable, "reason": _reason_text(row), "currency": result.currency,
            "price_per_accelerator_hour": row.price_per_accelerator_hour, "where": row.where,
        }  # fmt: skip
        if (rate := row.rate) is not None:
            line |= {
                "units_per_second": rate.units_per_hour / SECONDS, "units_per_hour": rate.units_per_hour,
                "units_per_hour_low": rate.low, "units_per_hour_high": rate.high, "basis": rate.basis,
                "explanation": joined_text(rate.explanation),
            }  # fmt: skip
        if row.usable:
            costs = _cost_interval(row)
            line |= {f"cost_per_million_units_{end}": costs[end] * MILLION for end in ("low", "high")}
            line["cost_per_million_units"] = costs["expected"] * MILLION
        if one := further.get((row.accelerator, row.gang)):
            line |= {
                "measure_cost": one.cost, "measure_where": row.rent_where, "measure_instead_of": one.instead_of,
                "measure_chance": one.chance, "measure_saving": one.saving, "measure_saving_good": one.saving_good,
            }  # fmt: skip
        yield line


def _cost_interval(row: AcceleratorAssessment) -> dict[str, float]:
    """Per unit, at the ends of the interval and in between."""
    assert row.rate is not None
    ends = {"low": row.rate.high, "expected": row.rate.units_per_hour, "high": row.rate.low}
    return {name: row.cost_per_unit(value) for name, value in ends.items()}
