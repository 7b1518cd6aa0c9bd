"""The jobs of worker processes: from the bytes of a request to the bytes of its answer, without HTTP."""

from __future__ import annotations

import gzip
import hashlib
import json
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
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
)
from planner.application.shared_tasks import TaskRunner, share_tasks
from planner.inputs.answers_file import answers_text, parse_answers
from planner.inputs.formats import json as json_format
from planner.inputs.merged_settings import merge_settings
from planner.inputs.parsed_file import ParsedFile
from planner.inputs.sheet_options import NO_SHEET_OPTIONS, SheetOptions
from planner.optimization.search_progress import SearchProgress, follow_search
from planner.reports import formats, load, terraform
from planner.reports.json import loads
from planner.request.doubts import Doubt
from planner.request.errors import InputProblem, InvalidRequest
from planner.request.models import Request
from planner.service.cell_parameters import CELL, CELL_PARAMETERS, EDITED, parse_cells, parse_edit_days
from planner.service.store.jobs import JobProgress, NewJob
from planner.service.uploads import ANSWERS, Upload
from pricing.catalog.adjusted_prices import check_rate_card, select_for_plan
from pricing.catalog.catalogue_digest import digest_catalogue
from pricing.catalog.price_catalog import Catalog
from pricing.errors import InvalidPlugin, InvalidSnapshot
from pricing.frozen_values import dataclass


def _is_text(kind: Any) -> bool:
    """Whether a value of this type can be written as one or several texts: no mapping and no model."""
    container = get_origin(kind) or kind
    return not (isinstance(container, type) and issubclass(container, BaseModel | dict)) and all(
        map(_is_text, get_args(kind))
    )


SETTINGS = {name: item for name, item in Request.model_fields.items() if _is_text(item.annotation)}
"""The fields of a request that the query may set too; lists are comma-separated there."""
MAP, SHEET, ANSWER, ACCEPT = "map", "sheet", "answer", "accept_proposals"
ASSUMPTION = "assumption"
FILE_PARAMETERS: Mapping[str, str] = {
    "name": "name of the file, whose suffix gives its format; overrides the Content-Disposition header",
    MAP: "for a sheet: the meaning of a column, as Title=field; may be repeated",
    SHEET: "for a workbook: the only sheet to read; may be repeated",
    ANSWER: "for a sheet: the answer to a question about it, as id=choice; may be repeated",
    **CELL_PARAMETERS,
    ACCEPT: "for a sheet: true plans with the proposed reading of everything in doubt",
    "dates": "for a sheet: the order of dates such as 3/4/2027, dmy or mdy",
    "growth": "for a bill: monthly growth of its hours, as 0.03 or 3%",
    "tag": "for a bill: the tag whose values name the workloads",
    "substitution": "for a bill: true allows other accelerators for its workloads",
}
"""Query parameters for a file."""
ASSUMPTION_HELP = "an assumption over that of the body, as name=value; may be repeated"
COMPARE_TO, FORMAT = "compare_to", "format"
"""Query parameters for the answer."""
COMPARE_TO_HELP = "plan_id of an earlier plan: `changes` then lists the changes since"
YES_OR_NO = {"true": True, "false": False}


@dataclass(frozen=True, slots=True)
class RenderedPlan:
    """A plan as JSON in gzip, with the digest of the JSON; and in the format asked for, in gzip, unless that is JSON.
    `cut_by_clock`: on another day, it may come out better."""

    plan_id: str
    digest: str
    compressed_plan: bytes
    media_type: str
    catalogue_digest: str
    report: bytes = b""
    cut_by_clock: bool = False
    gap: float | None = None
    """The largest gap to the bound among its strategies; None where none is known."""


@dataclass(frozen=True, slots=True)
class RenderedFiles:
    """Files made from a stored plan."""

    data: bytes
    media_type: str


