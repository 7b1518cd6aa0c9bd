"""Everything about a request that takes the catalogue or the calendar to judge. All faults at once, by JSON path."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator

from planner import assumptions, demand
from planner.errors import Complaint
from planner.owned import own_figures
from planner.request import DEMAND_KINDS, MONTHS_MAX, Request, Workload
from pricing.accelerator import Names
from pricing.catalog import Catalog
from pricing.errors import UnknownName


def check(request: Request, catalog: Catalog) -> tuple[Complaint, ...]:
    """Every fault of names, months and figures that contradict each other; empty when the request can be planned."""
    found = list(_lists("", request.providers, request.regions, request.residency, catalog))
    figures = [name for system in catalog.systems for name in own_figures(system.name)]
    found += assumptions.complaints(request.assumptions, figures)
    names = demand.month_names(request)
    for index, workload in enumerate(request.workloads):
        path = f"workloads[{index}]"
        found += _lists(f"{path}.", workload.providers, workload.regions, workload.residency, catalog)
        found += _accelerators(path, workload, catalog.names)
        found += _months(f"{path}.demand", workload, names)
        found += _contradictions(path, workload, catalog.names)
    return tuple(found)


def _one_of(names: Iterable[str]) -> str:
    listed = ", ".join(names)
    return f"one of {listed}" if listed else "a name from `planner offers` or GET /accelerators"


def _lists(
    prefix: str, providers: tuple[str, ...], regions: tuple[str, ...], residency: tuple[str, ...], catalog: Catalog
) -> Iterator[Complaint]:
    known_regions = {region for _, region in catalog.regions}
    places = {r.country for r in catalog.regions.values()} | {b for r in catalog.regions.values() for b in r.blocs}
    for field, written, known in (
        ("providers", providers, set(catalog.providers)),
        ("regions", regions, known_regions),
        ("residency", residency, places),
    ):
        for index, name in enumerate(written):
            if name not in known:
                path = f"{prefix}{field}[{index}]"
                nearest = difflib.get_close_matches(name, sorted(known), n=3, cutoff=0.5) or sorted(known)[:12]
                yield Complaint(path, path, f"unknown {field.removesuffix('s')}", name, _one_of(nearest))


def _accelerators(path: str, workload: Workload, accelerators: Names) -> Iterator[Complaint]:
    written = [(f"{path}.accelerators[{i}]", name) for i, name in enumerate(workload.accelerators)]
    written += [(f"{path}.measurements[{i}].accelerator", m.accelerator) for i, m in enumerate(workload.measurements)]
    if workload.demand.accelerator:
        written.append((f"{path}.demand.accelerator", workload.demand.accelerator))
    for at, name in written:
        try:
            accelerators.match(name)
        except UnknownName as error:
            yield Complaint(at, at, "unknown accelerator", name, _one_of(error.nearest))


def _months(path: str, workload: Workload, names: tuple[str, ...]) -> Iterator[Complaint]:
    stated = workload.demand
    if stated.deadline_month is not None:
        if demand.deadline(stated, names) is None:
            at = f"{path}.deadline_month"
            expected = f"1 to {len(names)} or {names[0]} to {names[-1]}, or more months (at most {MONTHS_MAX})"
            yield Complaint(at, at, "deadline outside the plan", str(stated.deadline_month), expected)
        return
    try:
        values = demand.monthly_values(stated, names)
    except KeyError as missing:
        at = f"{path}.{next(n for n in DEMAND_KINDS if getattr(stated, n) is not None)}"
        yield Complaint(at, at, f"no value for {missing.args[0]}", "", "a value for every month, or fewer months")
        return
    if not any(values):
        yield Complaint(path, path, "no demand in any month of the plan", "0", "at least one month above 0")


def _contradictions(path: str, workload: Workload, accelerators: Names) -> Iterator[Complaint]:
    stated = workload.demand
    by_hours = stated.accelerator_hours_per_month is not None
    if not by_hours and not workload.measurements:
        at = f"{path}.measurements"
        expected = "a measured throughput on at least one accelerator, or demand in accelerator-hours"
        yield Complaint(at, at, "work without a measured throughput", "", expected)
    if by_hours and workload.measurements and not _measured_on(workload, stated.accelerator or "", accelerators):
        at = f"{path}.measurements"
        text = "the hours cannot be turned into work: no measurement is on the accelerator of the hours"
        yield Complaint(at, at, text, "", f"a measurement on {stated.accelerator}")
    seen: dict[tuple[str, float], int] = {}
    for index, measurement in enumerate(workload.measurements):
        key = (measurement.accelerator.casefold(), measurement.count)
        if seen.setdefault(key, index) != index:
            at = f"{path}.measurements[{index}]"
            text = f"a second measurement on {measurement.count:g} x {measurement.accelerator}"
            yield Complaint(at, at, text, "", "one measurement for each accelerator and count")
    if workload.memory_gib_per_accelerator and workload.memory_gib_total:
        at = f"{path}.memory_gib_total"
        yield Complaint(
            at, at, "two statements of the memory needed", "", "memory_gib_per_accelerator or memory_gib_total"
        )


def _measured_on(workload: Workload, written: str, accelerators: Names) -> bool:
    try:
        wanted = accelerators.resolve(written).name
        return any(accelerators.resolve(m.accelerator).name == wanted for m in workload.measurements)
    except UnknownName:
        return True  # the unknown name has a complaint of its own
