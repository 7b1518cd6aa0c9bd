"""Owned nodes: what one costs from its order to its sale, and when it can be used.

Conventions, printed with every plan: hardware is paid as `financing` says; the node is delivered after the lead time
and works after the months of migration; running costs start at delivery; its idle draw does not stop; it is sold at the
end of its life or of the horizon, whichever comes first, and only the server, not the network, has a resale value.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import date

from planner import facility, financing
from planner.answer import Assumption, Gap
from planner.assumptions import Assumptions
from planner.cashflow import Payment, Terms, annuity_factor
from planner.estate import Finance, OwnSystem, Site
from planner.request import Request
from pricing.accelerator import Accelerator
from pricing.catalog import Catalog
from pricing.place import System
from pricing.view import View

GEFORCE = "nvidia.com/en-sg/drivers/geforce-license"


@dataclass(frozen=True, slots=True)
class Node:
    """An owned system with every figure it takes to plan it. Powers in kW at the wall of the server, money in the
    plan's currency."""

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


@dataclass(frozen=True, slots=True)
class Costs:
    """One node's costs: `hardware` (servers, network, spares, tax) and `installation` once, the rest per month.

    `energy` is that of a month in which it works all hours, `energy_idle` the part of it that is owed though it idles;
    both in the first month, before growth.
    """

    hardware: float
    installation: float
    space: float
    staff: float
    support: float
    energy: float
    energy_idle: float

    @property
    def capital(self) -> float:
        return self.hardware + self.installation

    @property
    def per_month(self) -> float:
        """Owed every month, used or not."""
        return self.space + self.staff + self.support + self.energy_idle

    @property
    def per_month_at_work(self) -> float:
        return self.space + self.staff + self.support + self.energy


def nodes(
    catalog: Catalog,
    assumptions: Assumptions,
    request: Request,
) -> tuple[tuple[Node, ...], tuple[Gap, ...]]:
    """The systems that can be planned, at the asker's price and power where given, and a gap for each that cannot."""
    found, gaps = [], []
    for system in systems(catalog, request):
        node, about = node_of(system, catalog, assumptions, request)
        gaps += about
        if node is not None:
            found.append(node)
    return tuple(found), tuple(gaps)


def systems(catalog: Catalog, request: Request) -> tuple[System, ...]:
    """Those of the catalogue, with the asker's own figures, and those that the asker has a quote for."""
    own = (_quoted(system, catalog, request) for system in request.systems)
    return (*(_as_given(system, request) for system in catalog.systems), *own)


def node_of(
    system: System, catalog: Catalog, assumptions: Assumptions, request: Request
) -> tuple[Node | None, list[Gap]]:
    """The system as a node, or None where it cannot be planned; with what is missing or estimated."""
    why_not = _not_planned(system, assumptions, request.as_of)
    power, basis = _power(system, catalog, assumptions, request.allow_estimates)
    if why_not is None and power is None:
        why_not = "no_specification", "its power is unknown"
    if why_not is None and request.site.facility == "colocation_per_rack" and system.rack_units is None:
        basis = "; ".join(part for part in (basis, "its height is unknown: racks are counted by power") if part)
    if why_not is not None or power is None or system.price is None or system.price_as_of is None:
        kind, text = why_not or ("no_price", "no price is known")
        return None, [Gap(kind, system.name, f"not planned as an owned system: {text}")]
    gaps = [Gap("estimated", system.name, f"maximum power {power:.2f} kW {basis}")] if basis else []
    part = catalog.names.by_name.get(system.accelerator)
    node = Node(
        system.name, system.accelerator, system.accelerator_count, system.price, system.price_as_of, system.source,
        power, basis, system.rack_units, request.site, request.finance,
    )  # fmt: skip
    return node, [*gaps, *_lacks(system.name, part)]


def _lacks(name: str, part: Accelerator | None) -> Iterator[Gap]:
    """What cards that are not made for data centres lack."""
    if part is None:
        return
    if part.ecc is False:
        yield Gap("no_specification", name, f"{part.name} has no error-correcting memory: silent faults are not caught")
    if part.device_class == "consumer" and part.vendor == "NVIDIA":
        text = f"the licence of GeForce drivers limits their use in data centres ({GEFORCE}): read it before you buy"
        yield Gap("no_specification", name, text)


def _quoted(system: OwnSystem, catalog: Catalog, request: Request) -> System:
    part = catalog.names.resolve(system.accelerator).name
    return System(
        system.name, part, system.accelerators, system.max_power_kw, system.rack_units, system.price, request.currency,
        system.price_as_of or request.as_of, system.source, "", True,
    )  # fmt: skip


