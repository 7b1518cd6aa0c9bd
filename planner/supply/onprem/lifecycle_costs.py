"""Costs of an owned node from order to sale, and when it can be used.

`financing` has the payments for hardware. The node is ordered in a month of the plan, or before it (0 and less), is
delivered after the lead time and works after the months of migration; running costs start at delivery and its idle draw
does not stop; it is sold at the end of its life or of the horizon, whichever comes first. Only the server, not the
network, has a resale value, which falls from its payment on.
"""

from __future__ import annotations

from collections.abc import Iterable

from planner.finance.cashflow import Payment, Terms, scale_payments
from planner.finance.symbolic import annuity_factor, growth_factor, larger_of, power
from planner.request.assumptions import Assumptions
from planner.request.ownership import Finance
from planner.supply.onprem import facility, financing
from planner.supply.onprem.systems import OwnedNode
from pricing.frozen_values import dataclass


@dataclass(frozen=True, slots=True)
class NodeCosts:
    """One node's costs: `hardware` (servers, network, spares, tax) and `installation` once, the rest per month.

    `energy` is that of a month in which it works all hours, `energy_idle` the part of it that is paid even if it idles;
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
        """Paid every month, whether or not the node works."""
        return self.space + self.staff + self.support + self.energy_idle

    @property
    def per_month_at_work(self) -> float:
        return self.space + self.staff + self.support + self.energy


def node_costs(
    node: OwnedNode, assumptions: Assumptions, hours_per_month: float, rate_monthly: float = 0.0
) -> NodeCosts:
    """Costs of one node. `rate_monthly` is the discount rate at which a room of one's own is paid off."""
    a, site = assumptions, node.site
    server = _server_price(node, a)
    share = a["network_fraction_of_capex"].value
    # The network is a fraction f of the whole, so it adds f / (1 - f) to the server. Tax and freight are on both,
    # spares are a part of the server's price alone.
    with_network = server + server * share / (1 - share)
    hardware = with_network * (1 + a["hardware_tax_fraction"].value) + server * a["spares_fraction"].value
    yearly = server * (a["hardware_support_fraction_annual"].value + a["insurance_fraction_annual"].value)
    yearly += node.accelerators * a["software_licence_per_accelerator_annual"].value
    idle = facility.idle_energy_cost(site, node.max_power_kw, a, hours_per_month)
    return NodeCosts(
        hardware=hardware,
        installation=server * a["installation_fraction"].value,
        space=facility.rent_per_month(site, node.rack_units, node.max_power_kw, a, rate_monthly),
        staff=facility.staff_cost_per_month(site, node.accelerators, a),
        support=yearly / 12,
        energy=idle + facility.working_energy_cost(site, node.max_power_kw, a, hours_per_month),
        energy_idle=idle,
    )


def _costs_under_terms(node: OwnedNode, assumptions: Assumptions, terms: Terms) -> NodeCosts:
    return node_costs(node, assumptions, terms.hours_per_month, terms.discount_rate_monthly)


def _server_price(node: OwnedNode, assumptions: Assumptions) -> float:
    """The price of the server after discount, before tax."""
    return node.price * (1 - assumptions["hardware_discount_fraction"].value)


def delivered_months(month: int, assumptions: Assumptions, terms: Terms, finance: Finance) -> range:
    """The months inside the horizon in which a node ordered at the start of `month` is there and costs."""
    first = month + round(assumptions["lead_time_months"].value)
    return range(first, min(first + financing.ownership_months(finance, assumptions), terms.months + 1))


def usable_months(month: int, assumptions: Assumptions, terms: Terms, finance: Finance | None = None) -> range:
    """The months in which it works: from delivery, after the months of migration."""
    there = delivered_months(month, assumptions, terms, finance or Finance())
    first = there.start + round(assumptions["migration_months"].value)
    return range(first, max(first, there.stop))


def months_of_use(node: OwnedNode, assumptions: Assumptions) -> int:
    """How long it works in all, beyond the horizon too: its life, or the lease, less the months of migration."""
    owned = financing.ownership_months(node.finance, assumptions)
    return max(0, owned - round(assumptions["migration_months"].value))


def owed_per_month(node: OwnedNode, assumptions: Assumptions, terms: Terms) -> float:
    """Payments of a node in its first full month, used or not: running costs and the payment of a loan or lease."""
    cost = _costs_under_terms(node, assumptions, terms)
    return cost.per_month + financing.level_payment(cost.hardware, node.finance, assumptions)


def node_payments(
    node: OwnedNode, month: int, quantity: float, assumptions: Assumptions, terms: Terms
) -> tuple[Payment, ...]:
    """All payments within the horizon for `quantity` nodes ordered at the start of `month`, less their resale; the
    power that they draw at work is in `node_use_payments`."""
    cost = _costs_under_terms(node, assumptions, terms)
    there = delivered_months(month, assumptions, terms, node.finance)
    rows = [*financing.hardware_payments(cost.hardware, month, there.start, node.finance, assumptions, terms)]
    if there:
        rows.append(Payment(there.start, "start", "installation", cost.installation))
    rows += _running_payments(cost, there, assumptions)
    if there and node.finance.hardware != "lease":
        rows.append(Payment(there[-1], "end", "resale", -_sale_value(node, month, there, assumptions)))
    return scale_payments(rows, quantity)


