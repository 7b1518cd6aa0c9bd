"""The types that fields of a request are made of. Every model refuses names it does not know."""

from __future__ import annotations

import re
from datetime import date
from typing import Annotated, Any, ClassVar, Literal, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    WithJsonSchema,
    model_validator,
)

from pricing.exchange_rates import is_currency_code

MONTHS_MAX = 120
HOURS_IN_SHAPE = (24, 168)

Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]
LongText = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=100_000)]
YearMonth = Annotated[str, StringConstraints(pattern=r"^\d{4}-(0[1-9]|1[0-2])$")]
Amount = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
IS_MONEY = {"x-money": True}
"""In the schema of a field: an amount of money in the request's `currency`."""
Money = Annotated[float, Field(ge=0, allow_inf_nan=False, json_schema_extra=IS_MONEY)]
PositiveMoney = Annotated[float, Field(gt=0, allow_inf_nan=False, json_schema_extra=IS_MONEY)]
Fraction = Annotated[float, Field(ge=0, le=1)]
Precision = Literal["fp32", "tf32", "fp16", "bf16", "fp8", "fp4"]
MonthlyAmounts = (
    Positive | dict[YearMonth, Amount] | Annotated[list[Amount], Field(min_length=1, max_length=MONTHS_MAX)]
)
"""One value for every month, one per calendar month (2026-12), or a list from the first month of the plan on."""


def _require_hour_profile(values: list[float]) -> list[float]:
    if len(values) not in HOURS_IN_SHAPE:
        raise ValueError(f"a daily shape has 24 values (hours of a day) or 168 (hours of a week), not {len(values)}")
    if sum(values) <= 0:
        raise ValueError("a daily shape needs at least one value above 0")
    return values


DailyShape = (
    Literal["flat", "business_hours", "day_and_evening"]
    | Annotated[list[Amount], AfterValidator(_require_hour_profile)]
)
"""Relative level by hour: flat; business_hours (Monday to Friday, 09 to 18, nothing else); day_and_evening (08 to 23
daily at 1, else 0.3); or 24 or 168 relative values, the week starting on Monday at midnight."""


def _require_written_date(value: object) -> object:
    """A bare number would be read as seconds since 1970."""
    if isinstance(value, int | float) or (
        isinstance(value, str) and not re.fullmatch(r"\s*\d{4}-\d{2}-\d{2}\s*", value)
    ):
        raise ValueError("expected a date such as 2026-11-21")
    return value


Date = Annotated[date, BeforeValidator(_require_written_date)]
FIRST_DATE = date(2000, 1, 1)
LAST_YEAR = 2199
"""Of plans: other years are slips of the keyboard, and months of years of five digits have no name."""
Day = TypeVar("Day", date, str)


def _require_planned_year(day: Day) -> Day:
    if not FIRST_DATE.year <= int(str(day)[:4]) <= LAST_YEAR:
        raise ValueError(f"outside the years of plans, {FIRST_DATE.year} to {LAST_YEAR}")
    return day


PlanDate = Annotated[Date, AfterValidator(_require_planned_year)]
PlanMonth = Annotated[YearMonth, AfterValidator(_require_planned_year)]


def _require_currency_code(text: str) -> str:
    if not is_currency_code(text):
        raise ValueError("expected a currency code of three capitals such as EUR")
    return text


Currency = Annotated[
    str, AfterValidator(_require_currency_code), WithJsonSchema({"type": "string", "pattern": "^[A-Z]{3}$"})
]
"""ISO 4217. Whether there is a rate to it is judged with the catalogue."""


class RequestModel(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, str_strip_whitespace=True, defer_build=True)


class DescribedByFile(RequestModel):
    """A part of a request that a file may describe instead, in the field FILE_FIELD: only commands read files."""

    FILE_FIELD: ClassVar[str]
    FILE_MEANING: ClassVar[str]
    """What the file is, as editors show it."""
    WRITTEN_OUT: ClassVar[str]
    """What is expected where no file is read."""

    @model_validator(mode="before")
    @classmethod
    def _is_written_out(cls, value: Any) -> Any:
        if isinstance(value, dict) and cls.FILE_FIELD in value:
            raise ValueError(f"{cls.WRITTEN_OUT} written out; only commands read a file that is named here")
        return value
