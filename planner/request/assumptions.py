"""Figures that no price list holds: dated defaults with their published range, replaced by name in a request."""

from __future__ import annotations

import csv
import dataclasses
import math
import re
from collections.abc import Collection, Mapping
from datetime import date
from functools import cache
from importlib import resources
from types import MappingProxyType

from planner.request.errors import InputProblem, unknown_name
from planner.result import Assumption
from pricing.exchange_rates import ExchangeRate

Assumptions = Mapping[str, Assumption]
DEFAULTS_CURRENCY = "USD"
"""What the defaults that are amounts are stated in."""
SYSTEM_FIGURES = ("price_of_", "power_kw_of_", "rack_units_of_")
"""How the names begin that replace a figure of one owned system."""


@cache
def load_defaults() -> Assumptions:
    """Every assumption by name, in the order of assumptions.csv."""
    text = resources.files("planner.request").joinpath("assumptions.csv").read_text(encoding="utf-8")
    return MappingProxyType({row["name"]: _parse_assumption(row) for row in csv.DictReader(text.splitlines())})


def convert_assumptions(base: Assumptions, rate: ExchangeRate) -> dict[str, Assumption]:
    """`base` with every amount at `rate` (from CURRENCY); the source tells what was converted, and at which rate."""
    return {
        name: _convert_assumption(each, rate) if each.unit.startswith(DEFAULTS_CURRENCY) else each
        for name, each in base.items()
    }


def _convert_assumption(each: Assumption, rate: ExchangeRate) -> Assumption:
    def times(value: float | None) -> float | None:
        return None if value is None else value * rate.value

    return dataclasses.replace(
        each,
        value=each.value * rate.value,
        unit=unit_in_currency(each.unit, rate.target),
        low=times(each.low),
        high=times(each.high),
        source=f"{each.source}; {each.value:g} {each.unit} at {rate.brief}",
    )


def unit_in_currency(unit: str, currency: str) -> str:
    """USD per kWh as EUR per kWh; a unit without an amount stays."""
    return unit.replace(DEFAULTS_CURRENCY, currency, 1) if unit.startswith(DEFAULTS_CURRENCY) else unit


def override_assumptions(base: Assumptions, values: Mapping[str, float], as_of: date) -> dict[str, Assumption]:
    """`base` with `values` in place of the defaults, marked as the asker's own on `as_of`."""
    result = dict(base)
    for name, value in values.items():
        if name not in base:
            continue  # a figure of one owned system
        source = f"given in the request; default {base[name].value:g}"
        result[name] = dataclasses.replace(base[name], value=value, source=source, as_of=as_of, overridden=True)
    return result


def validate_assumptions(
    values: Mapping[str, float], more: Collection[str] = (), currency: str = DEFAULTS_CURRENCY
) -> list[InputProblem]:
    """One complaint for each name that is not an assumption and each value outside what its unit allows.

    `more` are names that take any value above 0: prices and powers of owned systems. Amounts are in `currency`.
    """
    base = load_defaults()
    problems = []
    for name, value in values.items():
        path = f"assumptions.{name}"
        if name in more:
            if not 0 < value < math.inf:
                problems.append(InputProblem(path, path, "not a positive value", f"{value:g}", "more than 0"))
        elif name not in base:
            problems.append(unknown_name(path, name, [*base, *more], kind="assumption"))
        elif fault := find_value_problem(base[name], value, currency):
            problems.append(InputProblem(path, path, fault[0], f"{value:g}", fault[1]))
    return problems


def find_value_problem(
    assumption: Assumption, value: float, currency: str = DEFAULTS_CURRENCY
) -> tuple[str, str] | None:
    """What is wrong with a value, and what would be right (amounts in `currency`); None where nothing is."""
    unit = unit_in_currency(assumption.unit, currency)
    may_be_negative = assumption.low is not None and assumption.low < 0
    if value < 0 and not may_be_negative:
        return "negative value", f"0 or more {unit}"
    if assumption.unit.startswith("fraction") and value >= 1:
        return "not a fraction", "0 to below 1 (8 % is 0.08)"
    if value == 0 and assumption.name in MUST_BE_POSITIVE:
        return "zero value", f"more than 0 {unit}"
    if assumption.name in ("pue", "cloud_pue") and value < 1:
        return "a PUE below 1 is impossible", "1 or more"
    if assumption.unit == "months" and value != round(value):
        return "not a whole number of months", "a whole number"
    return None


MUST_BE_POSITIVE = frozenset(
    {
        "accelerators_per_staff",
        "failure_interval_accelerator_hours",
        "spot_hours_to_interruption",
        "useful_life_months",
        "deposit_fraction",
        "lease_months",
        "loan_months",
        "own_room_life_months",
        "rack_power_kw",
        "rack_units_usable",
    }
)


def _parse_assumption(row: Mapping[str, str]) -> Assumption:
    return Assumption(
        name=row["name"],
        meaning=row["meaning"],
        value=float(row["value"]),
        unit=row["unit"],
        low=float(row["low"]) if row["low"] else None,
        high=float(row["high"]) if row["high"] else None,
        source=row["source"],
        as_of=date.fromisoformat(row["as_of"]),
    )


def override_names(system: str) -> tuple[str, str, str]:
    """The names of the assumptions that replace a system's price, maximum power and height: price_of_8x_h100_server,
    power_kw_of_..., rack_units_of_..."""
    key = re.sub(r"[^a-z0-9]+", "_", system.casefold()).strip("_")
    price, power, height = (prefix + key for prefix in SYSTEM_FIGURES)
    return price, power, height
