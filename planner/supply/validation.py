"""Validation of a request: of its form, and of its names and amounts against the catalogue. All problems at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import date
from functools import cache

from planner.performance.model_catalog import describe_unknown_model
from planner.request import assumptions
from planner.request.assumptions import override_names
from planner.request.errors import InputProblem, unknown_name
from planner.request.models import Request, Workload
from planner.request.validation import validate_form
from planner.supply import existing, onprem
from planner.workloads.eligibility import is_tied_to_accelerator
from pricing.accelerator import AcceleratorNames
from pricing.catalog.adjusted_prices import check_rate_card
from pricing.catalog.data_folder import EXCHANGE_RATES_FILE
from pricing.catalog.price_catalog import Catalog
from pricing.csv_tables import find_nearest_names
from pricing.errors import MissingExchangeRate, UnknownName
from pricing.search.retired import describe_ended

PLACE_FIELDS = ("providers", "regions", "residency")
"""The fields that name places, in a request and in each of its workloads."""
INSTEAD = "an accelerator that is sold, substitution: true, or a server of your own with it (systems)"


def validate_request(request: Request, catalog: Catalog) -> tuple[InputProblem, ...]:
    """Every problem of names, months and contradictory statements; empty when the request can be planned."""
    problems = [
        *_validate_private_prices(catalog),
        *_validate_currency(request, catalog),
        *_validate_places("", request, catalog),
    ]
    systems = [*(system.name for system in catalog.systems), *(system.name for system in request.systems)]
    figures = [name for system in systems for name in override_names(system)]
    problems += _validate_residencies(request, catalog)
    problems += assumptions.validate_assumptions(request.assumptions, figures, request.currency)
    problems += existing.validate_existing(request, catalog)
    problems += onprem.validate_owned_systems(request, catalog)
    if any(workload.recovery is not None for workload in request.workloads):
        from planner.supply.recovery import validate_recovery

        problems += validate_recovery(request, catalog)
    problems += validate_form(request)
    ended = cache(lambda name: describe_ended(name, catalog))  # many workloads name few accelerators
    for index, workload in enumerate(request.workloads):
        path = f"workloads[{index}]"
        problems += _validate_places(f"{path}.", workload, catalog)
        problems += _validate_accelerators(path, workload, catalog)
        problems += _validate_rented(path, workload, request, catalog, ended)
        problems += _validate_hours(path, workload, catalog.names)
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

    Unknown names stay as they are: `validate_request` reports them. A region name that several providers share stays
    one name.
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
    """A function from a written name to that of the catalogue; it raises UnknownName."""
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
        return  # the date could not be read, and has a problem of its own
    try:
        catalog.exchange.rate(assumptions.DEFAULTS_CURRENCY, request.currency, request.as_of)
    except MissingExchangeRate as missing:
        expected = (
            f"a currency with a rate, or a rate in --exchange-rates FILE or in {EXCHANGE_RATES_FILE} of the data folder"
        )
        yield InputProblem("currency", "currency", str(missing), request.currency, expected)


def _validate_places(prefix: str, source: Request | Workload, catalog: Catalog) -> Iterator[InputProblem]:
    for field in PLACE_FIELDS:
        name = _name_resolver(field, catalog)
        for index, written in enumerate(getattr(source, field)):
            try:
                name(written)
            except UnknownName as error:
                path, kind = f"{prefix}{field}[{index}]", field.removesuffix("s")
                yield unknown_name(path, written, _known_names(field, catalog), kind=kind, nearest=error.nearest)


def _validate_residencies(request: Request, catalog: Catalog) -> Iterator[InputProblem]:
    """Workloads that must stay where the request allows none: no place is in both, rented or owned."""
    named = resolve_names(request, catalog)
    places = [{region.country, *region.blocs} for region in catalog.regions.values()]
    for index, workload in enumerate(named.workloads):
        both = [set(named.residency), set(workload.residency)]
        if all(any(each & place for place in places) for each in both) and not any(
            both[0] & place and both[1] & place for place in places
        ):
            path = f"workloads[{index}].residency"
            within, asked = ", ".join(named.residency), ", ".join(workload.residency)
            text = f"contradicts the residency of the request: no region is in {within} and in {asked}"
            yield InputProblem(
                path, path, text, asked, f"countries or blocs within {within}, or another residency of all"
            )


def _validate_accelerators(path: str, workload: Workload, catalog: Catalog) -> Iterator[InputProblem]:
    written = [(f"{path}.accelerators[{i}]", name) for i, name in enumerate(workload.accelerators)]
    written += [(f"{path}.measurements[{i}].accelerator", m.accelerator) for i, m in enumerate(workload.measurements)]
    if workload.demand.accelerator:
        written.append((f"{path}.demand.accelerator", workload.demand.accelerator))
    rates = workload.serving.measured if workload.serving is not None else ()
    single = {f"{path}.serving.measured[{i}].accelerator": rate.accelerator for i, rate in enumerate(rates)}
    for at, name in (*written, *single.items()):
        try:
            catalog.names.resolve(name) if at in single else catalog.names.match(name)
        except UnknownName as error:
            if ended := describe_ended(name, catalog):
                yield InputProblem(at, at, ended, name, INSTEAD)
                continue
            hint = "a name from `planner offers` or GET /accelerators"
            yield unknown_name(at, name, kind="accelerator", nearest=error.nearest, hint=hint)


def _validate_rented(
    path: str, workload: Workload, request: Request, catalog: Catalog, ended: Callable[[str], str]
) -> Iterator[InputProblem]:
    """A workload that asks for accelerators of which none is rented any more, nor among the systems that can be owned.
    One that was only measured on such an accelerator is planned on others."""
    if is_tied_to_accelerator(workload):
        written = {f"{path}.demand.accelerator": workload.demand.accelerator or ""}
    else:
        written = {f"{path}.accelerators[{index}]": name for index, name in enumerate(workload.accelerators)}
    answers = {at: ended(name) for at, name in written.items()}
    if not answers or not all(answers.values()):
        return
    try:
        parts = {part.name for name in written.values() for part in catalog.names.match(name)}
        owned = {catalog.names.resolve(system.accelerator).name for system in onprem.list_systems(catalog, request)}
    except UnknownName:
        return  # the unknown name has a problem of its own
    if not parts & owned:
        for at, answer in answers.items():
            yield InputProblem(at, at, answer, written[at], INSTEAD)


def _validate_hours(path: str, workload: Workload, accelerators: AcceleratorNames) -> Iterator[InputProblem]:
    """Accelerator-hours become work by a measurement on the accelerator that they are of."""
    accelerator = workload.demand.accelerator
    if accelerator and workload.measurements and not _is_measured_on(workload, accelerator, accelerators):
        at = f"{path}.measurements"
        text = "the hours cannot be turned into work: no measurement is on the accelerator of the hours"
        yield InputProblem(at, at, text, "", f"a measurement on {accelerator}")


def _is_measured_on(workload: Workload, written: str, accelerators: AcceleratorNames) -> bool:
    try:
        name = accelerators.resolve(written).name
        return any(accelerators.resolve(m.accelerator).name == name for m in workload.measurements)
    except UnknownName:
        return True  # the unknown name has a problem of its own
