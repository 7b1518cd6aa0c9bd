"""Systems that can be owned: those of the catalogue and those of the request, with all values that a plan needs.

A system with a missing value is left out with a gap that names the value.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import field, replace
from datetime import date

from planner.request.assumptions import Assumptions, override_names
from planner.request.models import Request
from planner.request.ownership import Finance, OwnSystem, Site
from planner.result import EXISTING_SUFFIX, Assumption, Gap
from planner.result.message import Message, message
from pricing.accelerator import Accelerator
from pricing.catalog.adjusted_prices import AdjustedCatalog
from pricing.catalog.price_catalog import Catalog
from pricing.frozen_values import dataclass
from pricing.systems import ServerSystem

GEFORCE_LICENCE = "https://www.nvidia.com/en-us/drivers/geforce-license/"
"""NVIDIA's licence of GeForce and Titan software does not cover data centres (read 2026-11-21)."""


@dataclass(frozen=True, slots=True)
class OwnedNode:
    """An owned system with all values that a plan needs. Powers in kW at the wall of the server, money in the plan's
    currency; the `price` is 0 where that of an existing system is unknown."""

    name: str
    accelerator: str
    accelerators: int
    price: float
    price_as_of: date
    source: str
    max_power_kw: float
    power_basis: str
    rack_units: float | None = None
    site: Site = field(default_factory=Site)
    finance: Finance = field(default_factory=Finance)


def buyable_nodes(
    catalog: Catalog, assumptions: Assumptions, request: Request
) -> tuple[tuple[OwnedNode, ...], tuple[Gap, ...]]:
    """The systems that can be purchased, at the request's price and power if any, and a gap for each that cannot."""
    buyable = []
    gaps = list(_renamed_gaps(request, catalog))
    for system in list_systems(catalog, request):
        node, about = build_node(system, catalog, assumptions, request)
        gaps += about
        if node is not None:
            buyable.append(node)
    return tuple(buyable), tuple(gaps)


def list_systems(catalog: Catalog, request: Request) -> tuple[ServerSystem, ...]:
    """The systems of the catalogue and of the request, with the values that the request overrides."""
    quoted = (_quoted_system(system, catalog, request) for system in request.systems)
    return tuple(_with_overrides(system, request) for system in (*catalog.systems, *quoted))


def build_node(
    system: ServerSystem, catalog: Catalog, assumptions: Assumptions, request: Request, is_there: bool = False
) -> tuple[OwnedNode | None, list[Gap]]:
    """The system as a node, or None where it cannot be planned; with what is missing or estimated.

    An existing system (`is_there`) need not be for sale, nor have a current price.
    """
    power, ratio = _maximum_power(system, catalog, assumptions, request.allow_estimates)
    title = _system_title(system, is_there)
    obstacle = None if is_there else _purchase_obstacle(system, assumptions, request.as_of)
    if obstacle is not None:
        return None, [Gap(obstacle[0], title, obstacle[1])]
    if power is None:
        return None, [Gap("no_specification", title, message("owned_power_unknown"))]
    height = _height_basis(system, power, assumptions, request)
    if height == HEIGHT_UNKNOWN and not is_there:
        effect = message("owned_height_unknown", assumption=override_names(system.name)[2])
        return None, [Gap("no_specification", title, effect)]
    basis = "" if ratio is None else f"estimated as {ratio:g} x that of its accelerators"
    node = OwnedNode(
        system.name, system.accelerator, system.accelerator_count, system.price or 0.0,
        system.price_as_of or request.as_of, system.source, power, basis, system.rack_units, request.site,
        request.finance,
    )  # fmt: skip
    gaps = []
    if ratio is not None:
        effect = message("owned_power_estimated", power_kw=power, times_accelerator_power=ratio)
        gaps.append(Gap("estimated", system.name, effect))
    if height:
        gaps.append(Gap("estimated", title, message("rack_counted_by_power")))
    if not node.price:
        gaps.append(Gap("no_price", title, message("existing_price_unknown")))
    return node, [*gaps, *_limited_use_gaps(system.name, catalog.names.by_name.get(system.accelerator))]


def _system_title(system: ServerSystem, is_there: bool) -> str:
    return f"{system.name}{EXISTING_SUFFIX}" if is_there else system.name


def _purchase_obstacle(system: ServerSystem, assumptions: Assumptions, as_of: date) -> tuple[str, Message] | None:
    """The kind of gap and the reason why a system cannot be purchased; None where it can."""
    if system.sold is False:
        return "not_planned", message("owned_system_not_sold")
    if system.price is None or system.price_as_of is None:
        return "no_price", message("owned_price_unknown")
    if system.price_as_of > as_of:
        return "no_price", message("owned_price_newer", as_of=system.price_as_of)
    max_age = assumptions["owned_price_max_age_years"].value
    if (as_of - system.price_as_of).days > max_age * 366:
        return "old_price", message("owned_price_outdated", as_of=system.price_as_of, max_age_years=max_age)
    return None


