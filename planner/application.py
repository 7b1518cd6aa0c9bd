"""A file that somebody hands over, with what they say beside it -> a request, and its plan: one path for every door.

Whatever the file is, it is read apart. Knows neither terminals nor HTTP: `place` tells how the asker wrote a setting
("--dates", "?dates"), so that its faults are found there.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from planner import pipeline
from planner.analysis.comparison import ReviewRecord, list_changes, read_review_workbook
from planner.inputs.bills.usage_projection import build_request_from_bills
from planner.inputs.file_reader import SECONDS, formats, read_isolated
from planner.inputs.parsed_file import ParsedFile
from planner.inputs.sandbox import Progress
from planner.inputs.sheet_options import (
    DATE_ORDERS,
    SheetOptions,
    UsageProjection,
    check_field_names,
    normalize_title,
)
from planner.inputs.spend_comparison import add_savings_note
from planner.inputs.spreadsheet.workbook_values import read_visible_sheets
from planner.messages import with_texts
from planner.request.document_problems import locate_path
from planner.request.errors import InputProblem, InvalidRequest
from planner.request.models import Request, Workload, parse_request
from planner.result import InputProvenance, Plan
from planner.supply.validation import validate_request
from pricing.catalog.price_catalog import Catalog

Place = Callable[[str], str]
T = TypeVar("T")
EXPECTATION_PREFIX = "Input should be "
"""How pydantic begins to say what it expects."""
PLACEHOLDER_WORKLOAD = {"name": "-", "demand": {"units_per_month": 1}}


@dataclass(frozen=True, slots=True)
class BillForecastOptions:
    """How a bill is to be carried on, as it was typed; None and False where nothing is said."""

    growth: str | None = None
    tag: str | None = None
    substitution: bool = False


DEFAULT_FORECAST = BillForecastOptions()
NO_COLUMNS: Mapping[str, str] = {}


def parse_column_choices(
    maps: Sequence[str],
    dates: str | None,
    place: Place,
    catalog: Catalog | None,
    *,
    columns: Mapping[str, str] = NO_COLUMNS,
    order: str = "",
) -> tuple[SheetOptions, list[InputProblem]]:
    """What "Title=field" texts and an order of dates say of sheets, and their faults.

    They win over `columns` and `order`, those of a mapping file.
    """
    fields_by_title, required = dict(columns), dict[str, str]()
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
    return SheetOptions(fields_by_title, required, dates if dates in DATE_ORDERS else order, catalog), faults


def read_bill(
    path: Path,
    name: str,
    catalog: Catalog,
    choices: SheetOptions,
    onward: BillForecastOptions,
    place: Place,
    *,
    progress: Progress | None = None,
    seconds: float | None = None,
) -> tuple[ParsedFile, list[InputProblem]]:
    """The request in a billing export, of any size, and the faults of what is said of it."""
    forward, faults = _parse_projection(onward, place)
    source = build_request_from_bills([path], catalog, forward, names=[name], progress=progress, seconds=seconds)
    return source, faults + _find_inapplicable_columns(source, choices, place)


def read_document(
    data: bytes,
    name: str,
    catalog: Catalog,
    choices: SheetOptions,
    onward: BillForecastOptions,
    place: Place,
    *,
    seconds: float = SECONDS,
) -> tuple[ParsedFile, list[InputProblem]]:
    """The request in a file of any format, and the faults of what is said of it that do not fit such a file."""
    forward, faults = _parse_projection(onward, place)
    options = replace(choices, catalog=choices.catalog or catalog, projection=forward)
    source = read_isolated(data, name, options, seconds=seconds)
    if source.inputs.format == "billing":
        return source, faults + _find_inapplicable_columns(source, choices, place)
    return source, find_inapplicable_options(source, choices, onward, place)


def plan_input(
    source: ParsedFile,
    document: Mapping[str, Any],
    catalog: Catalog,
    complaints: Sequence[InputProblem] = (),
    places: Mapping[str, str] | None = None,
) -> Plan:
    """The plan of `document`, which is that of `source` with what was said over it, held against what is paid now.

    Raises InvalidRequest with all faults: `complaints`, those of `source` and those found now.
    """
    everywhere = {**source.places, **(places or {})}
    faults = (*complaints, *source.complaints)
    return add_savings_note(
        plan_document(document, catalog, inputs=source.inputs, complaints=faults, places=everywhere), source
    )


def find_inapplicable_options(
    source: ParsedFile, choices: SheetOptions, onward: BillForecastOptions, place: Place
) -> list[InputProblem]:
    """A complaint for each thing said of a file that is no bill, and that only a bill, or a sheet, could follow."""
    name = source.inputs.name
    options = {"growth": onward.growth, "tag": onward.tag, "substitution": onward.substitution}
    expected = "a billing export; sheets and requests say this themselves"
    faults = [
        InputProblem("", place(key), f"{name} is no billing export", value if isinstance(value, str) else "", expected)
        for key, value in options.items()
        if value
    ]
    return faults + _find_inapplicable_columns(source, choices, place)


def _find_inapplicable_columns(source: ParsedFile, choices: SheetOptions, place: Place) -> list[InputProblem]:
    """A complaint for each thing said of columns and dates, where the file is none of columns to choose."""
    if source.inputs.format not in {each.name for each in formats() if not each.is_sheet}:
        return []
    option_places = [*choices.required.values()]
    if choices.columns.keys() - choices.required.keys():
        option_places.append(place("mapping"))
    elif choices.dates:
        option_places.append(place("dates"))
    return [InputProblem("", at, f"{source.inputs.name} is no sheet", "", "a sheet") for at in option_places]


def _parse_projection(onward: BillForecastOptions, place: Place) -> tuple[UsageProjection, list[InputProblem]]:
    growth, faults = _parse_growth_rate(onward.growth, place("growth"))
    return UsageProjection(growth, onward.tag or "", onward.substitution), faults


def _parse_growth_rate(text: str | None, place: str) -> tuple[float, list[InputProblem]]:
    """0.03 and 3% as 0.03; a complaint for what is no rate."""
    if text is None:
        return 0.0, []
    number = text.strip().removesuffix("%")
    try:
        rate = float(number) / (100 if number != text.strip() else 1)
    except ValueError:
        rate = -1.0
    if not -1 < rate <= 1:
        return 0.0, [InputProblem("", place, "no rate of growth a month", text, "such as 0.03 or 3%, up to 100%")]
    return rate, []


def plan(request: Request, catalog: Catalog, inputs: InputProvenance = pipeline.DOCUMENT_INPUT) -> Plan:
    """The plan for `request`, every message of it with its words. InvalidRequest as `planner.pipeline.plan`."""
    return with_texts(pipeline.plan(request, catalog, inputs))


def with_changes(new_plan: Plan, last: Plan | ReviewRecord) -> Plan:
    """The plan with what changed since the last review, every message with its words."""
    return with_texts(replace(new_plan, changes=list_changes(last, new_plan)))


def plan_document(
    document: Mapping[str, Any],
    catalog: Catalog,
    *,
    inputs: InputProvenance | None = None,
    complaints: Sequence[InputProblem] = (),
    places: Mapping[str, str] | None = None,
) -> Plan:
    """The plan for `document`, or InvalidRequest with every fault of form and of name, each with its place.

    `complaints` were found while reading; `places` maps JSON paths to what the asker sees.
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
    """What `answer` says to the request in `document`; faults as in `ask`."""
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
    """The complaints with the asker's places instead of bare paths."""
    return tuple(
        c if c.place not in ("", c.path) else replace(c, place=locate_path(c.path, places)) for c in complaints
    )


