"""Energy and carbon of nodes: the draw of a node at its site's meter, and the emission of the grid that supplies it.

A node draws as in the cost of power on premises: server_power_fraction x its maximum power at work, times PUE.
The maximum of a rented node is not published: it is server_power_over_accelerator_power x that of its accelerators, as
for servers without a published power, and its site has `cloud_pue`. A rented node draws in the hours in which it is
used: outside them its provider switches it off or sells it to others. An owned node also draws while it idles, from its
delivery on. Emissions are location-based: the mean of the grid, without certificates that an operator buys.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace

from planner.request.assumptions import Assumptions
from planner.request.models import Request
from planner.result import Gap
from planner.result.message import message
from planner.supply.candidates import Market
from planner.supply.resources import Resource
from pricing.catalog.price_catalog import Catalog
from pricing.frozen_values import dataclass

SITE = ("", "")
"""The provider and region of owned nodes."""
WATTS_PER_KW = 1000.0
GRAMS_PER_KG = 1000.0


@dataclass(frozen=True, slots=True)
class CarbonFigures:
    """Kilograms of CO2e for each kWh, by provider and region (SITE for owned nodes); regions without a figure are not
    in it. Not `estimates`: the power of rented nodes, which is estimated, counts as unknown."""

    kg_per_kwh: Mapping[tuple[str, str], float] = field(default_factory=dict)
    estimates: bool = True


@dataclass(frozen=True, slots=True)
class NodeEnergy:
    """The draw of a node in kW at the meter of its site, at work and while it is there without work, and kilograms of
    CO2e for each kWh; None: unknown."""

    work_kw: float | None
    idle_kw: float
    kg_per_kwh: float | None

    @property
    def extra_kg_per_hour(self) -> float | None:
        """Kilograms of an hour of work above those of an idle hour."""
        if self.work_kw is None or self.kg_per_kwh is None:
            return None
        return (self.work_kw - self.idle_kw) * self.kg_per_kwh

    @property
    def idle_kg_per_hour(self) -> float:
        return self.idle_kw * (self.kg_per_kwh or 0.0)


def carbon_figures(request: Request, catalog: Catalog) -> CarbonFigures:
    """The grids of the catalogue, with those that the request states in their place."""
    known = {place: grid.grid_gco2e_per_kwh for place, grid in catalog.grid_carbon.items()}
    for place, grams in request.grid_gco2e_per_kwh.items():
        provider, _, region = place.partition(" ")
        known[provider, region] = grams
    if request.site.grid_gco2e_per_kwh is not None:
        known[SITE] = request.site.grid_gco2e_per_kwh
    return CarbonFigures({place: g / GRAMS_PER_KG for place, g in known.items()}, request.allow_estimates)


def node_energy(resource: Resource, figures: CarbonFigures, assumptions: Assumptions) -> NodeEnergy:
    """The draw and emission of a node of a resource."""
    kg_per_kwh = figures.kg_per_kwh.get((resource.provider, resource.region))
    at_work = assumptions["server_power_fraction"].value
    if resource.node is not None:
        work = resource.node.max_power_kw * at_work * assumptions["pue"].value
        return NodeEnergy(work, work * assumptions["idle_draw_fraction"].value, kg_per_kwh)
    watts = resource.quote.accelerator.tdp_w if resource.quote is not None else None
    if watts is None or not figures.estimates:
        return NodeEnergy(None, 0.0, kg_per_kwh)
    accelerators_kw = watts * resource.accelerators_per_node / WATTS_PER_KW
    server_kw = accelerators_kw * assumptions["server_power_over_accelerator_power"].value
    return NodeEnergy(server_kw * at_work * assumptions["cloud_pue"].value, 0.0, kg_per_kwh)


def find_carbon_gap(resource: Resource, energy: NodeEnergy) -> Gap | None:
    """The reason why the emission of a node is unknown: the power of its accelerator, or the grid of its place; None
    where it is known."""
    if energy.work_kw is None:
        return Gap("no_carbon_figure", resource.accelerator, message("node_power_unknown"))
    if energy.kg_per_kwh is None:
        place = f"{resource.provider} {resource.region}".strip() or "site of owned nodes"
        return Gap("no_carbon_figure", place, message("grid_carbon_unknown"))
    return None


def exclude_unknown_carbon(market: Market, request: Request, catalog: Catalog, assumptions: Assumptions) -> Market:
    """Under a limit on carbon, the market without candidates of which no carbon figure is known: whether they are
    within it is unknown."""
    if request.limits.carbon_kg_per_year is None:
        return market
    figures = carbon_figures(request, catalog)
    unknown: dict[int, Gap] = {}
    for number, resource in enumerate(market.resources):
        gap = find_carbon_gap(resource, node_energy(resource, figures, assumptions))
        if gap is not None:
            unknown[number] = replace(gap, effect=message("not_used_under_carbon_limit", reason=gap.effect))
    refused = [dict(reasons) for reasons in market.refused]
    used = [candidate for candidate in market.candidates if candidate.resource in unknown]
    for candidate in used:
        refused[candidate.need][market.resources[candidate.resource].key] = unknown[candidate.resource].effect
    gaps = tuple(dict.fromkeys((*market.gaps, *(unknown[candidate.resource] for candidate in used))))
    known = tuple(each for each in market.candidates if each.resource not in unknown)
    return replace(market, candidates=known, refused=tuple(refused), gaps=gaps)
