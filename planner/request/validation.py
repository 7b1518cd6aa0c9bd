"""Validation of a request that needs no catalogue: months, dates, and statements that contradict each other."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from planner.request.assumptions import DEFAULTS_CURRENCY, Assumptions, find_value_problem, load_defaults
from planner.request.calendar import month_names, monthly_values, resolve_deadline
from planner.request.errors import InputProblem, unknown_name
from planner.request.field_types import MONTHS_MAX
from planner.request.models import DEMAND_KINDS, Request, Workload
from pricing.units import HOURS_PER_MONTH

ACCELERATORS_MAX = 10_000_000
"""Of one workload: more than any cloud has."""
SECONDS_PER_HOUR = 3600

LEVELS = {"demand_change_annual": 0.0, "throughput_level": 1.0, "hardware_price_level": 1.0}
"""Planned values of the uncertain figures that are no assumptions."""
CHANGE_MAX = 100.0
"""Times as much: more in a year is a slip of the pen."""

DISAGGREGATED_MAX = 8
"""Accelerators of a replica with prefill and decode apart: those of one node."""


def validate_form(request: Request) -> Iterator[InputProblem]:
    """Every problem of a request that shows without prices and names."""
    names = month_names(request)
    yield from _validate_quote_dates(request)
    yield from _validate_existing_nodes(request, names[0])
    yield from _validate_existing_commitments(request)
    yield from _validate_uncertain_ranges(request)
    yield from _validate_carbon(request)
    yield from _validate_call_prices(request)
    for index, workload in enumerate(request.workloads):
        yield from _validate_months(f"workloads[{index}].demand", workload, names)
        yield from _validate_consistency(f"workloads[{index}]", workload)
        yield from _validate_size(f"workloads[{index}].demand", workload)
        yield from _validate_serving(f"workloads[{index}]", workload)


def _validate_serving(path: str, workload: Workload) -> Iterator[InputProblem]:
    """What a service lacks or contradicts; and a service without lengths, whose rate would be of one stream."""
    network, demand = workload.network, workload.demand
    if workload.serving is None:
        states_streams = network is not None and "batch_per_device" in network.model_fields_set
        described = network is not None and not workload.measurements
        if demand.requests_per_second is not None and described and not states_streams:
            expected = "serving: {input_tokens, output_tokens, ttft_ms, tpot_ms}; or a measurement under load; or "
            expected += "network.batch_per_device: 1 if each copy really serves one request at a time"
            at = f"{path}.serving"
            yield InputProblem(at, at, "requests a second of a described model, without their lengths", "", expected)
        return
    for field, is_wrong, why, expected in (
        ("network", network is None, "a service needs its model", "network: {model: llama-3-70b, precision: fp8}"),
        ("network.run", network is not None and network.run != "inference", "a service runs inference", "inference"),
        ("kind", workload.kind not in ("inference", "interactive"), "a service is no job", "inference or interactive"),
        ("demand", demand.requests_per_second is None, "arrivals are missing", "requests_per_second"),
        ("demand.units_per_request", demand.units_per_request != 1, "a service counts requests", "leave it out"),
        ("unit", workload.unit.casefold() not in ("", "requests"), "a service counts requests", "requests"),
        ("measurements", bool(workload.measurements), "rates of a service are measured with their concurrency",
         "serving.measured"),
        ("gang", workload.gang is not None and not workload.gang.is_integer(), "a replica has whole accelerators",
         "a whole number"),
    ):  # fmt: skip
        if is_wrong:
            yield InputProblem(f"{path}.{field}", f"{path}.{field}", why, "", expected)
    apart, gang = workload.serving.disaggregation, workload.gang
    if apart is not None and not apart.prefill_accelerators < (gang or 0) <= DISAGGREGATED_MAX:
        at, read = f"{path}.gang", "" if gang is None else f"{gang:g}"
        expected = f"accelerators of the measured replica, {apart.prefill_accelerators + 1} to {DISAGGREGATED_MAX}"
        yield InputProblem(at, at, "serving.disaggregation is of one size of replica", read, expected)
    if workload.serving.mixed_accelerators:
        at = f"{path}.serving.mixed_accelerators"
        for field in ("budget_per_month", "recovery"):
            if getattr(workload, field) is not None:
                yield InputProblem(at, at, f"parts of a service cannot share its {field}", "", f"no {field}, or false")


def _validate_carbon(request: Request) -> Iterator[InputProblem]:
    """A limit on carbon needs the grid of nodes that are there and draw in any case."""
    if request.limits.carbon_kg_per_year is None or request.site.grid_gco2e_per_kwh is not None:
        return
    if request.existing.nodes:
        path, expected = "site.grid_gco2e_per_kwh", "g CO2e per kWh of the site of existing.nodes"
        yield InputProblem(path, path, "limits.carbon_kg_per_year needs it", "", expected)


def _validate_call_prices(request: Request) -> Iterator[InputProblem]:
    """Each is for a workload of the request whose work can be counted in tokens."""
    workloads = {workload.name: workload for workload in request.workloads}
    for index, price in enumerate(request.call_prices):
        path = f"call_prices[{index}]"
        if price.workload not in workloads:
            yield unknown_name(f"{path}.workload", price.workload, list(workloads))
            continue
        serving, unit = workloads[price.workload].serving, workloads[price.workload].unit
        if serving is not None and serving.mixed_accelerators:
            yield InputProblem(path, path, "the service may be planned in parts", price.workload,
                               "serving.mixed_accelerators: false")  # fmt: skip
        if price.output_tokens_per_unit is None and "token" not in unit.casefold():
            at = f"{path}.output_tokens_per_unit"
            expected = f"the tokens of one work unit of {price.workload}, which is counted in {unit or 'units'}"
            yield InputProblem(at, at, "not stated", "", expected)


def _validate_quote_dates(request: Request) -> Iterator[InputProblem]:
    for index, system in enumerate(request.systems):
        if system.price_as_of is not None and system.price_as_of > request.as_of:
            path = f"systems[{index}].price_as_of"
            expected = f"a day up to that of the plan, {request.as_of}"
            yield InputProblem(path, path, "the quote is dated after the plan", str(system.price_as_of), expected)


def _validate_existing_nodes(request: Request, first_month: str) -> Iterator[InputProblem]:
    first_lines: dict[tuple[str, str], str] = {}
    for index, line in enumerate(request.existing.nodes):
        path = f"existing.nodes[{index}]"
        bought = line.bought or first_month
        if bought > first_month:
            at = f"{path}.bought"
            expected = f"a month up to {first_month}, the first of the plan; the plan says what to buy later"
            yield InputProblem(at, at, "bought after the plan starts", bought, expected)
        if (first := first_lines.setdefault((line.system.casefold(), bought), path)) != path:
            expected = f"one line, with the count of this and of {first}"
            value = f"{line.system}, {bought}"
            yield InputProblem(path, path, "the same system and month of purchase twice", value, expected)


def _validate_existing_commitments(request: Request) -> Iterator[InputProblem]:
    first_lines: dict[tuple[str, ...], str] = {}
    for index, line in enumerate(request.existing.commitments):
        path = f"existing.commitments[{index}]"
        key = (line.provider, line.region, line.instance_type, line.purchase_option, line.ends)
        if (first := first_lines.setdefault(key, path)) != path:
            expected = f"one line, with the count of this and of {first}"
            yield InputProblem(path, path, "the same commitment twice", " ".join(key), expected)


def _validate_uncertain_ranges(request: Request) -> Iterator[InputProblem]:
    """Ranges with an impossible end, or without the planned value."""
    if request.uncertainty is None or not request.uncertainty.ranges:
        return
    known = load_defaults()
    for name, ends in request.uncertainty.ranges.items():
        path, text = f"uncertainty.ranges.{name}", f"{ends.low:g} to {ends.high:g}"
        planned = request.assumptions.get(name, known[name].value) if name in known else LEVELS[name]
        if fault := _find_impossible_end(name, (ends.low, ends.high), known):
            yield InputProblem(path, path, fault[0], text, fault[1])
        elif not ends.low <= planned <= ends.high:
            yield InputProblem(path, path, "the planned value is outside the range", text, f"a range with {planned:g}")


def _find_impossible_end(name: str, ends: tuple[float, float], known: Assumptions) -> tuple[str, str] | None:
    """What is wrong with an end of a range, and what would be right."""
    if name in known and (fault := next(filter(None, (find_value_problem(known[name], end) for end in ends)), None)):
        return fault
    least = -1.0 if name.endswith("_change_annual") else -math.inf if name in known else 0.0
    if ends[0] <= least or (math.isfinite(least) and ends[1] > CHANGE_MAX):
        return "impossible values", f"above {least:g} and at most {CHANGE_MAX:g}"
    return None


def _validate_months(path: str, workload: Workload, names: tuple[str, ...]) -> Iterator[InputProblem]:
    demand = workload.demand
    if demand.deadline_month is not None:
        if resolve_deadline(demand, names) is None:
            at = f"{path}.deadline_month"
            expected = f"1 to {len(names)} or {names[0]} to {names[-1]}, or more months (at most {MONTHS_MAX})"
            yield InputProblem(at, at, "deadline outside the plan", str(demand.deadline_month), expected)
        return
    try:
        values = monthly_values(demand, names)
    except KeyError as missing:
        at = f"{path}.{next(name for name in DEMAND_KINDS if getattr(demand, name) is not None)}"
        yield InputProblem(at, at, f"no value for {missing.args[0]}", "", "a value for every month, or fewer months")
        return
    if not any(values):
        yield InputProblem(path, path, "no demand in any month of the plan", "0", "at least one month above 0")


def _validate_size(path: str, workload: Workload) -> Iterator[InputProblem]:
    """Work for more accelerators than anybody has: a unit that was mistaken, or a zero too many."""
    demand = workload.demand
    name = next(name for name in DEMAND_KINDS if getattr(demand, name) is not None)
    stated = getattr(demand, name)
    values = stated.values() if isinstance(stated, Mapping) else stated if isinstance(stated, list) else [stated]
    per_hour = max((m.job_units_per_hour / m.count for m in workload.measurements), default=0.0)
    hours_of_one = {
        "accelerator_hours_per_month": 1 / HOURS_PER_MONTH,
        "requests_per_second": demand.units_per_request * SECONDS_PER_HOUR / per_hour if per_hour else 0.0,
    }.get(name, 1 / per_hour / HOURS_PER_MONTH if per_hour else 0.0)
    accelerators = max(values, default=0.0) * hours_of_one
    if accelerators > ACCELERATORS_MAX:
        at = f"{path}.{name}"
        text = f"takes about {float(format(accelerators, '.2g')):,.0f} accelerators around the clock"
        expected = f"work for at most {ACCELERATORS_MAX:,.0f}: check the unit and the number of zeros"
        yield InputProblem(at, at, text, f"{max(values):g}", expected)


def _validate_consistency(path: str, workload: Workload) -> Iterator[InputProblem]:
    by_hours = workload.demand.accelerator_hours_per_month is not None
    if not by_hours and not workload.measurements and workload.network is None:
        at = f"{path}.measurements"
        expected = "a measured throughput on at least one accelerator, demand in accelerator-hours, or a network"
        yield InputProblem(at, at, "work without a measured throughput", "", expected)
    first_measurements: dict[tuple[str, float], int] = {}
    for index, measurement in enumerate(workload.measurements):
        key = (measurement.accelerator.casefold(), measurement.count)
        if first_measurements.setdefault(key, index) != index:
            at = f"{path}.measurements[{index}]"
            text = f"a second measurement on {measurement.count:g} x {measurement.accelerator}"
            yield InputProblem(at, at, text, "", "one measurement for each accelerator and count")
    if workload.memory_gib_per_accelerator and workload.memory_gib_total:
        at = f"{path}.memory_gib_total"
        yield InputProblem(
            at, at, "two statements of the memory needed", "", "memory_gib_per_accelerator or memory_gib_total"
        )


def validate_currency_override(
    document: Mapping[str, Any], settings: Mapping[str, Any], place: str
) -> list[InputProblem]:
    """A problem where `settings`, which win, would turn amounts that `document` gives in a currency into another's."""
    stated, setting = document.get("currency"), settings.get("currency")
    if not (stated and setting) or stated == setting or not (amounts := list_amounts(document)):
        return []
    expected = f"the currency of the amounts, {stated}, or the amounts in {setting}: {', '.join(amounts)}"
    return [InputProblem("currency", place, f"the amounts of the request are in {stated}", str(setting), expected)]


