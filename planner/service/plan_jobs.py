"""One POST /plan, from the bytes that were sent to the answer's; runs in a worker process. Knows no HTTP."""

from __future__ import annotations

import traceback
import zlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import partial
from typing import Any, get_args, get_origin

from pydantic import BaseModel

from planner.application import (
    BillForecastOptions,
    find_inapplicable_options,
    parse_column_choices,
    plan_input,
    read_document,
    with_changes,
)
from planner.inputs.formats import json
from planner.inputs.parsed_file import ParsedFile
from planner.reports import formats, load, terraform
from planner.reports.json import loads
from planner.request.errors import InputProblem, InvalidRequest
from planner.request.models import Request
from planner.request.validation import validate_currency_override
from planner.service.uploads import Upload
from pricing.catalog.adjusted_prices import check_rate_card
from pricing.catalog.price_catalog import Catalog
from pricing.clock import today
from pricing.errors import InvalidSnapshot


def _is_text(kind: Any) -> bool:
    """Whether a value of this type can be written as a text, or as several: no mapping, and nothing with fields."""
    whole = get_origin(kind) or kind
    return not (isinstance(whole, type) and issubclass(whole, BaseModel | dict)) and all(map(_is_text, get_args(kind)))


SETTINGS = {name: item for name, item in Request.model_fields.items() if _is_text(item.annotation)}
"""The fields of a request that may stand in the query too; lists are comma-separated there."""
MAP = "map"
FILE_PARAMETERS: Mapping[str, str] = {
    "name": "name of the file; its suffix tells the format. Wins over the Content-Disposition header",
    MAP: "of a sheet: what a column is, as Title=field; may be repeated",
    "dates": "of a sheet: the order in dates such as 3/4/2027, dmy or mdy",
    "growth": "of a bill: growth of its hours each month, as 0.03 or 3%",
    "tag": "of a bill: the tag that tells its workloads apart",
    "substitution": "of a bill: true lets other accelerators do its work",
}
"""What the query may say of a file."""
COMPARE_TO, FORMAT = "compare_to", "format"
"""What the query may say of the answer."""
COMPARE_TO_HELP = (
    "plan_id of an answer before, one of the last that the service keeps: `changes` then tells what changed since"
)
YES_OR_NO = {"true": True, "false": False}


@dataclass(frozen=True, slots=True)
class RenderedPlan:
    """The plan in the format asked for, and what to keep of it: its id and itself as compressed JSON."""

    data: bytes
    media_type: str
    plan_id: str = ""
    kept: bytes = b""


@dataclass(frozen=True, slots=True)
class RejectedRequest:
    """What is wrong with the request; each `path` leads into the body as sent, or is ?name in the query."""

    complaints: tuple[InputProblem, ...]
    readable: bool = True


@dataclass(frozen=True, slots=True)
class CrashedJob:
    """A bug, for the log."""

    details: str


@dataclass(frozen=True, slots=True)
class UnreadablePrices:
    """The catalogue cannot be read: what is wrong with which of its files."""

    faults: tuple[str, ...]


def warm_up() -> None:
    """Read the whole catalogue, so that no plan of a worker need; one that cannot be read is told by `solve`."""
    with suppress(InvalidSnapshot):
        catalog = Catalog.current()
        for offering in catalog.priced:
            catalog.of_type(offering)


def run_plan_job(
    upload: Upload, query: Mapping[str, Sequence[str]], format_name: str, last: bytes | None = None
) -> RenderedPlan | RejectedRequest | UnreadablePrices | CrashedJob:
    """The plan for what was sent: a request, a workload or a list of workloads, or a file. `query` wins over it.

    `last` is a plan that `solve` gave to keep, to tell what changed since.
    """
    try:
        return _plan_upload(upload, query, format_name, last)
    except InvalidRequest as error:
        return RejectedRequest(error.complaints)
    except InvalidSnapshot as bad:
        return UnreadablePrices(bad.faults)
    except Exception:  # noqa: BLE001  (a worker answers whatever happens; the door makes it a 500 with an id)
        return CrashedJob(traceback.format_exc())


