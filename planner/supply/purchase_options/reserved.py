"""Reserved instances (AWS) and reservations (Azure): one type in one region for one or three years.

Standard and convertible classes have the same payments; the right to convert has no price in a plan.
"""

from planner.supply.purchase_options._term_commitment import payments, usable

__all__ = ["COMMITS", "DISCOUNTED", "INTERRUPTS", "TITLE", "UNIT", "payments", "usable"]

COMMITS = True
INTERRUPTS = False
DISCOUNTED = True
UNIT = "node"
TITLE = "reserved instances and reservations"
