"""Units that names in this project carry, and the few constants that join them."""

HOURS_PER_YEAR = 8760
HOURS_PER_DAY = 24
HOURS_PER_MONTH = HOURS_PER_YEAR / 12
"""730: the average month that clouds bill by; a plan prints the convention it used."""

GIB = 2**30
GB = 10**9
"""GiB and GB never convert by a rounded factor: multiply by GIB / GB."""
