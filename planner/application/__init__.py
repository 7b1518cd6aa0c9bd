"""From a document or a file to a plan: the one entry of the command line and of the service.

Files are read in a sandbox. A `place` function formats the name of a setting as its caller wrote it ("--dates",
"?dates"), for the places of problems.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import ValidationError

from planner import pipeline
from planner.inputs.file_reader import SECONDS, formats, read_isolated
from planner.inputs.merged_settings import Place
from planner.inputs.notation.numbers import parse_fraction
from planner.inputs.parsed_file import ParsedFile
from planner.inputs.python_values import FORMAT as PYTHON_VALUES
from planner.inputs.sandbox import Progress
from planner.inputs.sheet_options import (
    DATE_ORDERS,
    NO_SHEET_OPTIONS,
    SheetOptions,
    UsageProjection,
    check_field_names,
    normalize_title,
)
from planner.inputs.spend_comparison import add_savings_note
from planner.messages import with_texts
from planner.request.document_problems import locate_path
from planner.request.doubts import open_doubts
from planner.request.errors import InputProblem, InvalidRequest, OpenQuestions
from planner.request.field_types import FIRST_DATE
from planner.request.models import Request, Workload, parse_request
from planner.result import InputProvenance, Plan
from planner.supply.validation import validate_request
from pricing.catalog.price_catalog import Catalog
from pricing.frozen_values import dataclass

if TYPE_CHECKING:
    from planner.analysis.comparison import ReviewRecord

T = TypeVar("T")
EXPECTATION_PREFIX = "Input should be "
"""The beginning of pydantic's messages on unexpected values."""
PLACEHOLDER_WORKLOAD = {"name": "-", "demand": {"units_per_month": 1}}


@dataclass(frozen=True, slots=True)
class BillForecastOptions:
    """The options that extrapolate a bill into a request, as typed."""

    growth: str | None = None
    tag: str | None = None
    substitution: bool = False


DEFAULT_FORECAST = BillForecastOptions()


def parse_column_choices(
    maps: Sequence[str],
    dates: str | None,
    place: Place,
    catalog: Catalog | None,
    *,
    base: SheetOptions = NO_SHEET_OPTIONS,
) -> tuple[SheetOptions, list[InputProblem]]:
    """Sheet options from "Title=field" texts and a date order over those of `base` (answers), and their problems."""
    fields_by_title, required = dict(base.columns), dict[str, str]()
    faults: list[InputProblem] = []
    for text in maps:
        title, equals, name = text.rpartition("=")
        at = f"{place('map')} {text}"
        if not equals or not title.strip():
            faults.append(InputProblem("", at, "not valid", text, "'Column title=field'"))
        elif wrong := check_field_names([(title.strip(), name.strip(), at)]):
            faults += wrong
        else:
            fields_by_title[normalize_title(title)] = name.strip()
            required[normalize_title(title)] = at
    if dates and dates not in DATE_ORDERS:
        faults.append(InputProblem("", place("dates"), "not valid", dates, "dmy (day first) or mdy (month first)"))
    order = dates if dates in DATE_ORDERS else base.dates
    return replace(base, columns=fields_by_title, required=required, dates=order, catalog=catalog), faults


def read_bill(
    path: Path,
    name: str,
    catalog: Catalog,
    choices: SheetOptions,
    bill_options: BillForecastOptions,
    place: Place,
    *,
    progress: Progress | None = None,
    seconds: float | None = None,
) -> tuple[ParsedFile, list[InputProblem]]:
    """The request in a billing export of any size, and the problems of the options."""
    from planner.inputs.bills.usage_projection import build_request_from_bills

    projection, faults = _parse_projection(bill_options, place)
    source = build_request_from_bills([path], catalog, projection, names=[name], progress=progress, seconds=seconds)
    return source, faults + _find_inapplicable_columns(source, choices, place)


