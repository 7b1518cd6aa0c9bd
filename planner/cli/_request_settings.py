"""The fields of a request that options set, the place of each, and problems."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from planner.cli._default_settings import StatedDefault
from planner.cli._input_problems import option_flag
from planner.cli._mapping_files import MappingFile, read_mapping
from planner.inputs.merged_settings import merge_mappings, select_unstated
from planner.inputs.notation.numbers import parse_fraction
from planner.library.request_files import read_quota_rows
from planner.request.errors import InputProblem
from planner.request.models import SETUP_FIELDS
from pricing.frozen_values import dataclass

OptionValue = str | bool | tuple[str, ...] | None
Settings = tuple[dict[str, Any], dict[str, str], list[InputProblem]]
FIELDS = {"discount_rate": "discount_rate_annual"}
"""Options whose request field has another name."""
CALL_PRICE_FIELDS = ("input_per_million", "output_per_million", "input_tokens_per_unit", "output_tokens_per_unit")
"""What `--call-price` gives after the name of the workload, in this order."""
PARTS = {
    "risk": "risk",
    "seed": "risk.seed",
    "draws": "risk.draws",
    "reoptimise": "risk.reoptimise",
    "uncertainty": "uncertainty",
    "scenarios": "uncertainty.scenarios",
    "tail_weight": "uncertainty.tail_weight",
    "carbon_limit": "limits.carbon_kg_per_year",
    "demand_range": "uncertainty.ranges.demand_change_annual",
}
"""Options that set a field within a part of the request; the first of each part asks for it alone."""


@dataclass(frozen=True, slots=True)
class RequestDefaults:
    """Defaults of the user that a request takes: its fields, their places, problems, and the applied ones by option."""

    fields: dict[str, Any]
    places: dict[str, str]
    problems: tuple[InputProblem, ...]
    applied: dict[str, StatedDefault]

    def beneath(self, document: Mapping[str, Any]) -> dict[str, Any]:
        """The document with these where it has no value."""
        return merge_mappings(self.fields, document)


def parse_defaults(stated: Mapping[str, StatedDefault], *documents: Mapping[str, Any]) -> RequestDefaults:
    """The defaults of variables and the settings file, by option, of fields that no document has."""
    document: dict[str, Any] = {}
    places: dict[str, str] = {}
    problems: list[InputProblem] = []
    applied = {}
    for option, default in stated.items():

        def name_place(_: str, place: str = default.place) -> str:
            return place

        fields, at, faults = parse_settings({option: default.value}, name_place)
        problems += faults
        if left := select_unstated(fields, *documents):
            document = merge_mappings(document, left)
            places |= at
            applied[option] = default
    return RequestDefaults(document, places, tuple(problems), applied)


def describe_defaults(applied: Mapping[str, StatedDefault]) -> tuple[str, ...]:
    """The note of a report on defaults that are not built in; none without any."""
    by_origin: dict[str, list[str]] = {}
    for option, default in applied.items():
        value = default.value
        text = ", ".join(value) if isinstance(value, tuple) else "" if value is True else str(value)
        line = f" ({default.line})" if default.line else ""
        by_origin.setdefault(default.origin, []).append(f"{option.replace('_', ' ')} {text}".rstrip() + line)
    parts = [f"{', '.join(texts)} of {origin}" for origin, texts in by_origin.items()]
    return (f"your defaults: {'; '.join(parts)}",) if parts else ()


def parse_settings(options: Mapping[str, OptionValue], name_place: Callable[[str], str] = option_flag) -> Settings:
    """The request fields that the options set, their places, and problems. Texts are validated with the request.

    `name_place` gives the place of an option.
    """
    settings: dict[str, Any] = {}
    places: dict[str, str] = {}
    complaints: list[InputProblem] = []
    for option, value in options.items():
        if not value:
            continue
        field, place = FIELDS.get(option, option), name_place(option)
        if option == "assumptions":
            expected = "one `name: value` a line"
            read = read_mapping(str(value), "assumptions", place, expected, prefix="assumptions.")
            settings[field] = read.values
            places |= read.places
            complaints += read.problems
        elif option == "setup":
            read = _read_setup(str(value), place)
            settings |= {name: _merge_part(part, settings.get(name)) for name, part in read.values.items()}
            places |= read.places
            complaints += read.problems
            continue
        elif option == "call_price" and isinstance(value, tuple):
            field = "call_prices"
            settings[field], faults = _read_call_prices(value)
            complaints += faults
        elif option == "quotas":
            settings[field], faults = read_quota_rows(Path(str(value)))
            complaints += faults
        elif option in PARTS:
            field = PARTS[option]
            complaints += _set_part(settings, field, value)
        elif option == "no_estimates":
            field = "allow_estimates"
            settings[field] = False
        elif isinstance(value, tuple):
            settings[field] = [part.strip() for text in value for part in text.split(",") if part.strip()]
        else:
            settings[field] = value
            if option == "discount_rate" and "%" in str(value) and (rate := parse_fraction(str(value))) is not None:
                settings[field] = rate  # 8% as 0.08; other texts are validated with the request
        places[field] = place
    return settings, places, complaints


def _set_part(settings: dict[str, Any], field: str, value: OptionValue) -> list[InputProblem]:
    """Sets a field within a part of the request, a flag the part itself; the problems of its text."""
    *above, name = field.split(".")
    for part in above:
        settings = settings.setdefault(part, {})
    if value is True:
        settings.setdefault(name, {})
    elif name == "demand_change_annual":
        ends = [parse_fraction(end) for end in str(value).split(",")]
        if len(ends) != 2 or None in ends:
            expected = "the lowest and the highest change a year, such as -20%,50%"
            return [InputProblem(field, option_flag("demand_range"), "not a range", str(value), expected)]
        settings[name] = dict(zip(("low", "high"), ends, strict=True))
    else:
        settings[name] = parse_fraction(value) if isinstance(value, str) and value.endswith("%") else value
    return []


def _merge_part(part: Any, option: Any) -> Any:
    """A part of a setup file, with what options say of it over it."""
    if isinstance(part, Mapping) and isinstance(option, Mapping):
        return merge_mappings(part, option)
    return part if option is None else option


def _read_call_prices(texts: Sequence[str]) -> tuple[list[dict[str, Any]], list[InputProblem]]:
    """Prices per million tokens from texts such as chat=0.5,1.5,800,200; amounts are validated with the request."""
    prices, faults = [], []
    for index, text in enumerate(texts):
        workload, _, amounts = text.rpartition("=")
        values = [part.strip() for part in amounts.split(",")]
        if not workload.strip() or len(values) not in (2, len(CALL_PRICE_FIELDS)):
            expected = "a workload with its prices of a million input and output tokens, such as chat=0.5,1.5, and the"
            expected += " tokens of one work unit if these are not given otherwise, such as chat=0.5,1.5,800,200"
            faults.append(
                InputProblem(f"call_prices[{index}]", option_flag("call_price"), "not call prices", text, expected)
            )
            continue
        prices.append({"workload": workload.strip(), **dict(zip(CALL_PRICE_FIELDS, values, strict=False))})
    return prices, faults


def _read_setup(path: str, place: str) -> MappingFile:
    """The parts of a request that a spreadsheet cannot express: existing hardware, quotes, site, finance and limits."""
    expected = f"some of {', '.join(SETUP_FIELDS)}"
    read = read_mapping(path, "setup", place, expected)
    unknown = sorted(set(read.values) - set(SETUP_FIELDS))
    faults = [
        InputProblem(name, read.places.get(name, path), "not a part of a setup", name, expected) for name in unknown
    ]
    parts = {name: part for name, part in read.values.items() if name in SETUP_FIELDS}
    return MappingFile(parts, read.places, (*read.problems, *faults))