def list_amounts(document: Mapping[str, Any]) -> list[str]:
    """The paths of all amounts of money that a document states, in its order: fields that the schema says are money,
    and assumptions in money."""
    schema = Request.model_json_schema()
    return [*_find_money(document, schema, schema.get("$defs", {}), ""), *_list_money_assumptions(document)]


def _find_money(value: Any, schema: Mapping[str, Any], definitions: Mapping[str, Any], path: str) -> Iterator[str]:
    """The paths at or below `path` whose schema, or one of its alternatives, is money."""
    if "$ref" in schema:
        schema = definitions[schema["$ref"].rpartition("/")[2]]
    if schema.get("x-money") and isinstance(value, int | float):
        yield path
    for alternative in (*schema.get("anyOf", ()), *schema.get("allOf", ())):
        yield from _find_money(value, alternative, definitions, path)
    if isinstance(value, Mapping):
        for name, inner in schema.get("properties", {}).items():
            if value.get(name) is not None:
                yield from _find_money(value[name], inner, definitions, f"{path}.{name}".lstrip("."))
    elif isinstance(value, list | tuple) and "items" in schema:
        for index, each in enumerate(value):
            yield from _find_money(each, schema["items"], definitions, f"{path}[{index}]")


def _list_money_assumptions(document: Mapping[str, Any]) -> Iterator[str]:
    given, known = document.get("assumptions"), load_defaults()
    for name in given if isinstance(given, Mapping) else ():
        unit = known[name].unit if name in known else ""
        if unit.startswith(DEFAULTS_CURRENCY) or str(name).startswith("price_of_"):
            yield f"assumptions.{name}"
