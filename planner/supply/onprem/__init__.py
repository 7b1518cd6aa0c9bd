"""Owned nodes: which systems can be owned, their costs from order to sale, and when they can be used.

Independent of workloads and strategies. `facility` has the costs of space, power and people, `financing` the payments
for hardware.
"""

from __future__ import annotations

from planner.supply.onprem.facility import operator_count
from planner.supply.onprem.lifecycle_costs import (
    NodeCosts,
    cost_per_month_over_life,
    delivered_months,
    existing_node_payments,
    months_of_use,
    node_availability,
    node_costs,
    node_payments,
    node_rack_fraction,
    node_use_payments,
    owed_per_month,
    resale_value,
    staff_payments,
    usable_months,
    value_after_life,
)
from planner.supply.onprem.systems import (
    OwnedNode,
    build_node,
    buyable_nodes,
    list_systems,
    node_assumptions,
)
from planner.supply.onprem.validation import owned_conventions, validate_owned_systems

__all__ = [
    "NodeCosts",
    "OwnedNode",
    "build_node",
    "buyable_nodes",
    "cost_per_month_over_life",
    "delivered_months",
    "existing_node_payments",
    "list_systems",
    "months_of_use",
    "node_assumptions",
    "node_availability",
    "node_costs",
    "node_payments",
    "node_rack_fraction",
    "node_use_payments",
    "operator_count",
    "owed_per_month",
    "owned_conventions",
    "resale_value",
    "staff_payments",
    "usable_months",
    "validate_owned_systems",
    "value_after_life",
]
