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

from planner.check import restated
from planner.clock import today
from planner.diff import changes
from planner.errors import Complaint, InvalidRequest
from planner.intake import Read, json
from planner.received import Onward, choices_of, plan_of, read_sent, unfitting
from planner.reports import formats, load, terraform
from planner.reports.json import loads
from planner.request import Request
from planner.service.sent import Sent
from pricing.catalog import Catalog
from pricing.errors import BadSnapshot
from pricing.view import faults_of_card


def _is_text(kind: Any) -> bool:
    """Whether a value of this type can be written as a text, or as several: no mapping, and nothing with fields."""
    whole = get_origin(kind) or kind
    return not (isinstance(whole, type) and issubclass(whole, BaseModel | dict)) and all(map(_is_text, get_args(kind)))


SETTINGS = {name: item for name, item in Request.model_fields.items() if _is_text(item.annotation)}
"""The fields of a request that may stand in the query too; lists are comma-separated there."""
MAP = "map"
OF_FILES: Mapping[str, str] = {
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
SINCE = "plan_id of an answer before, one of the last that the service keeps: `changes` then tells what changed since"
YES_OR_NO = {"true": True, "false": False}


@dataclass(frozen=True, slots=True)
class Solved:
    """The plan in the format asked for, and what to keep of it: its id and itself as compressed JSON."""

    data: bytes
    media_type: str
    plan_id: str = ""
    kept: bytes = b""


@dataclass(frozen=True, slots=True)
class Refused:
    """What is wrong with the request; each `path` leads into the body as sent, or is ?name in the query."""

    complaints: tuple[Complaint, ...]
    readable: bool = True


@dataclass(frozen=True, slots=True)
class Failed:
    """A bug, for the log."""

    details: str


@dataclass(frozen=True, slots=True)
class NoPrices:
    """The catalogue cannot be read: what is wrong with which of its files."""

    faults: tuple[str, ...]


def warm_up() -> None:
    """Read the whole catalogue, so that no plan of a worker need; one that cannot be read is told by `solve`."""
    with suppress(BadSnapshot):
        catalog = Catalog.current()
        for offering in catalog.priced:
            catalog.of_type(offering)


def solve(
    sent: Sent, query: Mapping[str, Sequence[str]], format_name: str, last: bytes | None = None
) -> Solved | Refused | NoPrices | Failed:
    """The plan for what was sent: a request, a workload or a list of workloads, or a file. `query` wins over it.

    `last` is a plan that `solve` gave to keep, to tell what changed since.
    """
    try:
        return _solve(sent, query, format_name, last)
    except InvalidRequest as error:
        return Refused(error.complaints)
    except BadSnapshot as bad:
        return NoPrices(bad.faults)
    except Exception:  # noqa: BLE001  (a worker answers whatever happens; the door makes it a 500 with an id)
        return Failed(traceback.format_exc())


def _solve(sent: Sent, query: Mapping[str, Sequence[str]], format_name: str, last: bytes | None) -> Solved | Refused:
    if not sent.is_file and _is_unreadable(as_json := json.read(sent.data, sent.name)):
        return Refused(as_json.complaints, readable=False)
    catalog = Catalog.current()
    if wrong := faults_of_card(catalog):
        raise BadSnapshot(wrong)  # the card is the service's own: no fault of who asks
    settings, faults = _settings(query)
    choices, unfit = choices_of(query.get(MAP, ()), _last(query, "dates"), _place, catalog)
    onward, unclear = _onward(query)
    faults += [*unfit, *unclear]
    if sent.is_file:
        source, unfit = read_sent(sent.data, sent.name, catalog, choices, onward, _place)
    else:
        source, unfit = as_json, unfitting(as_json, choices, onward, _place)
    faults += [*unfit, *restated(source.document, settings, _place("currency"))]
    document = {"as_of": today().isoformat(), **source.document, **settings}
    try:
        plan = plan_of(source, document, catalog, faults, {name: _place(name) for name in settings})
    except InvalidRequest as error:
        as_sent = _in_file if sent.is_file else partial(_in_json, _wrapping(sent.data, source))
        return Refused(tuple(as_sent(complaint) for complaint in error.complaints))
    if last is not None:
        plan = replace(plan, changes=changes(loads(zlib.decompress(last)), plan))
    report = load(format_name)
    data = report.render(plan)
    whole = data if format_name == "json" else load("json").render(plan)
    return Solved(data, report.MEDIA_TYPE, plan.plan_id, zlib.compress(whole, 1))


def provision(kept: bytes, strategy: str | None, nodes: str) -> Solved | Refused | Failed:
    """The Terraform of a plan that `solve` gave to keep, zipped."""
    try:
        plan = loads(zlib.decompress(kept))
        if faults := terraform.wrong(plan, strategy, nodes):
            return Refused(tuple(replace(fault, path=f"?{fault.path}", place=f"?{fault.path}") for fault in faults))
        return Solved(terraform.archived(terraform.files(plan, strategy, nodes)), terraform.MEDIA_TYPE)
    except Exception:  # noqa: BLE001  (as in `solve`)
        return Failed(traceback.format_exc())


def _is_unreadable(source: Read) -> bool:
    return bool(source.complaints) and not source.places


def _wrapping(body: bytes, source: Read) -> str:
    """What the paths in the request start with that the sender of one workload, or of a list of them, did not write."""
    if body.lstrip()[:1] == b"[":
        return "workloads"
    return "workloads[0]" if "workloads" in source.document and "workloads" not in source.places else ""


def _in_json(wrapping: str, complaint: Complaint) -> Complaint:
    path = complaint.place if complaint.place.startswith("?") else complaint.path.removeprefix(wrapping).lstrip(".")
    return replace(complaint, path=path or complaint.place, place=path or complaint.place)


def _in_file(complaint: Complaint) -> Complaint:
    """Where the sender sees it: the sheet and the cell, the line, or the parameter (an option's name on a command)."""
    place = complaint.place or complaint.path
    place = _place(place.removeprefix("--")) if place.startswith("--") else place
    return replace(complaint, path=place, place=place)


def _place(name: str) -> str:
    return f"?{name}"


def _last(query: Mapping[str, Sequence[str]], name: str) -> str | None:
    return query[name][-1] if query.get(name) else None


def _onward(query: Mapping[str, Sequence[str]]) -> tuple[Onward, list[Complaint]]:
    """How a bill is to be carried on."""
    substitution, faults = _last(query, "substitution") or "false", list[Complaint]()
    if substitution not in YES_OR_NO:
        faults.append(Complaint("", _place("substitution"), "not valid", substitution, "true or false"))
    return Onward(_last(query, "growth"), _last(query, "tag"), YES_OR_NO.get(substitution, False)), faults


def _is_list(name: str) -> bool:
    return name == MAP or (name in SETTINGS and isinstance(SETTINGS[name].default, tuple))


def _settings(query: Mapping[str, Sequence[str]]) -> tuple[dict[str, Any], list[Complaint]]:
    settings: dict[str, Any] = {}
    faults = []
    known = (*SETTINGS, *OF_FILES, COMPARE_TO, FORMAT)
    for name, texts in query.items():
        if len(texts) > 1 and not _is_list(name):
            faults.append(Complaint("", _place(name), "said more than once", ", ".join(texts), "one value"))
            continue
        if name in OF_FILES:
            continue
        if name == FORMAT:
            faults.append(Complaint("", _place(name), "unknown format", texts[-1], f"one of {', '.join(formats())}"))
            continue
        if name not in SETTINGS:
            nearest = get_close_matches(name, known, 1)
            expected = f"one of {', '.join(known)}" + (f"; nearest: {nearest[0]}" if nearest else "")
            faults.append(Complaint("", _place(name), "unknown parameter", name, expected))
        elif _is_list(name):
            settings[name] = [part.strip() for text in texts for part in text.split(",") if part.strip()]
        else:
            settings[name] = texts[-1]
    return settings, faults
