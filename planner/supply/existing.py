"""Existing capacity: running commitments and owned nodes. Their use is free, and their remaining costs are paid in
every plan."""

from __future__ import annotations

from collections.abc import Iterator

from planner.finance.cashflow import Terms
from planner.request.assumptions import Assumptions
from planner.request.calendar import month_index
from planner.request.errors import InputProblem, unknown_name
from planner.request.models import Request
from planner.request.ownership import LiveCommitment
from planner.result import EXISTING_SUFFIX, Gap
from planner.result.message import message
from planner.supply import onprem
from planner.supply.price_rules import last_month, plan_start
from planner.supply.purchase_options import load_purchase_options
from planner.supply.resources import EXISTING_KEY, ExistingCapacity, Resource
from pricing.catalog.price_catalog import Catalog
from pricing.catalog.quotes import Quote
from pricing.price import Price, parse_purchase_option

REQUEST_SOURCE = "request"


def list_existing_resources(
    request: Request, catalog: Catalog, assumptions: Assumptions, terms: Terms, month_names: tuple[str, ...]
) -> tuple[tuple[Resource, ...], tuple[Gap, ...]]:
    """All existing capacity, and a gap for each part that cannot be used or counted."""
    nodes, gaps = list_owned_nodes(request, catalog, assumptions, terms, month_names)
    return (*list_commitments(request, catalog, month_names), *nodes), gaps


def list_commitments(request: Request, catalog: Catalog, month_names: tuple[str, ...]) -> tuple[Resource, ...]:
    """The commitments that still cover a month of the plan; their fees fall at the end of each month they cover."""
    resources = []
    for line in request.existing.commitments:
        covered = _remaining_months(line, month_names)
        if covered:
            resources.append(_commitment_resource(line, covered, request, catalog))
    return tuple(resources)


def list_owned_nodes(
    request: Request, catalog: Catalog, assumptions: Assumptions, terms: Terms, month_names: tuple[str, ...]
) -> tuple[tuple[Resource, ...], tuple[Gap, ...]]:
    """Nodes that are owned and within their life, and a gap for each that cannot be used."""
    systems = {system.name.casefold(): system for system in onprem.list_systems(catalog, request)}
    resources, gaps = [], []
    for line in request.existing.nodes:
        system = systems[line.system.casefold()]
        node, about = onprem.build_node(system, catalog, assumptions, request, is_there=True)
        gaps += about
        age = max(0, month_index(month_names[0]) - month_index(line.bought or month_names[0]))
        life = round(assumptions["useful_life_months"].value) - age
        covers = range(1, min(life, terms.months) + 1)
        if node is None or not covers:
            if node is not None:
                effect = message("past_useful_life", age_months=age, useful_life_months=age + life)
                gaps.append(Gap("not_planned", f"{system.name}{EXISTING_SUFFIX}", effect))
            continue
        key = (EXISTING_KEY, node.name, line.bought or "")
        capacity = ExistingCapacity(line.count, covers, age, counts_value=request.existing_value == "market")
        resources.append(Resource(key, "owned", node.accelerator, node.accelerators, node=node, held=capacity))
    return tuple(resources), tuple(gaps)


def _remaining_months(line: LiveCommitment, month_names: tuple[str, ...]) -> range:
    """The months of the plan up to the one it ends in."""
    return range(1, sum(name <= line.ends for name in month_names) + 1)


def _commitment_resource(line: LiveCommitment, covered: range, request: Request, catalog: Catalog) -> Resource:
    offering = catalog.offerings[line.provider, line.instance_type]
    option = parse_purchase_option(line.purchase_option)
    assert option is not None
    price = Price(
        line.provider, line.region, line.instance_type, line.purchase_option, *option, 0.0, request.currency,
        request.as_of, REQUEST_SOURCE, "listed", "runs already",
    )  # fmt: skip
    accelerator = catalog.names.by_name[offering.accelerator]
    quote = Quote(offering, price, accelerator, 0, catalog.sale_term(price))
    return Resource(
        (EXISTING_KEY, line.provider, line.region, line.instance_type, line.purchase_option, line.ends),
        "commitment",
        offering.accelerator,
        offering.accelerator_count or 0,
        quote=quote,
        held=ExistingCapacity(line.count, covered, fee_per_month=line.fee_per_month),
        last_month=last_month(quote, plan_start(request), request.months),
    )


def validate_existing(request: Request, catalog: Catalog) -> Iterator[InputProblem]:
    """Unknown names and purchase options of existing commitments, and unknown regions of workloads' data and of
    stated grids."""
    for index, line in enumerate(request.existing.commitments):
        path = f"existing.commitments[{index}]"
        if line.provider not in catalog.providers:
            yield unknown_name(f"{path}.provider", line.provider, catalog.providers)
            continue
        regions = [region for provider, region in catalog.regions if provider == line.provider]
        if line.region not in regions:
            yield unknown_name(f"{path}.region", line.region, regions)
        types = [name for provider, name in catalog.offerings if provider == line.provider]
        if line.instance_type not in types:
            yield unknown_name(f"{path}.instance_type", line.instance_type, types)
        yield from _validate_option(f"{path}.purchase_option", line.purchase_option)
    for place in request.grid_gco2e_per_kwh:
        yield from validate_place(f"grid_gco2e_per_kwh.{place}", place, catalog)
    for index, workload in enumerate(request.workloads):
        if workload.data_region is not None:
            yield from validate_place(f"workloads[{index}].data_region", workload.data_region, catalog)


def _validate_option(path: str, written: str) -> Iterator[InputProblem]:
    option = parse_purchase_option(written)
    known = [name for name, each in load_purchase_options().items() if each.COMMITS and each.UNIT == "node"]
    if option is None or option.kind not in known:
        expected = f"a commitment to nodes ({', '.join(known)}), such as reserved_1y_no_upfront"
        yield InputProblem(path, path, "no such commitment", written, expected)


def validate_place(path: str, written: str, catalog: Catalog) -> Iterator[InputProblem]:
    """A problem where a provider and region (aws us-east-1) are none of the catalogue."""
    provider, _, region = written.partition(" ")
    if (provider, region) not in catalog.regions:
        yield unknown_name(path, written, [f"{known} {place}" for known, place in catalog.regions])
