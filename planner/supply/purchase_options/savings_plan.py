"""Savings plans (AWS, Azure): so much money an hour for one or three years, set against use at the plan's own rates.

`quantity` is money an hour. Use is billed at the rate of the catalogue up to the commitment; unused commitment is
lost; use beyond it is on demand. A plan of class instance covers one family in one region, one of class
compute (or without a class) every type and region of the provider.
"""

from planner.supply.purchase_options._term_commitment import payments, usable

__all__ = ["COMMITS", "DISCOUNTED", "INTERRUPTS", "TITLE", "UNIT", "payments", "usable"]

COMMITS = True
INTERRUPTS = False
DISCOUNTED = True
UNIT = "money"
TITLE = "savings plans"
