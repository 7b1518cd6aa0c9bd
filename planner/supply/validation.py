"""Everything about a request that takes the catalogue or the calendar to judge. All faults at once, by JSON path."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import date
from typing import Any

from planner.performance.model_catalog import describe_unknown_model
from planner.request import assumptions
from planner.request.assumptions import override_names
from planner.request.errors import InputProblem
from planner.request.field_types import MONTHS_MAX
from planner.request.models import DEMAND_KINDS, Request, Workload
from planner.supply import existing, onprem
from planner.workloads import demand
from pricing.accelerator import AcceleratorNames
from pricing.catalog.adjusted_prices import check_rate_card
from pricing.catalog.data_folder import EXCHANGE_RATES_FILE
from pricing.catalog.price_catalog import Catalog
from pricing.csv_tables import find_nearest_names
from pricing.errors import MissingExchangeRate, UnknownName

PLACE_FIELDS = ("providers", "regions", "residency")
"""What names places, in a request and in each of its workloads."""
SUGGESTIONS_MAX = 12


def validate_request(request: Request, catalog: Catalog) -> tuple[InputProblem, ...]:
    """Every fault of names, months and figures that contradict each other; empty when the request can be planned."""
    problems = [
        *_validate_private_prices(catalog),
        *_validate_currency(request, catalog),
        *_validate_places("", request, catalog),
    ]
    systems = [*(system.name for system in catalog.systems), *(system.name for system in request.systems)]
    figures = [name for system in systems for name in override_names(system)]
    problems += assumptions.validate_assumptions(request.assumptions, figures, request.currency)
    problems += existing.validate_existing(request, catalog)
    names = demand.month_names(request)
    problems += onprem.validate_owned_systems(request, catalog, names[0])
    for index, workload in enumerate(request.workloads):
        path = f"workloads[{index}]"
        problems += _validate_places(f"{path}.", workload, catalog)
        problems += _validate_accelerators(path, workload, catalog.names)
        problems += _validate_months(f"{path}.demand", workload, names)
        problems += _validate_consistency(path, workload, catalog.names)
        problems += _validate_network(path, workload)
    return tuple(problems)


def _validate_network(path: str, workload: Workload) -> Iterator[InputProblem]:
    """The model that a network is named by, which the catalogue of published models must hold."""
    name = workload.network.model if workload.network else None
    if name and (message := describe_unknown_model(name)):
        at = f"{path}.network.model"
        yield InputProblem(at, at, message, name)


def resolve_names(request: Request, catalog: Catalog) -> Request:
    """The request with the catalogue's names of providers and places for the titles and spellings that it wrote.

    What is unknown stays as it is: `check` complains of it. A region name that several providers share stays one name.
    """
    workloads = tuple(
        workload.model_copy(update=_resolve_place_names(workload, catalog)) for workload in request.workloads
    )
    return request.model_copy(update={**_resolve_place_names(request, catalog), "workloads": workloads})


def _resolve_place_names(source: Request | Workload, catalog: Catalog) -> dict[str, tuple[str, ...]]:
    resolved: dict[str, tuple[str, ...]] = {}
    for field in PLACE_FIELDS:
        name = _name_resolver(field, catalog)
        names = [_resolve_known_name(name, written) for written in getattr(source, field)]
        resolved[field] = tuple(dict.fromkeys(names))
    return resolved


def _resolve_known_name(name: Callable[[str], str], written: str) -> str:
    try:
        return name(written)
    except UnknownName:
        return written


def _name_resolver(field: str, catalog: Catalog) -> Callable[[str], str]:
    """What turns a written name into the catalogue's, or raises UnknownName."""
    if field == "providers":
        return catalog.check_provider
    if field == "regions":
        return lambda written: catalog.check_region(written)[0].region
    places = {place.casefold(): place for place in _known_names(field, catalog)}

    def place(written: str) -> str:
        if (spelled := written.strip().casefold()) in places:
            return places[spelled]
        raise UnknownName("residency", written, find_nearest_names(written, places.values()))

    return place


def _known_names(field: str, catalog: Catalog) -> list[str]:
    """Every name that a list may hold, sorted."""
    regions = catalog.regions.values()
    if field == "providers":
        return sorted(catalog.providers)
    if field == "regions":
        return sorted({region.region for region in regions})
    return sorted({place for region in regions for place in (region.country, *region.blocs) if place})


def _validate_private_prices(catalog: Catalog) -> Iterator[InputProblem]:
    for fault in check_rate_card(catalog):
        place, _, message = fault.partition(": ")
        yield InputProblem("", place, message)


def _validate_currency(request: Request, catalog: Catalog) -> Iterator[InputProblem]:
    """The rate that the default assumptions need; prices without one are gaps of the plan."""
    if request.as_of == date.min:
        return  # the date could not be read, and has a complaint of its own
    try:
        catalog.exchange.rate(assumptions.DEFAULTS_CURRENCY, request.currency, request.as_of)
    except MissingExchangeRate as missing:
        expected = (
            f"a currency with a rate, or a rate in --exchange-rates FILE or in {EXCHANGE_RATES_FILE} of the data folder"
        )
        yield InputProblem("currency", "currency", str(missing), request.currency, expected)


