"""Reserved instances (AWS) and reservations (Azure): one type in one region for one or three years.

Standard and convertible classes bill alike here; the right to convert has no price in a plan.
"""

from planner.options._commitment import payments, usable

__all__ = ["COMMITS", "INTERRUPTS", "TITLE", "payments", "usable"]

COMMITS = True
INTERRUPTS = False
TITLE = "reserved instances and reservations"