HEIGHT_UNKNOWN, HEIGHT_BY_POWER = "unknown", "by power"


def _height_basis(system: ServerSystem, power_kw: float, assumptions: Assumptions, request: Request) -> str:
    """Empty where the height is known or no rack is counted; by power where the power alone fills a rack."""
    if not _counts_racks(request) or system.rack_units is not None:
        return ""
    return HEIGHT_BY_POWER if power_kw >= assumptions["rack_power_kw"].value else HEIGHT_UNKNOWN


def _counts_racks(request: Request) -> bool:
    return request.site.facility == "colocation_per_rack" or request.limits.owned_racks is not None


def _maximum_power(
    system: ServerSystem, catalog: Catalog, assumptions: Assumptions, allow_estimates: bool
) -> tuple[float | None, float | None]:
    """Maximum power in kW (None: unknown) and, where it is estimated, its ratio to the power of the accelerators."""
    if system.max_power_kw is not None:
        return system.max_power_kw, None
    part = catalog.names.by_name.get(system.accelerator)
    if part is None or part.tdp_w is None or not allow_estimates:
        return None, None
    ratio = assumptions["server_power_over_accelerator_power"].value
    return part.tdp_w * system.accelerator_count / 1000 * ratio, ratio


def _limited_use_gaps(name: str, part: Accelerator | None) -> Iterator[Gap]:
    """Limits of cards that are not made for data centres, as far as the table of accelerators has them."""
    if part is None:
        return
    if part.ecc is False:
        yield Gap("limited_use", name, message("memory_without_ecc", accelerator=part.name))
    if part.vendor == "NVIDIA" and (part.device_class == "consumer" or part.model.startswith("TITAN")):
        yield Gap("limited_use", name, message("driver_licence_excludes_data_centres", url=GEFORCE_LICENCE))


def _renamed_gaps(request: Request, catalog: Catalog) -> Iterator[Gap]:
    """Own systems whose accelerator was written in short and has other variants."""
    for system in request.systems:
        part = catalog.names.resolve(system.accelerator)
        others = [other.name for other in catalog.names.siblings(part)]
        if system.accelerator != part.name and others:
            effect = message(
                "system_accelerator_read_as", written=system.accelerator, accelerator=part.name, other_variants=others
            )
            yield Gap("renamed", system.name, effect)


def _quoted_system(system: OwnSystem, catalog: Catalog, request: Request) -> ServerSystem:
    part = catalog.names.resolve(system.accelerator).name
    return ServerSystem(
        system.name, part, system.accelerators, system.max_power_kw, system.rack_units, system.price, request.currency,
        system.price_as_of or request.as_of, system.source, "", True,
    )  # fmt: skip


def _with_overrides(system: ServerSystem, request: Request) -> ServerSystem:
    """The system with the request's price, power and height. A system with a quoted price is for sale."""
    quoted, power_kw, rack_units = (request.assumptions.get(name) for name in override_names(system.name))
    if quoted is not None:
        system = replace(system, price=quoted, price_as_of=request.as_of, source="given in the request", sold=True)
    if power_kw is not None:
        system = replace(system, max_power_kw=power_kw)
    return system if rack_units is None else replace(system, rack_units=rack_units)


def node_assumptions(planned_nodes: Iterable[OwnedNode], request: Request, catalog: Catalog) -> tuple[Assumption, ...]:
    """Price, power and height of every system planned, once each, as figures that a reader can see and
    replace."""
    rows = []
    listed = catalog.list_prices if isinstance(catalog, AdjustedCatalog) else {}
    for node in {node.name: node for node in planned_nodes}.values():
        price, power, height = override_names(node.name)
        paid = "; ".join(text for text in (node.source, listed.get(node.name, "")) if text)
        basis = node.power_basis or node.source
        for name, meaning, value, unit, source in (
            (price, f"price of one {node.name}, without network", node.price, request.currency, paid),
            (power, f"maximum power of one {node.name}", node.max_power_kw, "kW", basis),
            (height, f"height of one {node.name}", node.rack_units, "rack units", node.source),
        ):
            own = name in request.assumptions
            if not value or (name == height and not own and not _counts_racks(request)):
                continue  # unknown (with a gap where it matters), or without effect
            text = "given in the request" if own else source
            rows.append(Assumption(name, meaning, value, unit, None, None, text, node.price_as_of, own))
    return tuple(rows)
