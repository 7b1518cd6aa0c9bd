"""A request in any form that Python has it, read as the command line reads a file, with settings merged into it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from planner.application import (
    BillForecastOptions,
    find_inapplicable_options,
    parse_column_choices,
    read_bill,
    read_document,
    read_frame,
)
from planner.inputs.answers_file import parse_answers
from planner.inputs.bills import is_bill
from planner.inputs.data_frames import is_data_frame
from planner.inputs.parsed_file import ParsedFile
from planner.inputs.python_values import plain_value, read_values
from planner.inputs.sheet_options import NO_SHEET_OPTIONS, SheetOptions
from planner.library.catalog_files import open_catalog
from planner.library.file_problems import unreadable_file
from planner.library.request_files import expand_document, read_bytes
from planner.request.errors import InputProblem, InvalidRequest
from pricing.catalog.price_catalog import Catalog
from pricing.frozen_values import dataclass

SECONDS = 600.0
"""Time limit of reading a sheet or document, as on the command line."""
FRAME_NAME, VALUES_NAME = "data frame", "request"
PLACES = {"map": "columns", "mapping": "columns"}
"""Options of the command line that have another name in Python."""


def setting_place(name: str) -> str:
    """A setting as a caller of Python writes it.

    >>> setting_place("months")
    'months='
    """
    return f"{PLACES.get(name, name)}="


@dataclass(frozen=True, slots=True)
class InputChoices:
    """How a sheet, frame or bill is read: see `planner.plan`."""

    answers: Mapping[str, str] | str | os.PathLike[str] | None = None
    accept_proposals: bool = False
    columns: Mapping[str, str] = field(default_factory=dict)
    dates: str | None = None
    sheets: Sequence[str] = ()
    cells: Mapping[str, Any] = field(default_factory=dict)
    growth: float | str | None = None
    tag: str | None = None
    substitution: bool = False


@dataclass(frozen=True, slots=True)
class InputRead:
    """A request that was read: the document with settings merged, its catalogue, and the problems until here."""

    source: ParsedFile
    document: dict[str, Any]
    catalog: Catalog
    problems: tuple[InputProblem, ...]
    places: Mapping[str, str]
    file: str
    accepts_proposals: bool

    def under(self, settings: Mapping[str, Any], place: str = "") -> InputRead:
        """With further settings over it; `place` goes before their names in problems."""
        plain = {name: plain_value(value) for name, value in settings.items() if value is not None}

        def locate(name: str) -> str:
            return f"{place}{setting_place(name)}"

        document, faults = expand_document(self.document, plain, self.file, self.source, place=locate)
        places = {**self.places, **{name: locate(name) for name in plain}}
        return replace(self, document=document, problems=(*self.problems, *faults), places=places)


def read_input(request: Any, settings: Mapping[str, Any], choices: InputChoices, catalog: Catalog | None) -> InputRead:
    """A path, a data frame, a mapping, a model or a list of workloads; InvalidRequest for anything else."""
    faults: tuple[InputProblem, ...] = ()
    if catalog is None:
        catalog, faults = open_catalog(None, None)
    options, wrong = _sheet_options(choices, catalog)
    plain = {name: plain_value(value) for name, value in settings.items() if value is not None}
    options = options.under_settings(plain)
    bills = BillForecastOptions(_option_text(choices.growth), choices.tag, choices.substitution)
    file = os.fspath(request) if isinstance(request, str | os.PathLike) else ""
    source, unfit = _read_source(request, file, catalog, options, bills)
    read = InputRead(source, source.document, catalog, (*faults, *wrong, *unfit), {}, file, choices.accept_proposals)
    read = read.under(settings)
    if faults:
        read.document.pop("currency", None)  # whether it has an exchange rate is unknown
    return read


def _read_source(
    request: Any, file: str, catalog: Catalog, options: SheetOptions, bills: BillForecastOptions
) -> tuple[ParsedFile, Sequence[InputProblem]]:
    if file:
        if is_bill(path := Path(file)):
            return read_bill(path, file, catalog, options, bills, setting_place)
        return read_document(read_bytes(file), file, catalog, options, bills, setting_place, seconds=SECONDS)
    if is_data_frame(request):
        return read_frame(request, FRAME_NAME, catalog, options, bills, setting_place)
    if isinstance(request, Mapping | BaseModel | list | tuple):
        source = read_values(request, VALUES_NAME)
        return source, find_inapplicable_options(source, options, bills, setting_place)
    expected = "a path, a mapping, a planner.Request, a list of workloads or a data frame"
    raise InvalidRequest((InputProblem("", "request", "not a request", type(request).__name__, expected),))


def _sheet_options(choices: InputChoices, catalog: Catalog) -> tuple[SheetOptions, list[InputProblem]]:
    """The choices as options of reading; answers may be in a file that `planner estimate --save-answers` wrote."""
    base, faults = NO_SHEET_OPTIONS, list[InputProblem]()
    if isinstance(choices.answers, str | os.PathLike):
        place = f"answers={os.fspath(choices.answers)}"
        try:
            base, faults = parse_answers(Path(choices.answers).read_bytes(), os.fspath(choices.answers), place)
        except OSError as error:
            faults = [unreadable_file(place, error)]
    elif choices.answers:
        base = replace(base, answers={str(name): _option_text(value) or "" for name, value in choices.answers.items()})
    cells = {**base.cells, **{place: _option_text(value) or "" for place, value in choices.cells.items()}}
    base = replace(base, cells=cells, sheets=tuple(choices.sheets) or base.sheets)
    maps = [f"{title}={meaning}" for title, meaning in choices.columns.items()]
    options, wrong = parse_column_choices(maps, choices.dates, setting_place, catalog, base=base)
    return options, [*faults, *wrong]


def _option_text(value: Any) -> str | None:
    return value if value is None or isinstance(value, str) else f"{value:.15g}"