def _as_given(system: System, request: Request) -> System:
    """The system with the asker's own price and power; who quotes a price can buy it."""
    quoted, power_kw = (request.assumptions.get(name) for name in own_figures(system.name))
    if quoted is not None:
        system = replace(system, price=quoted, price_as_of=request.as_of, source="given in the request", sold=True)
    return system if power_kw is None else replace(system, max_power_kw=power_kw)


def own_figures(system: str) -> tuple[str, str]:
    """The names of the assumptions that replace a system's price and maximum power: price_of_8x_h100_server ..."""
    key = re.sub(r"[^a-z0-9]+", "_", system.casefold()).strip("_")
    return f"price_of_{key}", f"power_kw_of_{key}"


def as_assumptions(found: Iterable[Node], request: Request, catalog: Catalog) -> tuple[Assumption, ...]:
    """Price and power of every system planned, as figures that a reader of the plan can see and replace."""
    rows = []
    listed = catalog.list_prices if isinstance(catalog, View) else {}
    for node in found:
        price, power = own_figures(node.name)
        paid = "; ".join(text for text in (node.source, listed.get(node.name, "")) if text)
        basis = node.power_basis or node.source
        for name, meaning, value, unit, source in (
            (price, f"price of one {node.name}, without network", node.price, request.currency, paid),
            (power, f"maximum power of one {node.name}", node.max_power_kw, "kW", basis),
        ):
            own = name in request.assumptions
            text = "given in the request" if own else source
            rows.append(Assumption(name, meaning, value, unit, None, None, text, node.price_as_of, own))
    return tuple(rows)


def _not_planned(system: System, assumptions: Assumptions, as_of: date) -> tuple[str, str] | None:
    """The kind of gap and the reason why a system's price cannot be used; None where it can."""
    if system.sold is False:
        return "not_planned", "not sold as one"
    if system.price is None or system.price_as_of is None:
        return "no_price", "no price is known"
    max_age = assumptions["owned_price_max_age_years"].value
    if (as_of - system.price_as_of).days > max_age * 366:
        return "old_price", f"its price is of {system.price_as_of}, older than {max_age:g} years"
    return None


def costs(node: Node, assumptions: Assumptions, hours_per_month: float, rate_monthly: float = 0.0) -> Costs:
    """What one node costs. Network adds f / (1 - f) of the server's price after discount; tax and freight are on both.

    `rate_monthly` is what a room of one's own is paid off at.
    """
    a, site = assumptions, node.site
    server = node.price * (1 - a["hardware_discount_fraction"].value)
    share = a["network_fraction_of_capex"].value
    bought = server + server * share / (1 - share)
    hardware = bought * (1 + a["hardware_tax_fraction"].value) + server * a["spares_fraction"].value
    yearly = server * (a["hardware_support_fraction_annual"].value + a["insurance_fraction_annual"].value)
    yearly += node.accelerators * a["software_licence_per_accelerator_annual"].value
    idle = facility.idle_energy(site, node.max_power_kw, a, hours_per_month)
    return Costs(
        hardware=hardware,
        installation=server * a["installation_fraction"].value,
        space=facility.rent(site, node.rack_units, node.max_power_kw, a, rate_monthly),
        staff=facility.staff(site, node.accelerators, a),
        support=yearly / 12,
        energy=idle + facility.energy_at_work(site, node.max_power_kw, a, hours_per_month),
        energy_idle=idle,
    )


def _costs(node: Node, assumptions: Assumptions, terms: Terms) -> Costs:
    return costs(node, assumptions, terms.hours_per_month, terms.discount_rate_monthly)


def delivered(month: int, assumptions: Assumptions, terms: Terms, finance: Finance) -> range:
    """The months inside the horizon in which a node ordered at the start of `month` is there and costs."""
    first = month + round(assumptions["lead_time_months"].value)
    return range(first, min(first + financing.months_held(finance, assumptions), terms.months + 1))


def usable(month: int, assumptions: Assumptions, terms: Terms, finance: Finance | None = None) -> range:
    """The months in which it works: from delivery, after the months of migration."""
    there = delivered(month, assumptions, terms, finance or Finance())
    first = there.start + round(assumptions["migration_months"].value)
    return range(first, max(first, there.stop))


