"""What the market of a plan misses, how it counts against quotas, and how owned nodes are paid for and run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from pricing.counted_nouns import format_count
from pricing.quota import UNIT_WORDS


def _quota_too_small(
    unit: str, limit: float, used: float | None, needed: float, request_more: float, needed_by: str, as_of: str
) -> str:
    in_use = "how much of it is in use is unknown" if used is None else f"{used:,g} of it in use"
    return (
        f"ask for {limit + request_more:,g} {UNIT_WORDS[unit]} in all, {request_more:,g} more by {needed_by}:"
        f" the plan runs up to {needed:,g} at once; the limit was {limit:,g} on {as_of}, {in_use}"
    )


def _quota_use_unknown(unit: str, limit: float, needed: float) -> str:
    return (
        f"the plan runs up to {needed:,g} of {limit:,g} {UNIT_WORDS[unit]}; how much is in use is unknown:"
        f" check that {needed:,g} are free"
    )


def _quota_units_unknown(unit: str, quota_code: str, region: str) -> str:
    return f"its number of {UNIT_WORDS[unit]} is unknown: not counted against {quota_code} in {region}"


def _quotas_enforced(providers: Sequence[str]) -> str:
    return f"Quotas ({', '.join(providers)}) are limits: no strategy exceeds them."


def _quotas_compared(providers: Sequence[str]) -> str:
    return (
        f"Quotas ({', '.join(providers)}) were compared with each strategy after planning; they did not constrain it."
    )


def _accelerator_read_as(written: str, accelerator: str, other_variants: Sequence[str]) -> str:
    return f"its {written} was read as {accelerator}; other variants: {', '.join(other_variants)}"


def _owned_nodes(
    payment: str,
    deposit_fraction: float,
    loan_months: float,
    loan_rate_annual: float,
    lease_months: float,
    lease_fraction_per_month: float,
    energy_included: bool,
    idle_draw_fraction: float,
) -> str:
    due = "at order"
    if deposit_fraction < 1:
        due = f"{deposit_fraction:.0%} at order and the rest at delivery"
    paid = {
        "cash": f"are paid {due}",
        "loan": f"are paid {due} from a loan over {format_count(loan_months, 'month')} at {loan_rate_annual:.2%} a"
        " year, whose rest is paid off when the plan ends",
        "lease": f"are leased from delivery on at {lease_fraction_per_month:.2%} of their price a month for"
        f" {format_count(lease_months, 'month')}, paid in advance",
    }[payment]
    power = "draw power around the clock"
    if energy_included:
        power = "draw power that is included in their rent"
    elif idle_draw_fraction < 1:
        power = f"draw {idle_draw_fraction:.0%} of their working power while idle"
    end = "go back when the lease ends" if payment == "lease" else "are sold when the plan or their life ends"
    return f"Owned nodes {paid}, {power}, and {end}."


def _migration(migration_months: float) -> str:
    months = format_count(migration_months, "month")
    return f"Owned nodes cost from their delivery on and work {months} later."


def _host_too_small(what: str, needed_per_accelerator: float, is_known: bool) -> str:
    words = {"cpus": "vCPUs", "memory_gib": "GiB of main memory"}[what]
    if not is_known:
        return f"its number of {words} is unknown, and {needed_per_accelerator:g} per accelerator are needed"
    return f"fewer than {needed_per_accelerator:g} {words} per accelerator"


def _spot_price_counted_at(
    why: str, basis: str, as_of: str, age_days: int, listed_per_hour: float, counted_per_hour: float, regions: int
) -> str:
    fault = (
        f"of {as_of}, {format_count(age_days, 'day')} before the plan"
        if why == "old"
        else "below half of the median of its type"
    )
    known = f"the median of its type in {regions} regions" if regions > 1 else "the recent price of one region"
    at = "the price on demand, since too little is known of its level" if basis == "on_demand" else known
    return f"listed at {listed_per_hour:,.4f} an hour, {fault}: counted at {counted_per_hour:,.4f}, {at}"


NOT_PLANNED = "not planned as an owned system: "

TEXTS: Mapping[str, str | Callable[..., str]] = {
    "data_price_unknown": "no price for its storage or egress there",
    "data_transfer_price_unknown": "no price for moving its data there",
    "may_not_be_owned": "may not be owned",
    "not_sold_where_allowed": "not sold in the providers, regions or residency allowed",
    "host_too_small": _host_too_small,
    "option_queued": "starts when there is capacity, and the work follows the hours",
    "gang_larger_than_order": "its gang takes {nodes:#node}, an order has at most {most}, and no fabric is known to"
    " join two",
    "option_run_limited": "runs end after {max_days:#day}, and the work may not be interrupted",
    "spot_price_not_recent": "no spot price is recent or plausible, and estimates are switched off",
    "spot_price_counted_at": _spot_price_counted_at,
    "sale_ends_in_first_month": lambda ends, successor: (
        f"ends on {ends}, before a whole month of the plan is over" + (f"; instead: {successor}" if successor else "")
    ),
    "sale_ends_within_term": lambda ends, successor: (
        f"ends on {ends}, before the term is over" + (f"; instead: {successor}" if successor else "")
    ),
    "ordered_too_far_ahead": "the plan starts later than it can be ordered for",
    "not_sold_this_way": "not sold as {purchase_option} ({source}, {checked})",
    "sale_ended": lambda ends, successor: f"not sold since {ends}" + (f"; instead: {successor}" if successor else ""),
    "sale_not_confirmed": "priced, and no dated source says that it is sold this way: check before you rely on it",
    "stock_unknown": "a quota allows nodes and reserves none, and no stock was given: ask before you rely on it",
    "quota_too_small": _quota_too_small,
    "quota_use_unknown": _quota_use_unknown,
    "no_quota_given": "no quota was given: any number of nodes is assumed to be allowed",
    "quota_provider_unknown": "no provider of the catalogue has this name: they limit nothing",
    "quota_missing_for_types": "no quota that was given counts them: whether they may run there is unknown",
    "quota_units_unknown": _quota_units_unknown,
    "quotas_outdated": "read on {as_of}, {age_days:#day} before the plan: read them again with `planner quota`",
    "quotas_enforced": _quotas_enforced,
    "quotas_compared": _quotas_compared,
    "quota_counts_committed_nodes": "Against quotas, committed nodes count while paid for; work that may run at any"
    " hour is spread over its month.",
    "quota_counts_whole_gangs": "Against quotas, a gang that spans nodes counts with all of them, even where its work"
    " fills only part of their month.",
    "data_price_of_other_region": "no {item} price there: that of {region} is used",
    "data_price_missing": "workloads with data cannot run there",
    "past_useful_life": "{age_months:#month} old, past the useful life of {useful_life_months}: not used; state a"
    " longer life if it is",
    "owned_system_not_sold": NOT_PLANNED + "not sold as one",
    "owned_price_unknown": NOT_PLANNED + "no price is known",
    "owned_price_newer": NOT_PLANNED + "its price is of {as_of}, after the date of the plan",
    "owned_price_outdated": NOT_PLANNED + "its price is of {as_of}, older than {max_age_years:#year}",
    "owned_power_unknown": NOT_PLANNED + "its power is unknown",
    "owned_height_unknown": NOT_PLANNED + "its height is unknown, and racks are counted by height: state {assumption}",
    "owned_power_estimated": "maximum power {power_kw:.2f} kW estimated as {times_accelerator_power:g} x that of its"
    " accelerators",
    "grid_carbon_unknown": "no carbon intensity of its grid is known: its emissions are not counted; state"
    " grid_gco2e_per_kwh of the region, or of the site",
    "node_power_unknown": "its power is unknown: its energy and emissions are not counted",
    "not_used_under_carbon_limit": "not used, since carbon is limited: {reason}",
    "rack_counted_by_power": "its height is unknown: its share of a rack is counted by its power alone",
    "existing_price_unknown": "no price is known: its support, insurance and resale are counted as 0",
    "memory_without_ecc": "{accelerator} is listed without error-correcting memory: bit errors may go unnoticed",
    "driver_licence_excludes_data_centres": "the licence of GeForce and Titan drivers does not cover data"
    " centres: {url}",
    "system_accelerator_read_as": _accelerator_read_as,
    "owned_nodes": _owned_nodes,
    "migration_of_owned_nodes": _migration,
    "racks_charged_in_parts": "Racks are charged in parts, by rack units or by kW, whichever is more; they are not"
    " rounded up to whole racks.",
    "own_room_annuity": "A room of one's own is paid off over {life_months:#month} at the discount rate, by the kW"
    " installed in it.",
    "operators_hired_singly": "Operators of owned nodes are hired one by one, from month to month.",
    "existing_nodes_value": lambda existing_value: (
        "Nodes owned before the plan cost their running, and what they would sell for at its start less what they sell"
        " for at its end or the end of their life (existing_value: market)."
        if existing_value == "market"
        else "Nodes owned before the plan cost their running only: their value counts neither at its start nor at its"
        " end (existing_value: none)."
    ),
}
