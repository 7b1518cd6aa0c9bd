"""The meaning of the answers to the questions of `planner init`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from planner.performance.model_catalog import find_model, nearest_models
from planner.request.calendar import month_index, name_month
from planner.request.field_types import MONTHS_MAX
from pricing.catalog.price_catalog import Catalog
from pricing.clock import today
from pricing.csv_tables import find_nearest_names
from pricing.errors import UnknownName
from pricing.frozen_values import dataclass
from pricing.units import HOURS_PER_MONTH

COUNTED = re.compile(r"(?P<count>\d{1,6})\s*[x×]?\s+(?P<name>\S.*)|(?P<name_first>.*\S)\s+[x×]\s*(?P<last>\d{1,6})")
"""8 H100, 8x H100, H100 x 8."""
MONTH = re.compile(r"20\d\d-(?:0[1-9]|1[0-2])")
NUMBER = re.compile(r"\d[\d,_ ]*(?:\.\d+)?")
ANYWHERE, NEITHER = "anywhere", "none"


class UnclearAnswer(Exception):
    """An answer that is not valid; `expected` describes valid ones."""

    def __init__(self, message: str, expected: str) -> None:
        self.message, self.expected = message, expected
        super().__init__(f"{message}: expected {expected}")


@dataclass(frozen=True, slots=True)
class AcceleratorWork:
    """So many accelerators at once."""

    accelerator: str
    count: int


@dataclass(frozen=True, slots=True)
class ModelService:
    """A language model that answers requests."""

    model: str


@dataclass(frozen=True, slots=True)
class AllowedPlaces:
    """Where the work may run; without any: anywhere."""

    providers: tuple[str, ...] = ()
    regions: tuple[str, ...] = ()
    residency: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class WorkLimit:
    """A budget per month, or the month by whose end the work is done; neither: no limit."""

    budget_per_month: float | None = None
    deadline_month: str | None = None


def read_name(text: str, *_: object) -> str:
    """The name of the work, which also names its file."""
    if not text.isprintable() or re.search(r'[/\\:*?"<>|]', text) or len(text) > 100:
        raise UnclearAnswer("no name for a file", "up to 100 letters, digits, blanks and dashes")
    return text


def read_work(text: str, _: Mapping[str, Any], catalog: Catalog) -> AcceleratorWork | ModelService:
    """Accelerators with their number, or a model that is served."""
    counted = COUNTED.fullmatch(text)
    if counted is None and find_model(text) is not None:
        return ModelService(text.casefold())
    name = (counted["name"] or counted["name_first"]) if counted else text
    count = int(counted["count"] or counted["last"]) if counted else 1
    try:
        catalog.names.match(name)
    except UnknownName as unknown:
        near = [*unknown.nearest, *([] if counted else nearest_models(text))]
        nearest = find_nearest_names(name, near) or ("8 H100", "1 L4", "llama-3-70b")
        raise UnclearAnswer(
            f"{name} is no accelerator and no model known here", f"one like {', '.join(nearest)}"
        ) from None
    if count < 1:
        raise UnclearAnswer("no accelerator at all", "at least 1")
    return AcceleratorWork(name, count)


def read_demand(text: str, answers: Mapping[str, Any], _: Catalog) -> tuple[float, ...]:
    """Hours a month in which all accelerators work; of a model: requests a month, tokens in and tokens out of each."""
    serves = isinstance(answers.get("work"), ModelService)
    numbers = [_read_number(part) for part in (re.split(r"[,;\s]+", text) if serves else [text])]
    values = tuple(value for value in numbers if value)
    if len(values) < len(numbers) or len(values) != (3 if serves else 1):
        expected = "requests a month, tokens in, tokens out: 1000000, 900, 300" if serves else "hours: 200"
        raise UnclearAnswer(f"{text} is not an amount of work", expected)
    if not serves and values[0] > HOURS_PER_MONTH:
        raise UnclearAnswer(
            f"a month has {HOURS_PER_MONTH:g} hours", f"at most {HOURS_PER_MONTH:g} of each accelerator"
        )
    return values


def read_months(text: str, *_: object) -> int:
    """How many months are planned."""
    if not text.isdecimal() or not 1 <= int(text) <= MONTHS_MAX:
        raise UnclearAnswer(f"{text} is no number of months", f"a whole number from 1 to {MONTHS_MAX}")
    return int(text)


def read_places(text: str, _: Mapping[str, Any], catalog: Catalog) -> AllowedPlaces:
    """Providers, regions, countries and blocs, each by its name."""
    if text.casefold() == ANYWHERE:
        return AllowedPlaces()
    lands = {land.casefold(): land for region in catalog.regions.values() for land in (region.country, *region.blocs)}
    lands.pop("", None)
    names: dict[str, list[str]] = {"providers": [], "regions": [], "residency": []}
    for name in filter(None, (part.strip() for part in text.split(","))):
        field, meant = _find_place(name, lands, catalog)
        names[field].append(meant)
    return AllowedPlaces(**{field: tuple(each) for field, each in names.items()})


def read_limit(text: str, answers: Mapping[str, Any], _: Catalog) -> WorkLimit:
    """A budget per month, a month, or neither."""
    if text.casefold() == NEITHER:
        return WorkLimit()
    if MONTH.fullmatch(text):
        if isinstance(answers.get("work"), ModelService):
            raise UnclearAnswer("a service is never done", f"a budget a month, or {NEITHER}")
        first, months = name_month(f"{today():%Y-%m}", 2), answers.get("months", MONTHS_MAX)
        if not 0 <= month_index(text) - month_index(first) < months:
            last = name_month(first, months)
            raise UnclearAnswer(f"{text} is not among the months planned", f"{first} to {last}")
        return WorkLimit(deadline_month=text)
    if (budget := _read_number(re.sub(r"^(?:\$|USD)\s*|\s*USD$", "", text))) is None or budget <= 0:
        raise UnclearAnswer(f"{text} is neither an amount nor a month", f"20000, 2027-03 or {NEITHER}")
    return WorkLimit(budget_per_month=budget)


def _find_place(name: str, lands: Mapping[str, str], catalog: Catalog) -> tuple[str, str]:
    """The field of a request that has a place, and its name there."""
    near: list[str] = []
    if name.casefold() in lands:
        return "residency", lands[name.casefold()]
    for field, check in (
        ("providers", catalog.check_provider),
        ("regions", lambda each: catalog.check_region(each)[0].region),
    ):
        try:
            return field, check(name)
        except UnknownName as unknown:
            near += unknown.nearest
    nearest = find_nearest_names(name, [*near, *lands.values()]) or ("aws", "eu-central-1", "DE", "EU")
    raise UnclearAnswer(f"{name} is no provider, region, country or bloc with prices", f"one like {', '.join(nearest)}")


def _read_number(text: str) -> float | None:
    if NUMBER.fullmatch(text.strip()) is None:
        return None
    return float(re.sub(r"[,_ ]", "", text))


AnswerReader = Callable[[str, Mapping[str, Any], Catalog], Any]
"""The meaning of an answer, with those before it by name. Raises UnclearAnswer."""
READERS: dict[str, AnswerReader] = {
    "name": read_name,
    "work": read_work,
    "demand": read_demand,
    "months": read_months,
    "where": read_places,
    "limit": read_limit,
}
"""By the name of the question."""