def read_document(
    data: bytes,
    name: str,
    catalog: Catalog,
    choices: SheetOptions,
    bill_options: BillForecastOptions,
    place: Place,
    *,
    seconds: float = SECONDS,
) -> tuple[ParsedFile, list[InputProblem]]:
    """The request in a file of any format, and the problems of options that are invalid or do not apply to it."""
    projection, faults = _parse_projection(bill_options, place)
    options = replace(choices, catalog=choices.catalog or catalog, projection=projection)
    source = read_isolated(data, name, options, seconds=seconds)
    if source.inputs.format in {each.name for each in formats() if each.is_usage}:
        return source, faults + _find_inapplicable_columns(source, choices, place)
    return source, find_inapplicable_options(source, choices, bill_options, place)


def read_frame(
    frame: Any, name: str, catalog: Catalog, choices: SheetOptions, bill_options: BillForecastOptions, place: Place
) -> tuple[ParsedFile, list[InputProblem]]:
    """The request in a data frame, read as a sheet, and problems as of `read_document`."""
    from planner.inputs import data_frames

    source = data_frames.read_frame(frame, name, replace(choices, catalog=choices.catalog or catalog))
    return source, find_inapplicable_options(source, choices, bill_options, place)


def plan_input(
    source: ParsedFile,
    document: Mapping[str, Any],
    catalog: Catalog,
    complaints: Sequence[InputProblem] = (),
    places: Mapping[str, str] | None = None,
    *,
    last_review: Plan | ReviewRecord | None = None,
    negotiates: bool = False,
    accepts_proposals: bool = False,
) -> Plan:
    """The plan of `document`, the one of `source` with settings merged into it (`merge_settings`); `negotiates`: with
    the prices to ask vendors for confirmed by further plans.

    It has the savings against the current spend of a bill and the changes since `last_review`. Raises InvalidRequest
    as `answer_input`.
    """
    make_plan = negotiate if negotiates else plan
    new_plan = answer_input(
        source,
        document,
        catalog,
        lambda request, inputs: make_plan(request, catalog, inputs),
        complaints,
        places,
        accepts_proposals=accepts_proposals,
    )
    new_plan = add_savings_note(new_plan, source)
    return new_plan if last_review is None else with_changes(new_plan, last_review)


def check_input(
    source: ParsedFile,
    document: Mapping[str, Any],
    catalog: Catalog,
    complaints: Sequence[InputProblem] = (),
    places: Mapping[str, str] | None = None,
    *,
    accepts_proposals: bool = False,
) -> None:
    """Makes every check of `plan_input` without planning; raises the same InvalidRequest."""

    def check(request: Request, _: InputProvenance) -> None:
        pipeline.check_request(request, catalog)

    answer_input(source, document, catalog, check, complaints, places, accepts_proposals=accepts_proposals)


def answer_input(
    source: ParsedFile,
    document: Mapping[str, Any],
    catalog: Catalog,
    answer: Callable[[Request, InputProvenance], T],
    complaints: Sequence[InputProblem],
    places: Mapping[str, str] | None,
    *,
    accepts_proposals: bool,
) -> T:
    """The result of `answer` for the request in `document`, with what was doubtful in `source` among its notes.

    Raises InvalidRequest with all problems: `complaints`, those of `source` and of the document, and each doubt that
    may change more of the demand than DEMAND_CHANGE_MAX and has no answer, unless `accepts_proposals`.
    """
    stopping = () if accepts_proposals else open_doubts(source.doubts)
    faults = (*complaints, *source.complaints, *(each.to_problem() for each in stopping))
    notes = (*source.inputs.notes, *(each.to_note() for each in source.doubts))
    inputs = replace(source.inputs, notes=notes)
    all_places = {**source.places, **(places or {})}
    try:
        return process_document(document, catalog, lambda request: answer(request, inputs), faults, all_places)
    except InvalidRequest as error:
        is_open = 0 < len(stopping) == len(error.complaints)
        raise (OpenQuestions if is_open else InvalidRequest)(error.complaints, stopping) from None


