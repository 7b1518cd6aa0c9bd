"""The bill of materials of the hardware in a strategy: nodes, network and the rest, with power, racks, months and cost.

Costs follow from the plan's assumptions by the formulas of `planner.supply.onprem`. A value that the plan does not have
(the height of a server) stays empty.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import ceil, fsum

from planner.reports._content.number_format import month_name
from planner.request.assumptions import override_names
from planner.result import Plan, Purchase, Strategy
from pricing.frozen_values import dataclass


@dataclass(frozen=True, slots=True)
class BillOfMaterialsLine:
    """`quantity` of an item. Power in kW and racks are of all of them; None is not known, or has no meaning for it.

    `cost` is that of all of them, before any loan or lease.
    """

    ordered: str
    delivered: str
    system: str
    item: str
    quantity: float
    unit: str
    accelerators: float | None
    power_kw: float | None
    rack_units: float | None
    racks: float | None
    cost_each: float | None
    cost: float | None
    basis: str


COLUMNS = (
    "ordered", "delivered", "system", "item", "quantity", "unit", "accelerators", "power_kw_at_most", "rack_units",
    "racks", "cost_each", "cost", "basis",
)  # fmt: skip
TOTAL = "all"


def list_materials(plan: Plan, strategy: Strategy) -> tuple[BillOfMaterialsLine, ...]:
    """A line for each item of each purchase of hardware, then the totals; empty without such a purchase."""
    figures = {each.name: each.value for each in plan.assumptions}
    hardware = [item for item in strategy.purchases if item.what == "owned"]
    lines = [line for item in hardware for line in _purchase_lines(plan, item, figures)]
    return (*lines, _total_line(lines)) if lines else ()


def _purchase_lines(plan: Plan, item: Purchase, figures: Mapping[str, float]) -> Iterator[BillOfMaterialsLine]:
    ordered = month_name(plan, item.month)
    delivered = month_name(plan, item.month + round(figures.get("lead_time_months", 0)))
    price, power, height = (figures.get(name) for name in override_names(item.name))
    # the price of a server after the discount, before tax
    server = None if price is None else price * (1 - figures.get("hardware_discount_fraction", 0.0))
    yield BillOfMaterialsLine(
        ordered, delivered, item.name, "servers", item.count, "node", item.count * item.accelerators_per_node,
        _multiply_known(power, item.count), _multiply_known(height, item.count),
        _rack_count(item.count, power, height, figures), server, _multiply_known(server, item.count),
        f"{item.accelerators_per_node:g} x {item.accelerator} each",
    )  # fmt: skip
    for name, cost, basis in _server_extras(server, figures) if server is not None else ():
        if cost:
            yield BillOfMaterialsLine(
                ordered, delivered, item.name, name, item.count, "node", None, None, None, None, cost,
                cost * item.count, basis,
            )  # fmt: skip


def _server_extras(server: float, figures: Mapping[str, float]) -> Iterator[tuple[str, float, str]]:
    """The cost that comes with each server: its share of the network, tax, spares, installation."""
    share = figures.get("network_fraction_of_capex", 0.0)
    # share = network / (server + network), solved for the network
    network = server * share / (1 - share)
    tax = figures.get("hardware_tax_fraction", 0.0)
    spares = figures.get("spares_fraction", 0.0)
    installation = figures.get("installation_fraction", 0.0)
    yield "cluster network", network, f"{share:g} of servers and network together (network_fraction_of_capex)"
    yield "tax, freight, duty", (server + network) * tax, f"{tax:g} of servers and network (hardware_tax_fraction)"
    yield "spare parts", server * spares, f"{spares:g} of the servers (spares_fraction)"
    yield "installation", server * installation, f"{installation:g} of the servers (installation_fraction)"


def _rack_count(count: int, power: float | None, height: float | None, figures: Mapping[str, float]) -> float | None:
    """Whole racks for `count` nodes, by power or by height, whichever is more; by power alone where no height is
    known."""
    by_power = figures.get("rack_power_kw")
    by_height = figures.get("rack_units_usable")
    if power is None or not by_power:
        return None
    # the scarcer of power and height decides; the tolerance keeps 10 nodes at 0.1 racks in one rack
    shares = [power / by_power, (height or 0.0) / by_height if by_height else 0.0]
    return ceil(count * max(shares) - 1e-9)


def _total_line(lines: list[BillOfMaterialsLine]) -> BillOfMaterialsLine:
    """Everything together. A figure that one line of servers lacks has no total."""
    servers = [line for line in lines if line.item == "servers"]
    return BillOfMaterialsLine(
        "", "", TOTAL, "total", fsum(s.quantity for s in servers), "node",
        _sum_known([s.accelerators for s in servers]), _sum_known([s.power_kw for s in servers]),
        _sum_known([s.rack_units for s in servers]), _sum_known([s.racks for s in servers]), None,
        _sum_known([line.cost for line in lines]), "racks are whole for each purchase",
    )  # fmt: skip


def _sum_known(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fsum(known) if len(known) == len(values) else None


def _multiply_known(each: float | None, count: int) -> float | None:
    return None if each is None else each * count
