"""What is told of owned nodes: the faults of a request about them, and the conventions that a plan counts with."""

from __future__ import annotations

from collections.abc import Iterator

from planner.request.assumptions import Assumptions, override_names
from planner.request.errors import InputProblem
from planner.request.models import Request
from planner.result.message import Message, message
from pricing.catalog.price_catalog import Catalog
from pricing.csv_tables import find_nearest_names
from pricing.errors import UnknownName

SUGGESTIONS_MAX = 12


def validate_owned_systems(request: Request, catalog: Catalog, first_month: str) -> Iterator[InputProblem]:
    """Every fault of the asker's own systems and of nodes that are owned already; the plan starts in `first_month`."""
    names_in_use = {override_names(system.name): "of the catalogue" for system in catalog.systems}
    for index, system in enumerate(request.systems):
        path = f"systems[{index}]"
        if (first := names_in_use.setdefault(override_names(system.name), path)) != path:
            expected = (
                "another name; the price of a system of the catalogue is an assumption "
                f"({_price_assumption(system.name)})"
            )
            yield _input_problem(f"{path}.name", f"the name is taken: {first}", system.name, expected)
        try:
            catalog.names.resolve(system.accelerator)
        except UnknownName as error:
            expected = f"one of {', '.join(error.nearest)}" if error.nearest else "a name of the list of accelerators"
            yield _input_problem(f"{path}.accelerator", "unknown accelerator", system.accelerator, expected)
        if system.price_as_of is not None and system.price_as_of > request.as_of:
            expected = f"a day up to that of the plan, {request.as_of}"
            yield _input_problem(f"{path}.price_as_of", "a quote of after the plan", str(system.price_as_of), expected)
    yield from _validate_existing_nodes(request, catalog, first_month)


def _price_assumption(system: str) -> str:
    return override_names(system)[0]


def _validate_existing_nodes(request: Request, catalog: Catalog, first_month: str) -> Iterator[InputProblem]:
    known = [*(system.name for system in catalog.systems), *(system.name for system in request.systems)]
    names = {name.casefold(): name for name in known}
    seen: dict[tuple[str, str], str] = {}
    for index, line in enumerate(request.existing.nodes):
        path = f"existing.nodes[{index}]"
        if line.system.casefold() not in names:
            close = find_nearest_names(line.system, names.values()) or tuple(sorted(names.values())[:SUGGESTIONS_MAX])
            yield _input_problem(f"{path}.system", "unknown system", line.system, f"one of {', '.join(close)}")
        bought = line.bought or first_month
        if bought > first_month:
            expected = f"a month up to {first_month}, the first of the plan; what is to be bought, the plan says"
            yield _input_problem(f"{path}.bought", "bought after the plan starts", bought, expected)
        if (first := seen.setdefault((line.system.casefold(), bought), path)) != path:
            expected = f"one line, with the count of this and of {first}"
            yield _input_problem(path, "the same system of one month twice", f"{line.system}, {bought}", expected)


def _input_problem(path: str, message: str, value: str, expected: str) -> InputProblem:
    return InputProblem(path, path, message, value, expected)


def owned_conventions(request: Request, assumptions: Assumptions) -> tuple[Message, ...]:
    """How owned nodes are paid for, placed, powered and disposed of."""
    a = {name: each.value for name, each in assumptions.items()}
    conventions = [
        message(
            "owned_nodes",
            payment=request.finance.hardware,
            deposit_fraction=a["deposit_fraction"],
            loan_months=a["loan_months"],
            loan_rate_annual=a["loan_rate_annual"],
            lease_months=a["lease_months"],
            lease_fraction_per_month=a["lease_fraction_per_month"],
            energy_included=request.site.energy_included,
            idle_draw_fraction=a["idle_draw_fraction"],
        )
    ]
    if a["migration_months"]:
        conventions.append(message("migration_of_owned_nodes", migration_months=a["migration_months"]))
    if request.site.facility == "colocation_per_rack":
        conventions.append(message("racks_charged_in_parts"))
    if request.site.facility == "own_room":
        conventions.append(message("own_room_annuity", life_months=a["own_room_life_months"]))
    if request.site.staff == "whole":
        conventions.append(message("operators_hired_singly"))
    if request.existing.nodes:
        conventions.append(message("existing_nodes_cost_running_only"))
    return tuple(conventions)
