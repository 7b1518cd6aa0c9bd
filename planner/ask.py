"""A document that somebody wrote -> a plan: the one path behind every door.

Joins form, names and planning, and gives every complaint its place; knows neither terminals nor HTTP.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import Any

from pydantic import ValidationError

from planner.answer import Inputs, Plan
from planner.check import check
from planner.errors import Complaint, InvalidRequest
from planner.plan import plan
from planner.request import Request, Workload, locate, parse
from pricing.catalog import Catalog

STAND_IN = {"name": "-", "demand": {"units_per_month": 1}}


def ask(
    document: Mapping[str, Any],
    catalog: Catalog,
    *,
    inputs: Inputs | None = None,
    complaints: Sequence[Complaint] = (),
    places: Mapping[str, str] | None = None,
) -> Plan:
    """The plan for `document`, or InvalidRequest with every fault of form and of name, each with its place.

    `complaints` were found while reading; `places` maps JSON paths to what the asker sees.
    """
    places = places or {}
    try:
        request = parse(document, complaints, places)
    except InvalidRequest as error:
        raise InvalidRequest(
            error.complaints + _located(_of_names(document, error.complaints, catalog), places)
        ) from None
    try:
        return plan(request, catalog, inputs or Inputs("", "", ""))
    except InvalidRequest as error:
        raise InvalidRequest(_located(error.complaints, places)) from None


def _located(complaints: Iterable[Complaint], places: Mapping[str, str]) -> tuple[Complaint, ...]:
    """The complaints with the asker's places instead of bare paths."""
    return tuple(c if c.place not in ("", c.path) else replace(c, place=locate(c.path, places)) for c in complaints)


def _of_names(document: Mapping[str, Any], told: Sequence[Complaint], catalog: Catalog) -> list[Complaint]:
    """Unknown names in a document whose form is faulty too, so that one answer tells both.

    Only what is well-formed is looked at; a complaint that has no value may be owed to what was left out.
    """
    faulty = {complaint.path for complaint in told}
    settings = {
        name: value
        for name, value in document.items()
        if name in Request.model_fields.keys() - {"workloads"} and not _touches(name, faulty)
    }
    base = Request.model_validate({"as_of": date.min, **settings, "workloads": [STAND_IN]})
    given = document.get("workloads")
    items = given if isinstance(given, list | tuple) else ()
    workloads = tuple(_sound_part(item, f"workloads[{index}]", faulty) for index, item in enumerate(items))
    found = check(base.model_copy(update={"workloads": workloads}), catalog)
    return [complaint for complaint in found if complaint.value and complaint.path not in faulty]


def _sound_part(item: object, path: str, faulty: set[str]) -> Workload:
    """The workload without its faulty fields, so that it keeps its index; a stand-in where nothing can be kept."""
    fields = item if isinstance(item, Mapping) else {}
    sound = {
        name: value
        for name, value in fields.items()
        if name in Workload.model_fields and not _touches(f"{path}.{name}", faulty)
    }
    try:
        return Workload.model_validate({**STAND_IN, **sound})
    except ValidationError:
        return Workload.model_validate(STAND_IN)


def _touches(path: str, faulty: set[str]) -> bool:
    return any(fault == path or fault.startswith((f"{path}.", f"{path}[")) for fault in faulty)