def find_inapplicable_options(
    source: ParsedFile, choices: SheetOptions, bill_options: BillForecastOptions, place: Place
) -> list[InputProblem]:
    """A problem for each option that applies only to bills, or only to sheets, if the file is neither."""
    name = source.inputs.name
    options = {"growth": bill_options.growth, "tag": bill_options.tag, "substitution": bill_options.substitution}
    expected = "a billing export or measured use; sheets and requests have fields for this"
    faults = [
        InputProblem(
            "", place(key), f"{name} is not a billing export", value if isinstance(value, str) else "", expected
        )
        for key, value in options.items()
        if value
    ]
    return faults + _find_inapplicable_columns(source, choices, place)


def _find_inapplicable_columns(source: ParsedFile, choices: SheetOptions, place: Place) -> list[InputProblem]:
    """A problem for each option on columns, dates or answers that does not apply to the format."""
    format_ = next((each for each in formats() if each.name == source.inputs.format), None)
    if source.inputs.format != PYTHON_VALUES and (format_ is None or format_.is_sheet):
        return []
    option_places = [*choices.required.values()]
    inapplicable = ("sheets",) if format_ and format_.asks else ("answers", "sheets")
    option_places += [place(name) for name in inapplicable if getattr(choices, name)]
    option_places += [place("answers")] if choices.cells and not source.inputs.is_editable else []
    if choices.columns.keys() - choices.required.keys():
        option_places.append(place("mapping"))
    elif choices.dates:
        option_places.append(place("dates"))
    return [InputProblem("", at, f"{source.inputs.name} is not a sheet", "", "a sheet") for at in option_places]


def _parse_projection(bill_options: BillForecastOptions, place: Place) -> tuple[UsageProjection, list[InputProblem]]:
    growth, faults = _parse_growth_rate(bill_options.growth, place("growth"))
    return UsageProjection(growth, bill_options.tag or "", bill_options.substitution), faults


def _parse_growth_rate(text: str | None, place: str) -> tuple[float, list[InputProblem]]:
    """0.03 for "0.03" and "3%", with a problem for other texts."""
    if text is None:
        return 0.0, []
    rate = parse_fraction(text)
    if rate is None or not -1 < rate <= 1:
        return 0.0, [InputProblem("", place, "not a monthly growth rate", text, "such as 0.03 or 3%, up to 100%")]
    return rate, []


def plan(request: Request, catalog: Catalog, inputs: InputProvenance = pipeline.DOCUMENT_INPUT) -> Plan:
    """The plan for `request`, with the text of every message. Raises InvalidRequest as `planner.pipeline.plan`."""
    return with_texts(pipeline.plan(request, catalog, inputs))


def negotiate(request: Request, catalog: Catalog, inputs: InputProvenance = pipeline.DOCUMENT_INPUT) -> Plan:
    """The plan for `request` as `plan` makes it, with flip prices that further plans confirmed."""
    return with_texts(pipeline.negotiate(request, catalog, inputs))


def with_changes(new_plan: Plan, last: Plan | ReviewRecord) -> Plan:
    """The plan with its changes since the last review, with the text of every message."""
    from planner.analysis.comparison import list_changes

    return with_texts(replace(new_plan, changes=list_changes(last, new_plan)))


def plan_document(
    document: Mapping[str, Any],
    catalog: Catalog,
    *,
    inputs: InputProvenance | None = None,
    complaints: Sequence[InputProblem] = (),
    places: Mapping[str, str] | None = None,
) -> Plan:
    """The plan for `document`; InvalidRequest with every problem of form and every unknown name, each with its place.

    `complaints` were found while reading; `places` maps JSON paths to places of the original input (cells, lines).
    """
    return process_document(
        document, catalog, lambda r: plan(r, catalog, inputs or InputProvenance("", "", "")), complaints, places
    )


def process_document(
    document: Mapping[str, Any],
    catalog: Catalog,
    answer: Callable[[Request], T],
    complaints: Sequence[InputProblem] = (),
    places: Mapping[str, str] | None = None,
) -> T:
    """The result of `answer` for the request in `document`; InvalidRequest as in `plan_document`."""
    places = places or {}
    try:
        request = parse_request(document, complaints, places)
    except InvalidRequest as error:
        names = _with_places(_find_unknown_names(document, error.complaints, catalog), places)
        raise InvalidRequest(_merge_alternatives(error.complaints) + names) from None
    try:
        return answer(request)
    except InvalidRequest as error:
        raise InvalidRequest(_with_places(error.complaints, places)) from None


