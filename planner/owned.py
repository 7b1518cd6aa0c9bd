"""Owned nodes: what one costs from its order to its sale, and when it can be used.

Conventions, printed with every plan: the price is paid at the order, the node works after the lead time; running
costs start with use and do not stop when it idles (power is charged around the clock at the average draw); it is sold
at the end of its life or of the horizon, whichever comes first, and only the server, not the network, has a resale
value.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import date

from planner.answer import Assumption, Gap
from planner.assumptions import Assumptions
from planner.cashflow import Payment, Terms, annuity_factor
from planner.request import Request
from pricing.catalog import Catalog
from pricing.place import System
from pricing.view import View


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
    """The systems that can be planned, at the asker's price and power where given, and a gap for each that cannot."""
    found, gaps = [], []
    for system in (_as_given(system, request) for system in catalog.systems):
        why_not = _not_planned(system, assumptions, request.as_of)
        power, basis = _power(system, catalog, assumptions, request.allow_estimates)
        if why_not is None and power is None:
            why_not = "no_specification", "its power is unknown"
        if why_not is not None or power is None or system.price is None or system.price_as_of is None:
            kind, text = why_not or ("no_price", "no price is known")
            gaps.append(Gap(kind, system.name, f"not planned as an owned system: {text}"))
            continue
        if basis:
            gaps.append(Gap("estimated", system.name, f"maximum power {power:.2f} kW {basis}"))
        part, count = system.accelerator, system.accelerator_count
        found.append(Node(system.name, part, count, system.price, system.price_as_of, system.source, power, basis))
    return tuple(found), tuple(gaps)


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


def use_payments(
    node: Node, month: int, node_hours: float, assumptions: Assumptions, terms: Terms
) -> tuple[Payment, ...]:
    """What using `node_hours` costs beyond what is paid anyway."""
    return ()


def availability(node: Node, assumptions: Assumptions) -> float:
    """The share of its hours in which a node works."""
    return 1.0
