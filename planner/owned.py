"""Owned nodes: what one costs from its order to its sale, and when it can be used.

Conventions, printed with every plan: the price is paid at the order, the node works after the lead time; running
costs start with use and do not stop when it idles (power is charged around the clock at the average draw); it is sold
at the end of its life or of the horizon, whichever comes first, and only the server, not the network, has a resale
value.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from planner.answer import Assumption, Gap
from planner.assumptions import Assumptions
from planner.cashflow import Payment, Terms, annuity_factor
from planner.request import Request
from pricing.catalog import Catalog
from pricing.place import System


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


@dataclass(frozen=True, slots=True)
class Costs:
    """One node's costs: `capital` at the order, the rest per month of use; `energy` in the first month, before
    growth."""

    capital: float
    space: float
    staff: float
    support: float
    energy: float

    @property
    def per_month(self) -> float:
        return self.space + self.staff + self.support + self.energy


def nodes(
    catalog: Catalog,
    assumptions: Assumptions,
    request: Request,
) -> tuple[tuple[Node, ...], tuple[Gap, ...]]:
    """The systems that can be planned, and a gap for each that cannot."""
    found, gaps = [], []
    max_age = assumptions["owned_price_max_age_years"].value
    for system in catalog.systems:
        if system.sold is False:
            gaps.append(Gap("not_planned", system.name, "not planned as an owned system: not sold as one"))
            continue
        if system.price is None or system.price_as_of is None:
            gaps.append(Gap("no_price", system.name, "not planned as an owned system: no price is known"))
            continue
        if (request.as_of - system.price_as_of).days > max_age * 366:
            text = f"not planned as an owned system: its price is of {system.price_as_of}, older than {max_age:g} years"
            gaps.append(Gap("old_price", system.name, text))
            continue
        power, basis = _power(
            system, catalog, assumptions["server_power_over_accelerator_power"], request.allow_estimates
        )
        if power is None:
            gaps.append(Gap("no_specification", system.name, "not planned as an owned system: its power is unknown"))
            continue
        if basis != "published":
            gaps.append(Gap("estimated", system.name, f"maximum power {power:.2f} kW {basis}"))
        count = system.accelerator_count
        row = Node(
            system.name, system.accelerator, count, system.price, system.price_as_of, system.source, power, basis
        )
        found.append(row)
    return tuple(found), tuple(gaps)


def costs(node: Node, assumptions: Assumptions, hours_per_month: float) -> Costs:
    """What one node costs. Network adds f / (1 - f) of the server's price; energy is average draw x PUE x hours x
    tariff."""
    a = {name: assumption.value for name, assumption in assumptions.items()}
    network = node.price * a["network_fraction_of_capex"] / (1 - a["network_fraction_of_capex"])
    draw_kw = node.max_power_kw * a["server_power_fraction"]
    yearly = node.price * (a["hardware_support_fraction_annual"] + a["insurance_fraction_annual"])
    yearly += node.accelerators * a["software_licence_per_accelerator_annual"]
    return Costs(
        capital=node.price + network,
        space=node.max_power_kw * a["colocation_per_kw_month"],
        staff=node.accelerators / a["accelerators_per_staff"] * a["staff_cost_annual"] / 12,
        support=yearly / 12,
        energy=draw_kw * a["pue"] * hours_per_month * a["electricity_price_per_kwh"],
    )


def usable(month: int, assumptions: Assumptions, terms: Terms) -> range:
    """The months inside the horizon in which a node ordered at the start of `month` works."""
    first = month + round(assumptions["lead_time_months"].value)
    return range(first, min(first + round(assumptions["useful_life_months"].value), terms.months + 1))


def payments(node: Node, month: int, quantity: float, assumptions: Assumptions, terms: Terms) -> tuple[Payment, ...]:
    """All that `quantity` nodes ordered at the start of `month` cost within the horizon, less what they are sold
    for."""
    cost = costs(node, assumptions, terms.hours_per_month)
    working = usable(month, assumptions, terms)
    growth = 1 + assumptions["electricity_price_growth_annual"].value
    rows = [Payment(month, "start", "hardware", cost.capital * quantity)]
    for at in working:
        rows += [
            Payment(at, "end", "power", cost.energy * growth ** ((at - 1) / 12) * quantity),
            Payment(at, "end", "space", cost.space * quantity),
            Payment(at, "end", "staff", cost.staff * quantity),
            Payment(at, "end", "support", cost.support * quantity),
        ]
    if working:
        resale = resale_value(node, len(working), assumptions)
        rows.append(Payment(working[-1], "end", "resale", -resale * quantity))
    return tuple(row for row in rows if row.amount)


def resale_value(node: Node, months_used: int, assumptions: Assumptions) -> float:
    """Price of the server after `months_used`: price x (1 - yearly loss)^(months / 12)."""
    return float(node.price * (1 - assumptions["value_loss_annual"].value) ** (months_used / 12))


def cost_per_month_over_life(node: Node, assumptions: Assumptions, terms: Terms) -> float:
    """The level monthly payment, from delivery to the end of its life, that is worth what one node costs.

    (capital - resale x discount) / annuity + running costs; the lead time is left out and the tariff is the first
    month's.
    """
    cost = costs(node, assumptions, terms.hours_per_month)
    life = round(assumptions["useful_life_months"].value)
    rate = terms.discount_rate_monthly
    resale = resale_value(node, life, assumptions) * (1 + rate) ** -life
    return (cost.capital - resale) / annuity_factor(life, rate) + cost.per_month


def _power(system: System, catalog: Catalog, ratio: Assumption, allow_estimates: bool) -> tuple[float | None, str]:
    if system.max_power_kw is not None:
        return system.max_power_kw, "published"
    part = catalog.names.by_name.get(system.accelerator)
    if part is None or part.tdp_w is None or not allow_estimates:
        return None, ""
    power = part.tdp_w * system.accelerator_count / 1000 * ratio.value
    return power, f"estimated as {ratio.value:g} x that of its accelerators"
