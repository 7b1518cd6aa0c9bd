"""Parameters of a request: settings of the query, and the format of the answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fastapi import Request

from planner.reports import formats
from planner.request.errors import InputProblem, InvalidRequest
from planner.service import openapi_schemas, problems
from planner.service.cell_parameters import merge_cells
from planner.service.plan_jobs import ANSWER, ASSUMPTION, FORMAT
from planner.service.problems import ProblemResponseError

DEFAULT = "json"
KEY_MAX = 200


def query_lists(request: Request) -> dict[str, list[str]]:
    """Every parameter of the query with all its values."""
    return {name: request.query_params.getlist(name) for name in request.query_params}


def merge_queries(asked: Mapping[str, list[str]], settings: Mapping[str, list[str]]) -> dict[str, list[str]]:
    """The parameters of an earlier question with others over them; those of the form name=value name by name."""
    merged = merge_cells(asked, settings)
    for parameter in (ANSWER, ASSUMPTION):
        texts = [*asked.get(parameter, ()), *settings.get(parameter, ())]
        # an answer's id may have an equals sign, its choice has none; a value of an assumption has none either
        by_name = {text.rpartition("=")[0]: text for text in texts}
        if by_name:
            merged[parameter] = list(by_name.values())
    return merged


def negotiate_format(query: dict[str, list[str]], accept: str) -> str:
    """The report format of ?format=, which is removed from the query, or of the Accept header.

    An unknown format stays in the query, to be reported with the other problems of the request.
    """
    if query.get(FORMAT):
        (format_name, *others) = query[FORMAT]
        return query.pop(FORMAT)[0] if format_name in formats() and not others else DEFAULT
    by_media_type = openapi_schemas.media_types()
    for media_range in _by_preference(accept):
        kind, _, sub = media_range.partition("/")
        for media_type, name in by_media_type.items():
            if media_range in ("*/*", media_type) or (sub == "*" and media_type.startswith(f"{kind}/")):
                return name
    detail = f"Available media types: {', '.join(by_media_type)}."
    raise ProblemResponseError(problems.problem_response(406, "not-acceptable", "No such report", detail))


def _by_preference(accept: str) -> list[str]:
    """The media ranges of an Accept header, the most preferred first; those of quality 0 are left out."""
    ranges = []
    for part in accept.split(","):
        media_range, *parameters = (piece.strip().lower() for piece in part.split(";"))
        quality = next((p.removeprefix("q=") for p in parameters if p.startswith("q=")), "1")
        try:
            ranges.append((float(quality), media_range))
        except ValueError:
            continue
    return [media_range for quality, media_range in sorted(ranges, key=lambda item: -item[0]) if quality > 0]


def refuse_unknown(query: Mapping[str, Sequence[str]], known: Sequence[str]) -> None:
    """InvalidRequest with every parameter that is not known."""
    faults = [
        InputProblem(f"?{name}", f"?{name}", "unknown parameter", name, f"one of {', '.join(known)}")
        for name in query
        if name not in known
    ]
    if faults:
        raise InvalidRequest(tuple(faults))


def read_idempotency_key(request: Request) -> str:
    """The Idempotency-Key header; empty if there is none. InvalidRequest if it is too long."""
    key = request.headers.get("idempotency-key", "").strip()
    if len(key) > KEY_MAX:
        place = "Idempotency-Key"
        raise InvalidRequest((InputProblem("", place, "too long", key[:KEY_MAX], f"at most {KEY_MAX} characters"),))
    return key


def preferred_wait(request: Request) -> float | None:
    """The seconds of `Prefer: wait=` (RFC 7240); None if the client does not want to wait."""
    for header in request.headers.getlist("prefer"):
        for preference in header.split(","):
            name, _, value = preference.partition(";")[0].partition("=")
            if name.strip().lower() == "wait" and value.strip().strip('"').isdecimal():
                return float(value.strip().strip('"'))
    return None
