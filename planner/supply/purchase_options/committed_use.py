"""Resource-based committed use (Google Cloud): the parts of one machine type for one or three years, paid monthly.

Commitments of vCPU, memory and accelerators are planned for whole machines, as the catalogue sums them.
It does not reserve capacity; a reservation does.
"""

from planner.supply.purchase_options._term_commitment import payments, usable

__all__ = ["COMMITS", "DISCOUNTED", "INTERRUPTS", "TITLE", "UNIT", "payments", "usable"]

COMMITS = True
INTERRUPTS = False
DISCOUNTED = True
UNIT = "node"
TITLE = "committed use"