@dataclass(frozen=True, slots=True)
class RejectedRequest:
    """The problems of the request; each `path` is a place in the body as sent, or ?name in the query. `doubts` are
    those that an answer settles, `answers` the answers file with their proposals. `is_editable`: ?cell= mends cells."""

    complaints: tuple[InputProblem, ...]
    readable: bool = True
    doubts: tuple[Doubt, ...] = ()
    answers: str = ""
    is_editable: bool = False


@dataclass(frozen=True, slots=True)
class CrashedJob:
    """The traceback of an internal error, for the log."""

    details: str


@dataclass(frozen=True, slots=True)
class UnreadablePrices:
    """The problems of a catalogue that cannot be read, with its files."""

    faults: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FailedPlugin:
    """Why a plug-in of this installation cannot be used, with its name."""

    reason: str


JobAnswer = RenderedPlan | RejectedRequest | UnreadablePrices | FailedPlugin | CrashedJob
FilesAnswer = RenderedFiles | RejectedRequest | FailedPlugin | CrashedJob


def warm_up() -> None:
    """Read the whole catalogue before the first plan; `run_plan_job` reports one that cannot be read."""
    with suppress(InvalidSnapshot, InvalidPlugin):
        catalog = select_for_plan(Catalog.current(), ())
        for offering in catalog.priced:
            catalog.of_type(offering)


def compress(data: bytes) -> bytes:
    """In gzip; equal data give equal bytes."""
    return gzip.compress(data, 1, mtime=0)


def run_stored_job(
    question: NewJob, last: bytes | None, seconds: float, runner: TaskRunner, report: Callable[[JobProgress], None]
) -> JobAnswer:
    """The plan for a question of the queue; `last` is the compressed plan to compare it with. The search is cut off
    after so many seconds. `runner` has plans made again."""
    report(JobProgress("reading"))
    upload = Upload(
        gzip.decompress(question.body), question.file_name, question.is_file, gzip.decompress(question.answers)
    )

    def tell(progress: SearchProgress) -> None:
        report(JobProgress(progress.words, progress.best, progress.bound))

    with follow_search(tell, seconds) as clock, share_tasks(runner):
        answer = run_plan_job(upload, json.loads(question.query), question.format, last)
    if clock.has_cut and isinstance(answer, RenderedPlan):
        return replace(answer, cut_by_clock=True)  # whatever was cut: another day may find better
    return answer


def run_plan_job(
    upload: Upload, query: Mapping[str, Sequence[str]], format_name: str, last: bytes | None = None
) -> JobAnswer:
    """The plan for an upload: a request, a workload, a list of workloads, or a file. `query` overrides it.

    `last` is a `compressed_plan` of an earlier answer, to list the changes since.
    """
    try:
        return _plan_upload(upload, query, format_name, last)
    except InvalidRequest as error:
        return RejectedRequest(error.complaints)
    except InvalidSnapshot as bad:
        return UnreadablePrices(bad.faults)
    except InvalidPlugin as bad:
        return FailedPlugin(str(bad))
    except Exception:  # noqa: BLE001  (a worker always answers; the route makes it a 500 with an id)
        return CrashedJob(traceback.format_exc())


