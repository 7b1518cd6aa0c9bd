"""Owned nodes: which systems can be owned, what one costs from its order to its sale, and when it can be used.

Knows of no workload and no strategy. `facility` says what its place, power and people cost, `financing` when its
hardware is paid.
"""

from __future__ import annotations

from planner.facility import operators
from planner.owned._money import (
    Costs,
    availability,
    cost_per_month_over_life,
    costs,
    delivered,
    existing_payments,
    months_of_use,
    payments,
    per_month,
    racks,
    resale_value,
    staff_payments,
    usable,
    use_payments,
)
from planner.owned._systems import Node, as_assumptions, node_of, nodes, own_figures, systems
from planner.owned._told import complaints, conventions

__all__ = [
    "Costs",
    "Node",
    "as_assumptions",
    "availability",
    "complaints",
    "conventions",
    "cost_per_month_over_life",
    "costs",
    "delivered",
    "existing_payments",
    "months_of_use",
    "node_of",
    "nodes",
    "operators",
    "own_figures",
    "payments",
    "per_month",
    "racks",
    "resale_value",
    "staff_payments",
    "systems",
    "usable",
    "use_payments",
]
