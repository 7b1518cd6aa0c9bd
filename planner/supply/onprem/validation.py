"""Owned nodes: the problems of a request about them, and the conventions by which a plan counts them."""

from __future__ import annotations

from collections.abc import Iterator

from planner.request.assumptions import Assumptions, override_names
from planner.request.errors import InputProblem, unknown_name
from planner.request.models import Request
from planner.result.message import Message, message
from pricing.catalog.price_catalog import Catalog
from pricing.errors import UnknownName


def validate_owned_systems(request: Request, catalog: Catalog) -> Iterator[InputProblem]:
    """Problems of the request's own systems and of existing nodes that show with the catalogue's names."""
    names_in_use = {override_names(system.name): "of the catalogue" for system in catalog.systems}
    for index, system in enumerate(request.systems):
        path = f"systems[{index}]"
        if (first := names_in_use.setdefault(override_names(system.name), path)) != path:
            at, price = f"{path}.name", override_names(system.name)[0]
            expected = f"another name; the price of a system of the catalogue is an assumption ({price})"
            yield InputProblem(at, at, f"the name is taken: {first}", system.name, expected)
        try:
            catalog.names.resolve(system.accelerator)
        except UnknownName as error:
            hint = "a name of the list of accelerators"
            yield unknown_name(f"{path}.accelerator", system.accelerator, nearest=error.nearest, hint=hint)
    known = [*(system.name for system in catalog.systems), *(system.name for system in request.systems)]
    spelled = {name.casefold() for name in known}
    for index, line in enumerate(request.existing.nodes):
        if line.system.casefold() not in spelled:
            yield unknown_name(f"existing.nodes[{index}].system", line.system, known)


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
        conventions.append(message("existing_nodes_value", existing_value=request.existing_value))
    return tuple(conventions)