def _plan_upload(
    upload: Upload, query: Mapping[str, Sequence[str]], format_name: str, last: bytes | None
) -> RenderedPlan | RejectedRequest:
    answered, misread = _parse_answers(query, upload.answers)
    if not upload.is_file and _is_unreadable(as_json := json_format.read(upload.data, upload.name, answered)):
        return RejectedRequest(as_json.complaints, readable=False)
    catalog = Catalog.current()
    if wrong := check_rate_card(catalog):
        raise InvalidSnapshot(wrong)  # the rate card belongs to the service: not a problem of the request
    settings, faults = _parse_settings(query)
    maps, dates = query.get(MAP, ()), _last_value(query, "dates")
    choices, unfit = parse_column_choices(maps, dates, _query_place, catalog, base=answered)
    bill_options, unclear = _parse_bill_options(query)
    accepts, undecided = _parse_flag(query, ACCEPT)
    faults += [*misread, *unfit, *unclear, *undecided]
    if upload.is_file:
        choices = choices.under_settings(settings)
        source, unfit = read_document(upload.data, upload.name, catalog, choices, bill_options, _query_place)
    else:
        source, unfit = as_json, find_inapplicable_options(as_json, choices, bill_options, _query_place)
    document, conflicts = merge_settings(source.document, settings, _query_place, source)
    places = {name: _query_place(ASSUMPTION if name == "assumptions" else name) for name in settings}
    last_review = None if last is None else loads(gzip.decompress(last))
    try:
        problems = [*faults, *unfit, *conflicts]
        plan = plan_input(
            source, document, catalog, problems, places, last_review=last_review, accepts_proposals=accepts
        )
    except InvalidRequest as error:
        as_sent = _locate_in_file if upload.is_file else partial(_locate_in_json, _wrapping_path(upload.data, source))
        answers = answers_text(source.inputs.name, source.doubts, source.complaints) if error.doubts else ""
        located = tuple(as_sent(complaint) for complaint in error.complaints)
        return RejectedRequest(located, doubts=error.doubts, answers=answers, is_editable=source.inputs.is_editable)
    form = load(format_name)
    whole = load("json").render(plan)
    report = b"" if format_name == "json" else compress(form.render(plan))
    gaps = [strategy.gap_fraction for strategy in plan.strategies if strategy.gap_fraction is not None]
    digest = hashlib.sha256(whole).hexdigest()
    return RenderedPlan(
        plan.plan_id,
        digest,
        compress(whole),
        form.MEDIA_TYPE,
        digest_catalogue(catalog),
        report,
        plan.is_cut_by_clock,
        max(gaps, default=None),
    )


def run_report_job(compressed: bytes, format_name: str) -> FilesAnswer:
    """A `compressed_plan` in another format."""
    try:
        form = load(format_name)
        return RenderedFiles(form.render(loads(gzip.decompress(compressed))), form.MEDIA_TYPE)
    except InvalidPlugin as bad:
        return FailedPlugin(str(bad))
    except Exception:  # noqa: BLE001  (as in `run_plan_job`)
        return CrashedJob(traceback.format_exc())


def run_terraform_job(compressed: bytes, strategy: str | None, nodes: str, provider: str | None = None) -> FilesAnswer:
    """The Terraform of a `compressed_plan`, zipped: of every provider, or of one, with what belongs to all."""
    try:
        plan = loads(gzip.decompress(compressed))
        if faults := terraform.find_option_problems(plan, strategy, nodes):
            return RejectedRequest(
                tuple(replace(fault, path=f"?{fault.path}", place=f"?{fault.path}") for fault in faults)
            )
        written = terraform.files(plan, strategy, nodes)
        folders = {path.partition("/")[0] for path in written if "/" in path}
        if provider is not None and provider not in folders:
            expected = f"one of {', '.join(sorted(folders))}" if folders else "a plan that provisions something"
            return RejectedRequest(
                (InputProblem("?provider", "?provider", "nothing is provisioned there", provider, expected),)
            )
        kept = {
            path: content for path, content in written.items() if path.partition("/")[0] not in folders - {provider}
        }
        return RenderedFiles(terraform.zip_files(written if provider is None else kept), terraform.MEDIA_TYPE)
    except Exception:  # noqa: BLE001  (as in `run_plan_job`)
        return CrashedJob(traceback.format_exc())


def _is_unreadable(source: ParsedFile) -> bool:
    return bool(source.complaints) and not source.places


def _wrapping_path(body: bytes, source: ParsedFile) -> str:
    """The part of JSON paths that the body lacks because it is one workload, or a list of workloads."""
    if body.lstrip()[:1] == b"[":
        return "workloads"
    return "workloads[0]" if "workloads" in source.document and "workloads" not in source.places else ""


