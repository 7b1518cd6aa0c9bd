"""Owned nodes: which systems can be owned, what one costs from its order to its sale, and when it can be used.

Knows of no workload and no strategy. `facility` says what its place, power and people cost, `financing` when its
hardware is paid.
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
]