def payments(node: Node, month: int, quantity: float, assumptions: Assumptions, terms: Terms) -> tuple[Payment, ...]:
    """All that `quantity` nodes ordered at the start of `month` cost within the horizon, less what they are sold
    for; the power they draw at work is in `use_payments`."""
    cost = _costs(node, assumptions, terms)
    there = delivered(month, assumptions, terms, node.finance)
    rows = [*financing.hardware_payments(cost.hardware, month, there.start, node.finance, assumptions, terms)]
    if there:
        rows.append(Payment(there.start, "start", "installation", cost.installation))
    rows += _running(cost, there, assumptions)
    if there and node.finance.hardware != "lease":
        rows.append(Payment(there[-1], "end", "resale", -resale_value(node, len(there), assumptions)))
    return tuple(replace(row, amount=row.amount * quantity) for row in rows if row.amount)


def existing_payments(
    node: Node, count: int, age_months: int, covers: range, assumptions: Assumptions, terms: Terms
) -> tuple[Payment, ...]:
    """What `count` nodes that are owned already still cost in the months `covers`, less their sale at its end; their
    price is sunk. `age_months` is their age at the start of the plan."""
    rows = _running(_costs(node, assumptions, terms), covers, assumptions)
    if covers:
        value = resale_value(node, age_months + len(covers), assumptions)
        rows.append(Payment(covers[-1], "end", "resale", -value))
    return tuple(replace(row, amount=row.amount * count) for row in rows if row.amount)


def use_payments(node: Node, month: int, node_hours: float, assumptions: Assumptions) -> tuple[Payment, ...]:
    """What `node_hours` of work in `month` cost on top of the idle draw; none where idling saves nothing."""
    per_hour = facility.energy_at_work(node.site, node.max_power_kw, assumptions, 1.0)
    amount = per_hour * _growth(month, assumptions) * node_hours
    return (Payment(month, "end", "power", amount),) if amount else ()


def staff_payments(month: int, count: int, assumptions: Assumptions) -> tuple[Payment, ...]:
    """What so many operators cost in a month, paid at its end."""
    return (Payment(month, "end", "staff", count * assumptions["staff_cost_annual"].value / 12),)


def availability(node: Node, assumptions: Assumptions) -> float:
    """The share of its hours in which a node works."""
    return facility.availability(node.accelerators, assumptions)


def racks(node: Node, assumptions: Assumptions) -> float:
    """The part of a rack that a node takes."""
    return facility.racks(node.rack_units, node.max_power_kw, assumptions)


def resale_value(node: Node, months_used: int, assumptions: Assumptions) -> float:
    """Price of the server after `months_used`: price x (1 - yearly loss)^(months / 12)."""
    return float(node.price * (1 - assumptions["value_loss_annual"].value) ** (months_used / 12))


def cost_per_month_over_life(node: Node, assumptions: Assumptions, terms: Terms) -> float:
    """The level monthly payment, from delivery to the end of its life, that is worth what one node costs at work.

    (capital - resale x discount) / annuity + running costs; bought for cash, the lead time is left out and the tariff
    is the first month's.
    """
    cost = _costs(node, assumptions, terms)
    life = round(assumptions["useful_life_months"].value)
    rate = terms.discount_rate_monthly
    resale = resale_value(node, life, assumptions) * (1 + rate) ** -life
    return (cost.capital - resale) / annuity_factor(life, rate) + cost.per_month_at_work


def _running(cost: Costs, months: Iterable[int], assumptions: Assumptions) -> list[Payment]:
    return [
        payment
        for at in months
        for payment in (
            Payment(at, "end", "power", cost.energy_idle * _growth(at, assumptions)),
            Payment(at, "end", "space", cost.space),
            Payment(at, "end", "staff", cost.staff),
            Payment(at, "end", "support", cost.support),
        )
    ]


def _growth(month: int, assumptions: Assumptions) -> float:
    """What the tariff of the first month is multiplied by."""
    return float((1 + assumptions["electricity_price_growth_annual"].value) ** ((month - 1) / 12))


def _power(
    system: System, catalog: Catalog, assumptions: Assumptions, allow_estimates: bool
) -> tuple[float | None, str]:
    """Maximum power in kW with the basis of an estimate, "" where it is published or given; None where unknown."""
    if system.max_power_kw is not None:
        return system.max_power_kw, ""
    part = catalog.names.by_name.get(system.accelerator)
    if part is None or part.tdp_w is None or not allow_estimates:
        return None, ""
    ratio = assumptions["server_power_over_accelerator_power"].value
    power = part.tdp_w * system.accelerator_count / 1000 * ratio
    return power, f"estimated as {ratio:g} x that of its accelerators"