def existing_node_payments(
    node: OwnedNode,
    count: int,
    age_months: int,
    covers: range,
    assumptions: Assumptions,
    terms: Terms,
    counts_value: bool = False,
) -> tuple[Payment, ...]:
    """Running costs of `count` nodes from before the plan in the months `covers`; their price is sunk. `age_months` is
    their age at the start of the plan. `counts_value`: with the resale forgone at the start, less that at the end."""
    rows = _running_payments(_costs_under_terms(node, assumptions, terms), covers, assumptions)
    if covers and counts_value:
        rows.append(Payment(covers[0], "start", "resale", resale_value(node, age_months, assumptions)))
        value = resale_value(node, age_months + len(covers), assumptions)
        rows.append(Payment(covers[-1], "end", "resale", -value))
    return scale_payments(rows, count)


def node_use_payments(node: OwnedNode, month: int, node_hours: float, assumptions: Assumptions) -> tuple[Payment, ...]:
    """Cost of `node_hours` of work in `month` on top of the idle draw; none where the idle draw is the full draw."""
    per_hour = facility.working_energy_cost(node.site, node.max_power_kw, assumptions, 1.0)
    amount = per_hour * _tariff_growth(month, assumptions) * node_hours
    return (Payment(month, "end", "power", amount),) if amount else ()


def staff_payments(month: int, count: int, assumptions: Assumptions) -> tuple[Payment, ...]:
    """The cost of so many operators in a month, paid at its end."""
    return (Payment(month, "end", "staff", count * assumptions["staff_cost_annual"].value / 12),)


def node_availability(node: OwnedNode, assumptions: Assumptions) -> float:
    """The share of its hours in which a node works."""
    return facility.available_fraction(node.accelerators, assumptions)


def node_rack_fraction(node: OwnedNode, assumptions: Assumptions) -> float:
    """The part of a rack that a node takes."""
    return facility.rack_fraction(node.rack_units, node.max_power_kw, assumptions)


def resale_value(node: OwnedNode, months_paid: int, assumptions: Assumptions) -> float:
    """What the server sells for `months_paid` after its payment: the price paid x (1 - loss), the loss being 1 -
    (1 - yearly loss)^(months / 12) x (1 - liquidation discount), and no less than the least loss."""
    a = assumptions
    by_age = power(1 - a["value_loss_annual"].value, months_paid / 12) * (1 - a["liquidation_discount_fraction"].value)
    return _server_price(node, a) * (1 - larger_of(1 - by_age, a["resale_loss_minimum_fraction"].value))


def _sale_value(node: OwnedNode, month: int, there: range, assumptions: Assumptions) -> float:
    """What a node ordered in `month` sells for after the months `there`: each payment loses value from its own date,
    the deposit from the order and the rest from delivery."""
    at_delivery = resale_value(node, len(there), assumptions)
    if there.start == month:
        return at_delivery
    at_order = resale_value(node, there.stop - month, assumptions)
    deposit = assumptions["deposit_fraction"].value
    return deposit * at_order + (1 - deposit) * at_delivery


def value_after_life(node: OwnedNode, assumptions: Assumptions) -> float:
    """What a node sells for at the end of its life, which begins a lead time after the order."""
    ordered = 1 - round(assumptions["lead_time_months"].value)
    return _sale_value(node, ordered, range(1, round(assumptions["useful_life_months"].value) + 1), assumptions)


def cost_per_month_over_life(node: OwnedNode, assumptions: Assumptions, terms: Terms) -> float:
    """The level monthly payment, from delivery to the end of its life, that equals all costs of one node at work.

    (capital - resale x discount) / annuity + running costs; hardware is paid in cash, the lead time is left out and
    the tariff is the first month's.
    """
    cost = _costs_under_terms(node, assumptions, terms)
    life = round(assumptions["useful_life_months"].value)
    rate = terms.discount_rate_monthly
    # Resale is discounted to delivery; the rest of the capital is spread as an annuity over the months of life.
    resale = value_after_life(node, assumptions) * (1 + rate) ** -life
    return (cost.capital - resale) / annuity_factor(rate, life) + cost.per_month_at_work


def _running_payments(cost: NodeCosts, months: Iterable[int], assumptions: Assumptions) -> list[Payment]:
    return [
        payment
        for at in months
        for payment in (
            Payment(at, "end", "power", cost.energy_idle * _tariff_growth(at, assumptions)),
            Payment(at, "end", "space", cost.space),
            Payment(at, "end", "staff", cost.staff),
            Payment(at, "end", "support", cost.support),
        )
    ]


def _tariff_growth(month: int, assumptions: Assumptions) -> float:
    """The factor on the tariff of the first month."""
    return growth_factor(assumptions["electricity_price_growth_annual"].value, month)