def _plan_upload(
    upload: Upload, query: Mapping[str, Sequence[str]], format_name: str, last: bytes | None
) -> RenderedPlan | RejectedRequest:
    if not upload.is_file and _is_unreadable(as_json := json.read(upload.data, upload.name)):
        return RejectedRequest(as_json.complaints, readable=False)
    catalog = Catalog.current()
    if wrong := check_rate_card(catalog):
        raise InvalidSnapshot(wrong)  # the card is the service's own: no fault of who asks
    settings, faults = _parse_settings(query)
    choices, unfit = parse_column_choices(query.get(MAP, ()), _last_value(query, "dates"), _query_place, catalog)
    onward, unclear = _parse_bill_options(query)
    faults += [*unfit, *unclear]
    if upload.is_file:
        source, unfit = read_document(upload.data, upload.name, catalog, choices, onward, _query_place)
    else:
        source, unfit = as_json, find_inapplicable_options(as_json, choices, onward, _query_place)
    faults += [*unfit, *validate_currency_override(source.document, settings, _query_place("currency"))]
    document = {"as_of": today().isoformat(), **source.document, **settings}
    try:
        plan = plan_input(source, document, catalog, faults, {name: _query_place(name) for name in settings})
    except InvalidRequest as error:
        as_sent = _locate_in_file if upload.is_file else partial(_locate_in_json, _wrapping_path(upload.data, source))
        return RejectedRequest(tuple(as_sent(complaint) for complaint in error.complaints))
    if last is not None:
        plan = with_changes(plan, loads(zlib.decompress(last)))
    report = load(format_name)
    data = report.render(plan)
    whole = data if format_name == "json" else load("json").render(plan)
    return RenderedPlan(data, report.MEDIA_TYPE, plan.plan_id, zlib.compress(whole, 1))


def run_terraform_job(document: bytes, strategy: str | None, nodes: str) -> RenderedPlan | RejectedRequest | CrashedJob:
    """The Terraform of a plan that `solve` gave to keep, zipped."""
    try:
        plan = loads(zlib.decompress(document))
        if faults := terraform.find_option_problems(plan, strategy, nodes):
            return RejectedRequest(
                tuple(replace(fault, path=f"?{fault.path}", place=f"?{fault.path}") for fault in faults)
            )
        return RenderedPlan(terraform.zip_files(terraform.files(plan, strategy, nodes)), terraform.MEDIA_TYPE)
    except Exception:  # noqa: BLE001  (as in `solve`)
        return CrashedJob(traceback.format_exc())


def _is_unreadable(source: ParsedFile) -> bool:
    return bool(source.complaints) and not source.places


def _wrapping_path(body: bytes, source: ParsedFile) -> str:
    """What the paths in the request start with that the sender of one workload, or of a list of them, did not write."""
    if body.lstrip()[:1] == b"[":
        return "workloads"
    return "workloads[0]" if "workloads" in source.document and "workloads" not in source.places else ""


def _locate_in_json(wrapping: str, complaint: InputProblem) -> InputProblem:
    path = complaint.place if complaint.place.startswith("?") else complaint.path.removeprefix(wrapping).lstrip(".")
    return replace(complaint, path=path or complaint.place, place=path or complaint.place)


def _locate_in_file(complaint: InputProblem) -> InputProblem:
    """Where the sender sees it: the sheet and the cell, the line, or the parameter (an option's name on a command)."""
    place = complaint.place or complaint.path
    place = _query_place(place.removeprefix("--")) if place.startswith("--") else place
    return replace(complaint, path=place, place=place)


def _query_place(name: str) -> str:
    return f"?{name}"


def _last_value(query: Mapping[str, Sequence[str]], name: str) -> str | None:
    return query[name][-1] if query.get(name) else None


def _parse_bill_options(query: Mapping[str, Sequence[str]]) -> tuple[BillForecastOptions, list[InputProblem]]:
    """How a bill is to be carried on."""
    substitution, faults = _last_value(query, "substitution") or "false", list[InputProblem]()
    if substitution not in YES_OR_NO:
        faults.append(InputProblem("", _query_place("substitution"), "not valid", substitution, "true or false"))
    return BillForecastOptions(
        _last_value(query, "growth"), _last_value(query, "tag"), YES_OR_NO.get(substitution, False)
    ), faults


def _is_list(name: str) -> bool:
    return name == MAP or (name in SETTINGS and isinstance(SETTINGS[name].default, tuple))


def _parse_settings(query: Mapping[str, Sequence[str]]) -> tuple[dict[str, Any], list[InputProblem]]:
    settings: dict[str, Any] = {}
    faults = []
    known = (*SETTINGS, *FILE_PARAMETERS, COMPARE_TO, FORMAT)
    for name, texts in query.items():
        if len(texts) > 1 and not _is_list(name):
            faults.append(InputProblem("", _query_place(name), "said more than once", ", ".join(texts), "one value"))
            continue
        if name in FILE_PARAMETERS:
            continue
        if name == FORMAT:
            faults.append(
                InputProblem("", _query_place(name), "unknown format", texts[-1], f"one of {', '.join(formats())}")
            )
            continue
        if name not in SETTINGS:
            nearest = get_close_matches(name, known, 1)
            expected = f"one of {', '.join(known)}" + (f"; nearest: {nearest[0]}" if nearest else "")
            faults.append(InputProblem("", _query_place(name), "unknown parameter", name, expected))
        elif _is_list(name):
            settings[name] = [part.strip() for text in texts for part in text.split(",") if part.strip()]
        else:
            settings[name] = texts[-1]
    return settings, faults