def _merge_alternatives(complaints: Sequence[InputProblem]) -> tuple[InputProblem, ...]:
    """One complaint for each value: a field that takes several forms is refused once for each of them."""
    merged: dict[tuple[str, ...], InputProblem] = {}
    for each in complaints:
        if each.path == "workloads" and any(other.path.startswith("workloads[") for other in complaints):
            continue  # "at least 1 item, not 0": what is wrong with the items is told already
        if not each.message.startswith(EXPECTATION_PREFIX):
            merged[each.path, each.place, each.value, each.message] = each
            continue
        key = (each.path, each.place, each.value)
        earlier = f"{merged[key].expected}, or " if key in merged else ""
        wanted = (
            each.message.removeprefix(EXPECTATION_PREFIX)
            .replace("tuple", "list")
            .replace("dictionary", "mapping")
            .partition(" or instance of ")[0]
        )
        merged[key] = replace(each, message="not valid", expected=earlier + wanted)
    return tuple(merged.values())


def _find_unknown_names(
    document: Mapping[str, Any], problems: Sequence[InputProblem], catalog: Catalog
) -> list[InputProblem]:
    """Unknown names in a document whose form is faulty too, so that one answer tells both.

    Only what is well-formed is looked at; a complaint that has no value may be owed to what was left out.
    """
    faulty = {complaint.path for complaint in problems}
    settings = _valid_fields(document, "", Request.model_fields.keys() - {"workloads", "assumptions"}, faulty)
    values = document.get("assumptions")
    if isinstance(values, Mapping):
        settings["assumptions"] = _valid_fields(values, "assumptions.", values.keys(), faulty)
    base = Request.model_validate({"as_of": date.min, **settings, "workloads": [PLACEHOLDER_WORKLOAD]})
    given = document.get("workloads")
    items = given if isinstance(given, list | tuple) else ()
    workloads = tuple(_valid_workload(item, f"workloads[{index}]", faulty) for index, item in enumerate(items))
    unknown = validate_request(base.model_copy(update={"workloads": workloads}), catalog)
    return [complaint for complaint in unknown if complaint.value and complaint.path not in faulty]


def _valid_workload(item: object, path: str, faulty: set[str]) -> Workload:
    """The workload without its faulty fields, so that it keeps its index; a stand-in where nothing can be kept."""
    fields = item if isinstance(item, Mapping) else {}
    try:
        return Workload.model_validate(
            {**PLACEHOLDER_WORKLOAD, **_valid_fields(fields, f"{path}.", Workload.model_fields.keys(), faulty)}
        )
    except ValidationError:
        return Workload.model_validate(PLACEHOLDER_WORKLOAD)


def _valid_fields(fields: Mapping[str, Any], prefix: str, known: Collection[str], faulty: set[str]) -> dict[str, Any]:
    """The known fields at and below whose path no fault was told."""
    return {
        name: value for name, value in fields.items() if name in known and not _is_affected(f"{prefix}{name}", faulty)
    }


def _is_affected(path: str, faulty: set[str]) -> bool:
    return any(fault == path or fault.startswith((f"{path}.", f"{path}[")) for fault in faulty)


def read_review(data: bytes) -> ReviewRecord:
    """What the last review decided, from its workbook; ValueError with the reason where it is none of ours."""
    return read_review_workbook(read_visible_sheets(data))