def _with_places(complaints: Iterable[InputProblem], places: Mapping[str, str]) -> tuple[InputProblem, ...]:
    """The problems with places of the original input instead of JSON paths."""
    return tuple(
        c if c.place not in ("", c.path) else replace(c, place=locate_path(c.path, places)) for c in complaints
    )


def _merge_alternatives(complaints: Sequence[InputProblem]) -> tuple[InputProblem, ...]:
    """One problem per value: pydantic reports a field that accepts several types once for each of them."""
    merged: dict[tuple[str, ...], InputProblem] = {}
    for each in complaints:
        inner = (f"{each.path}.", f"{each.path}[")
        is_form = each.path == "workloads" or each.message.startswith(EXPECTATION_PREFIX)
        if is_form and each.path and any(other.path.startswith(inner) for other in complaints):
            continue  # "at least 1 item, not 0", "a number": the problems of what is in it are in the list
        if not each.message.startswith(EXPECTATION_PREFIX):
            merged[each.path, each.place, each.value, each.message] = each
            continue
        key = (each.path, each.place, each.value)
        earlier = f"{merged[key].expected}, or " if key in merged else ""
        expected = (
            each.message.removeprefix(EXPECTATION_PREFIX)
            .replace("tuple", "list")
            .replace("dictionary", "mapping")
            .partition(" or instance of ")[0]
        )
        merged[key] = replace(each, message="not valid", expected=earlier + expected)
    return tuple(merged.values())


def _find_unknown_names(
    document: Mapping[str, Any], problems: Sequence[InputProblem], catalog: Catalog
) -> list[InputProblem]:
    """Unknown names in a document whose form is invalid too, so that one error lists both.

    Only its valid fields are checked. A problem without a value is dropped: it may be due to the fields left out.
    """
    faulty = {complaint.path for complaint in problems}
    settings = _valid_fields(document, "", Request.model_fields.keys() - {"workloads", "assumptions"}, faulty)
    values = document.get("assumptions")
    if isinstance(values, Mapping):
        settings["assumptions"] = _valid_fields(values, "assumptions.", values.keys(), faulty)
    try:
        base = Request.model_validate({"as_of": FIRST_DATE, **settings, "workloads": [PLACEHOLDER_WORKLOAD]})
    except ValidationError:  # fields that are at odds only with each other: names are checked once these are right
        return []
    listed = document.get("workloads")
    items = listed if isinstance(listed, list | tuple) else ()
    workloads = tuple(_valid_workload(item, f"workloads[{index}]", faulty) for index, item in enumerate(items))
    unknown = validate_request(base.model_copy(update={"workloads": workloads}), catalog)
    return [complaint for complaint in unknown if complaint.value and complaint.path not in faulty]


def _valid_workload(item: object, path: str, faulty: set[str]) -> Workload:
    """The workload without its invalid fields; a placeholder, for the sake of the indices, if none is valid."""
    fields = item if isinstance(item, Mapping) else {}
    try:
        return Workload.model_validate(
            {**PLACEHOLDER_WORKLOAD, **_valid_fields(fields, f"{path}.", Workload.model_fields.keys(), faulty)}
        )
    except ValidationError:
        return Workload.model_validate(PLACEHOLDER_WORKLOAD)


def _valid_fields(fields: Mapping[str, Any], prefix: str, known: Collection[str], faulty: set[str]) -> dict[str, Any]:
    """The known fields without a problem at or below their path."""
    return {
        name: value for name, value in fields.items() if name in known and not _is_affected(f"{prefix}{name}", faulty)
    }


def _is_affected(path: str, faulty: set[str]) -> bool:
    return any(fault == path or fault.startswith((f"{path}.", f"{path}[")) for fault in faulty)


def read_review(data: bytes) -> ReviewRecord:
    """The decisions of the last review, from its workbook; ValueError with the reason if planner did not write it."""
    from planner.analysis.comparison import read_review_workbook
    from planner.inputs.formats.xlsx import read_visible_sheets

    return read_review_workbook(read_visible_sheets(data))
