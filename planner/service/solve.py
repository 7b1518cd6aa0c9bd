"""One POST /plan, from the body's bytes to the answer's; runs in a worker process. Knows JSON, not HTTP."""

from __future__ import annotations

import hashlib
import json
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any, NoReturn

from planner.answer import Inputs
from planner.ask import ask
from planner.clock import today
from planner.errors import Complaint, InvalidRequest
from planner.reports import load
from planner.request import Request
from pricing.catalog import Catalog

SETTINGS = {name: item for name, item in Request.model_fields.items() if name not in {"workloads", "assumptions"}}
"""The fields of a request that may stand in the query too; lists are comma-separated there."""


@dataclass(frozen=True, slots=True)
class Solved:
    """The plan in the format asked for."""

    data: bytes
    media_type: str


@dataclass(frozen=True, slots=True)
class Refused:
    """What is wrong with the request; each `path` leads into the body as sent, or is ?name in the query."""

    complaints: tuple[Complaint, ...]
    readable: bool = True


@dataclass(frozen=True, slots=True)
class Failed:
    """A bug, for the log."""

    details: str


def warm_up() -> None:
    """Open the catalogue, so that the first plan of a worker need not."""
    Catalog.embedded().quotes()


def solve(body: bytes, query: Mapping[str, Sequence[str]], format_name: str) -> Solved | Refused | Failed:
    """The plan for `body`: a request, a workload or a list of workloads. `query` wins over the body."""
    try:
        return _solve(body, query, format_name)
    except InvalidRequest as error:
        return Refused(error.complaints)
    except Exception:  # noqa: BLE001  (a worker answers whatever happens; the door makes it a 500 with an id)
        return Failed(traceback.format_exc())


def _solve(body: bytes, query: Mapping[str, Sequence[str]], format_name: str) -> Solved | Refused:
    try:
        value = json.loads(body, object_pairs_hook=_unique, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        fault = Complaint(
            "", "body", str(error) or "nested too deeply", "", "a JSON request, workload or list of workloads"
        )
        return Refused((fault,), readable=False)
    document, prefix = _document(value)
    settings, faults = _settings(query)
    places = {name: f"?{name}" for name in settings}
    try:
        plan = ask(
            {"as_of": today().isoformat(), **document, **settings},
            Catalog.embedded(),
            inputs=Inputs("request", "json", hashlib.sha256(body).hexdigest()),
            complaints=faults,
            places=places,
        )
    except InvalidRequest as error:
        return Refused(tuple(_as_sent(complaint, prefix) for complaint in error.complaints))
    report = load(format_name)
    return Solved(report.render(plan), report.MEDIA_TYPE)


def _document(value: object) -> tuple[dict[str, Any], str]:
    """The request in what was sent, and what its JSON paths start with that the sender did not write."""
    if isinstance(value, list):
        return {"workloads": value}, "workloads"
    if not isinstance(value, dict):
        fault = Complaint("", "body", "neither an object nor a list", json.dumps(value)[:80], "a request or a workload")
        raise InvalidRequest((fault,))
    if "workloads" in value or not {"demand", "name"} & value.keys():
        return value, ""
    return {"workloads": [value]}, "workloads[0]"


def _as_sent(complaint: Complaint, prefix: str) -> Complaint:
    path = complaint.place if complaint.place.startswith("?") else complaint.path.removeprefix(prefix).lstrip(".")
    return replace(complaint, path=path, place=path)


def _settings(query: Mapping[str, Sequence[str]]) -> tuple[dict[str, Any], list[Complaint]]:
    settings: dict[str, Any] = {}
    faults = []
    for name, texts in query.items():
        if name not in SETTINGS:
            nearest = get_close_matches(name, SETTINGS, 1)
            expected = f"one of {', '.join(SETTINGS)}" + (f"; nearest: {nearest[0]}" if nearest else "")
            faults.append(Complaint("", f"?{name}", "unknown parameter", name, expected))
        elif isinstance(SETTINGS[name].default, tuple):
            settings[name] = [part.strip() for text in texts for part in text.split(",") if part.strip()]
        else:
            settings[name] = texts[-1]
    return settings, faults


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for name, value in pairs:
        if name in result:
            raise ValueError(f"the key {name!r} stands twice in one object")
        result[name] = value
    return result


def _no_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is no JSON number")
