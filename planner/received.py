"""A file that somebody hands over, with what they say beside it -> a request, and its plan: one path for every door.

Whatever the file is, it is read apart. Knows neither terminals nor HTTP: `place` tells how the asker wrote a setting
("--dates", "?dates"), so that its faults are found there.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from planner.answer import Plan
from planner.apart import Progress
from planner.errors import Complaint
from planner.intake import SECONDS, Choices, Read, billing, compared, formats, read_apart
from planner.intake._choices import DATE_ORDERS, faults_of, titled
from planner.intake.billing import Forward
from pricing.catalog import Catalog

Place = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Onward:
    """How a bill is to be carried on, as it was typed; None and False where nothing is said."""

    growth: str | None = None
    tag: str | None = None
    substitution: bool = False


AS_TODAY = Onward()
NO_COLUMNS: Mapping[str, str] = {}


def choices_of(
    maps: Sequence[str],
    dates: str | None,
    place: Place,
    catalog: Catalog | None,
    *,
    columns: Mapping[str, str] = NO_COLUMNS,
    order: str = "",
) -> tuple[Choices, list[Complaint]]:
    """What "Title=field" texts and an order of dates say of sheets, and their faults.

    They win over `columns` and `order`, those of a mapping file.
    """
    found, required = dict(columns), dict[str, str]()
    faults: list[Complaint] = []
    for text in maps:
        title, equals, name = text.rpartition("=")
        at = f"{place('map')} {text}"
        if not equals or not title.strip():
            faults.append(Complaint("", at, "not valid", text, "'Column title=field'"))
        elif wrong := faults_of([(title.strip(), name.strip(), at)]):
            faults += wrong
        else:
            found[titled(title)] = name.strip()
            required[titled(title)] = at
    if dates and dates not in DATE_ORDERS:
        faults.append(Complaint("", place("dates"), "not valid", dates, "dmy (day first) or mdy (month first)"))
    return Choices(found, required, dates if dates in DATE_ORDERS else order, catalog), faults


def read_bill(
    path: Path,
    name: str,
    catalog: Catalog,
    choices: Choices,
    onward: Onward,
    place: Place,
    *,
    progress: Progress | None = None,
    seconds: float | None = None,
) -> tuple[Read, list[Complaint]]:
    """The request in a billing export, of any size, and the faults of what is said of it."""
    growth, faults = _growth(onward.growth, place("growth"))
    forward = Forward(growth, onward.tag or "", onward.substitution)
    source = billing.request_of([path], catalog, forward, names=[name], progress=progress, seconds=seconds)
    return source, faults + _without_columns(source, choices, place)


def read_sent(
    data: bytes,
    name: str,
    catalog: Catalog,
    choices: Choices,
    onward: Onward,
    place: Place,
    *,
    seconds: float = SECONDS,
) -> tuple[Read, list[Complaint]]:
    """The request in a file of any format, and the faults of what is said of it that do not fit such a file."""
    if billing.claims(data):
        with tempfile.TemporaryDirectory(prefix="planner-bill-") as folder:
            path = Path(folder) / "bill"
            path.write_bytes(data)
            return read_bill(path, name, catalog, choices, onward, place, seconds=seconds)
    source = read_apart(data, name, choices, seconds=seconds)
    return source, unfitting(source, choices, onward, place)


def plan_of(
    source: Read,
    document: Mapping[str, Any],
    catalog: Catalog,
    complaints: Sequence[Complaint] = (),
    places: Mapping[str, str] | None = None,
) -> Plan:
    """The plan of `document`, which is that of `source` with what was said over it, held against what is paid now.

    Raises InvalidRequest with all faults: `complaints`, those of `source` and those found now.
    """
    from planner.ask import ask

    everywhere = {**source.places, **(places or {})}
    faults = (*complaints, *source.complaints)
    return compared(ask(document, catalog, inputs=source.inputs, complaints=faults, places=everywhere), source)


def unfitting(source: Read, choices: Choices, onward: Onward, place: Place) -> list[Complaint]:
    """A complaint for each thing said of a file that is no bill, and that only a bill, or a sheet, could follow."""
    name = source.inputs.name
    said = {"growth": onward.growth, "tag": onward.tag, "substitution": onward.substitution}
    expected = "a billing export; sheets and requests say this themselves"
    faults = [
        Complaint("", place(key), f"{name} is no billing export", value if isinstance(value, str) else "", expected)
        for key, value in said.items()
        if value
    ]
    return faults + _without_columns(source, choices, place)


def _without_columns(source: Read, choices: Choices, place: Place) -> list[Complaint]:
    """A complaint for each thing said of columns and dates, where the file is none of columns to choose."""
    if source.inputs.format not in {each.name for each in formats() if not each.is_sheet}:
        return []
    said = [*choices.required.values()]
    if choices.columns.keys() - choices.required.keys():
        said.append(place("mapping"))
    elif choices.dates:
        said.append(place("dates"))
    return [Complaint("", at, f"{source.inputs.name} is no sheet", "", "a sheet") for at in said]


def _growth(text: str | None, place: str) -> tuple[float, list[Complaint]]:
    """0.03 and 3% as 0.03; a complaint for what is no rate."""
    if text is None:
        return 0.0, []
    number = text.strip().removesuffix("%")
    try:
        rate = float(number) / (100 if number != text.strip() else 1)
    except ValueError:
        rate = -1.0
    if not -1 < rate <= 1:
        return 0.0, [Complaint("", place, "no rate of growth a month", text, "such as 0.03 or 3%, up to 100%")]
    return rate, []