def validate_currency_override(
    document: Mapping[str, Any], settings: Mapping[str, Any], place: str
) -> list[InputProblem]:
    """A fault where `settings`, which win, would turn amounts that `document` states in a currency into another's."""
    stated, wanted = document.get("currency"), settings.get("currency")
    workloads = document.get("workloads")
    rows = [row for row in workloads if isinstance(row, Mapping)] if isinstance(workloads, list | tuple) else []
    has_amounts = bool(document.get("assumptions")) or any(row.get("budget_per_month") is not None for row in rows)
    if not (stated and wanted and has_amounts) or stated == wanted:
        return []
    expected = f"the currency of the amounts, {stated}, or the amounts in {wanted}"
    return [InputProblem("currency", place, f"the amounts of the request are in {stated}", str(wanted), expected)]


def _list_choices(names: Iterable[str]) -> str:
    listed = ", ".join(names)
    return f"one of {listed}" if listed else "a name from `planner offers` or GET /accelerators"


def _validate_places(prefix: str, source: Request | Workload, catalog: Catalog) -> Iterator[InputProblem]:
    for field in PLACE_FIELDS:
        name = _name_resolver(field, catalog)
        for index, written in enumerate(getattr(source, field)):
            try:
                name(written)
            except UnknownName as error:
                path = f"{prefix}{field}[{index}]"
                expected = _list_choices(error.nearest or _known_names(field, catalog)[:SUGGESTIONS_MAX])
                yield InputProblem(path, path, f"unknown {field.removesuffix('s')}", written, expected)


def _validate_accelerators(path: str, workload: Workload, accelerators: AcceleratorNames) -> Iterator[InputProblem]:
    written = [(f"{path}.accelerators[{i}]", name) for i, name in enumerate(workload.accelerators)]
    written += [(f"{path}.measurements[{i}].accelerator", m.accelerator) for i, m in enumerate(workload.measurements)]
    if workload.demand.accelerator:
        written.append((f"{path}.demand.accelerator", workload.demand.accelerator))
    for at, name in written:
        try:
            accelerators.match(name)
        except UnknownName as error:
            yield InputProblem(at, at, "unknown accelerator", name, _list_choices(error.nearest))


def _validate_months(path: str, workload: Workload, names: tuple[str, ...]) -> Iterator[InputProblem]:
    stated = workload.demand
    if stated.deadline_month is not None:
        if demand.resolve_deadline(stated, names) is None:
            at = f"{path}.deadline_month"
            expected = f"1 to {len(names)} or {names[0]} to {names[-1]}, or more months (at most {MONTHS_MAX})"
            yield InputProblem(at, at, "deadline outside the plan", str(stated.deadline_month), expected)
        return
    try:
        values = demand.monthly_values(stated, names)
    except KeyError as missing:
        at = f"{path}.{next(n for n in DEMAND_KINDS if getattr(stated, n) is not None)}"
        yield InputProblem(at, at, f"no value for {missing.args[0]}", "", "a value for every month, or fewer months")
        return
    if not any(values):
        yield InputProblem(path, path, "no demand in any month of the plan", "0", "at least one month above 0")


def _validate_consistency(path: str, workload: Workload, accelerators: AcceleratorNames) -> Iterator[InputProblem]:
    stated = workload.demand
    by_hours = stated.accelerator_hours_per_month is not None
    if not by_hours and not workload.measurements and workload.network is None:
        at = f"{path}.measurements"
        expected = "a measured throughput on at least one accelerator, demand in accelerator-hours, or a network"
        yield InputProblem(at, at, "work without a measured throughput", "", expected)
    if by_hours and workload.measurements and not _is_measured_on(workload, stated.accelerator or "", accelerators):
        at = f"{path}.measurements"
        text = "the hours cannot be turned into work: no measurement is on the accelerator of the hours"
        yield InputProblem(at, at, text, "", f"a measurement on {stated.accelerator}")
    seen: dict[tuple[str, float], int] = {}
    for index, measurement in enumerate(workload.measurements):
        key = (measurement.accelerator.casefold(), measurement.count)
        if seen.setdefault(key, index) != index:
            at = f"{path}.measurements[{index}]"
            text = f"a second measurement on {measurement.count:g} x {measurement.accelerator}"
            yield InputProblem(at, at, text, "", "one measurement for each accelerator and count")
    if workload.memory_gib_per_accelerator and workload.memory_gib_total:
        at = f"{path}.memory_gib_total"
        yield InputProblem(
            at, at, "two statements of the memory needed", "", "memory_gib_per_accelerator or memory_gib_total"
        )


def _is_measured_on(workload: Workload, written: str, accelerators: AcceleratorNames) -> bool:
    try:
        wanted = accelerators.resolve(written).name
        return any(accelerators.resolve(m.accelerator).name == wanted for m in workload.measurements)
    except UnknownName:
        return True  # the unknown name has a complaint of its own