def _locate_in_json(wrapping: str, complaint: InputProblem) -> InputProblem:
    path = complaint.place if complaint.place.startswith("?") else complaint.path.removeprefix(wrapping).lstrip(".")
    return replace(complaint, path=path or complaint.place, place=path or complaint.place)


def _locate_in_file(complaint: InputProblem) -> InputProblem:
    """The problem with its place in the file (cell or line) or query (the parameter of an option)."""
    place = complaint.place or complaint.path
    place = _query_place(place.removeprefix("--")) if place.startswith("--") else place
    return replace(complaint, path=place, place=place)


def _query_place(name: str) -> str:
    return f"?{name}"


def _last_value(query: Mapping[str, Sequence[str]], name: str) -> str | None:
    return query[name][-1] if query.get(name) else None


def _parse_bill_options(query: Mapping[str, Sequence[str]]) -> tuple[BillForecastOptions, list[InputProblem]]:
    """The options that extrapolate a bill, and their problems."""
    substitution, faults = _parse_flag(query, "substitution")
    return BillForecastOptions(_last_value(query, "growth"), _last_value(query, "tag"), substitution), faults


def _parse_flag(query: Mapping[str, Sequence[str]], name: str) -> tuple[bool, list[InputProblem]]:
    """A parameter that is true or false; false where it is not given."""
    text = _last_value(query, name) or "false"
    wrong = InputProblem("", _query_place(name), "not valid", text, "true or false")
    return YES_OR_NO.get(text, False), [] if text in YES_OR_NO else [wrong]


def _parse_answers(query: Mapping[str, Sequence[str]], file: bytes) -> tuple[SheetOptions, list[InputProblem]]:
    """The answers file of the form, with the answers and sheets of the query over it, and the problems of both."""
    base, faults = parse_answers(file, ANSWERS, f"form field {ANSWERS}") if file else (NO_SHEET_OPTIONS, [])
    answers = dict(base.answers)
    for text in query.get(ANSWER, ()):
        identity, equals, choice = text.rpartition("=")
        if not equals or not identity:
            faults.append(InputProblem("", _query_place(ANSWER), "not valid", text, "'id=choice'"))
        answers[identity.strip()] = choice.strip()
    cells, unplaced = parse_cells(query)
    days, undated = parse_edit_days(query)
    sheets = tuple(query.get(SHEET, ())) or base.sheets
    options = replace(base, answers=answers, sheets=sheets, cells={**base.cells, **cells}, edited=days)
    return options, [*faults, *unplaced, *undated]


def _parse_assumptions(texts: Sequence[str]) -> tuple[dict[str, str], list[InputProblem]]:
    """Values by the name of an assumption, as texts that the request reads."""
    values, faults = dict[str, str](), list[InputProblem]()
    for text in texts:
        name, equals, value = text.partition("=")
        if equals and name.strip():
            values[name.strip()] = value.strip()
        else:
            faults.append(InputProblem("", _query_place(ASSUMPTION), "not valid", text, "'name=value'"))
    return values, faults


def _is_list(name: str) -> bool:
    if name in SETTINGS:
        return isinstance(SETTINGS[name].default, tuple)
    return name in (MAP, SHEET, ANSWER, ASSUMPTION, CELL, EDITED)


def _parse_settings(query: Mapping[str, Sequence[str]]) -> tuple[dict[str, Any], list[InputProblem]]:
    settings: dict[str, Any] = {}
    faults = []
    known = (*SETTINGS, *FILE_PARAMETERS, ASSUMPTION, COMPARE_TO, FORMAT)
    for name, texts in query.items():
        if len(texts) > 1 and not _is_list(name):
            faults.append(InputProblem("", _query_place(name), "given more than once", ", ".join(texts), "one value"))
            continue
        if name in FILE_PARAMETERS:
            continue
        if name == ASSUMPTION:
            settings["assumptions"], misread = _parse_assumptions(texts)
            faults += misread
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
