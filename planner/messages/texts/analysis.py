"""Texts of the analysis: infeasibility, alternatives, rightsizing, warnings, risk."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from pricing.counted_nouns import format_count

LISTED_MAX = 6
"""Reasons or accelerators listed in one sentence."""
WHOLE_FROM = 1000
"""Larger amounts are printed in whole units."""
LIFTED_LIMITS = {
    "memory": "with less memory per accelerator",
    "substitution": "on another accelerator (substitution: true)",
    "accelerators_per_node": "on nodes with fewer accelerators (accelerators_per_node: 1)",
    "measured_only": "with predicted throughput (measured_only: false)",
    "allow_estimates": "with estimates (allow_estimates: true)",
    "interruptible": "if it may be interrupted (interruptible: true)",
    "spot_fraction_max": "with all of it on spot (spot_fraction_max: 1)",
    "may_be_owned": "with may_be_owned: true",
    "spread": "in several places at once (spread: true)",
    "lead_time_months": "if owned nodes came at once (assumptions: lead_time_months and migration_months of 0)",
    "capacity_blocks_beyond_window": "with capacity blocks of later months (capacity_blocks_beyond_window: 1)",
    "parallel_jobs": "with more jobs at once (parallel_jobs)",
}
"""By limit of the request, what lifts it; other limits are left out by name."""


def _workload_unserved(workload: str, reasons: Sequence[str], offerings: Sequence[int]) -> str:
    counted = [f"{reason} ({count})" for reason, count in list(zip(reasons, offerings, strict=True))[:LISTED_MAX]]
    return f"{workload}: nothing can serve it: {'; '.join(counted) or 'no offering is priced'}"


def _would_be_served(
    workload: str, without: Sequence[str], candidates: int, accelerators: Sequence[str], memory_gib_max: float | None
) -> str:
    lifted = _list_lifted_limits(without)
    most = "" if memory_gib_max is None else f", at most {memory_gib_max:g} GiB"
    listed = ", ".join(accelerators[:LISTED_MAX]) + (" ..." if len(accelerators) > LISTED_MAX else "")
    return f"{workload}: would be served {lifted}{most} ({format_count(candidates, 'candidate')} on {listed})"


def _list_lifted_limits(limits: Sequence[str]) -> str:
    return " and ".join(LIFTED_LIMITS.get(limit, f"without its limit of {limit}") for limit in limits)


def _limit_too_low(limit: str, amount: float, unit: str, needed: float) -> str:
    """The figure that would do is rounded up where cents do not matter."""
    would_do = f"{math.ceil(needed):,d}" if needed >= WHOLE_FROM else f"{needed:,.10g}"
    least = f"{amount:,.0f}" if amount >= WHOLE_FROM else f"{amount:,.6g}"
    return f"{limit}: {least} {unit} is too little; {would_do} would do, all other limits kept"


def _requested_offering_retired(
    workload: str, provider: str, instance_type: str, accelerator: str, successor: str | None
) -> str:
    after = f"its successor is {successor}" if successor else "no successor is recorded"
    return f"{workload}: {provider} {instance_type} ({accelerator}) is retired; {after}"


def _cpu_and_gpu_cost(unit: str, cpu: str, cpu_cost_per_unit: float, gpu: str, gpu_cost_per_unit: float) -> str:
    cost = f"a CPU does a million {unit} for {cpu_cost_per_unit * 1e6:,.4g} ({cpu})"
    return f"{cost}, the cheapest GPU for {gpu_cost_per_unit * 1e6:,.4g} ({gpu})"


def _no_gpu_needed(workload: str, accelerators: Sequence[str], costs: str | None) -> str:
    text = f"{workload}: no GPU is needed, it runs on {', '.join(accelerators)} here"
    return f"{text}; by the hour: {costs}." if costs else f"{text}."


SMALL_PART = 0.01
"""A part of a data sheet below which its figure says no more than that it is small."""


def _described_work_on_cpus(
    workload: str, fraction: float, cpu: str, provider: str, region: str, instance_type: str, price_per_hour: float,
    currency: str, gpu: str, standing: bool,
) -> str:  # fmt: skip
    machine = f"{provider} {region} {instance_type} at {price_per_hour:,.4g} {currency} an hour"
    rental = f"{gpu} {'that stands all hours' if standing else 'in full use'}"
    if fraction >= 1:
        return (
            f"{workload}: CPUs would not do it for less than {rental}, even if each core of {machine} reached all of "
            f"the data sheet of {cpu}."
        )
    limit = "only if" if fraction >= SMALL_PART else "already if"
    part = f"{fraction:.0%} or more" if fraction >= SMALL_PART else f"less than {SMALL_PART:.0%}"
    return (
        f"{workload}: CPUs would do it for less than {rental} {limit} each core of {machine} reached {part} of the data"
        f" sheet of {cpu}; no run of it on a CPU is known: measure it there."
    )


def _accelerator_mostly_idle(
    workload: str, rental: str, busy_fraction: float, threshold_fraction: float, cpu_measured: bool
) -> str:
    text = f"{workload}: the cheapest node by the hour that can do it, {rental}, would work {busy_fraction:.1%}"
    text += f" of the time (below {threshold_fraction:.0%}): too little to own or commit to one for it alone"
    return f"{text}." if cpu_measured else f"{text}; whether it needs a GPU is unknown: it was not measured on a CPU."


def _throughput_not_measured(basis: str, low_fraction: float, high_fraction: float) -> str:
    how = {
        "described": "that of public runs of similar networks",
        "served": "that of public results of served models",
    }.get(basis, "predicted")
    interval = f"80 % of cases lie between {low_fraction:.0%} and {high_fraction:.0%} of it"
    return f"throughput is {how}, not measured: {interval}"


def _boot_disks_not_counted(
    disk_gb: int, cost: float, currency: str, prices: Sequence[str], unpriced: Sequence[str]
) -> str:
    text = "not in the costs of the plan: every rented node needs one"
    if prices:
        text += f"; {disk_gb} GB a node would cost about {cost:,.0f} {currency} in all, at {'; '.join(prices)}"
    return f"{text}; no price is known for {', '.join(unpriced)}" if unpriced else text


def _dated_capacity_not_assured(ahead_days: int | None, beyond: bool) -> str:
    if ahead_days is None:
        return "sold for dates, while on offer: none is assured"
    later = "later months are priced as today" if beyond else "not planned for later months, where it may replace them"
    return f"sold at most {ahead_days} days ahead, while on offer: none is assured, and {later}"


def _type_ends(
    ends: str, last_month: str | None, successor: str | None, price_per_hour: float | None, currency: str, region: str
) -> str:
    until = f"planned up to {last_month}, its last whole month" if last_month else "no whole month of the plan is left"
    text = f"ends on {ends}: {until}"
    if successor is None:
        return f"{text}; no successor is recorded"
    if price_per_hour is None:
        return f"{text}; instead {successor}, whose price on demand is not known"
    return f"{text}; instead {successor}, from {price_per_hour:,.4f} {currency} an hour on demand ({region})"


IN_PART = " in the regions that cost least (the others were not searched)"

TEXTS: dict[str, str | Callable[..., str]] = {
    "workload_unserved": _workload_unserved,
    "would_be_served": _would_be_served,
    "reason_of_strategy": "{strategy}: {reason}",
    "would_be_done": lambda workload, without: (
        f"{workload}: all of its work could be done {_list_lifted_limits(without)}"
    ),
    "would_be_done_alone": (
        "{workload}: all of its work could be done without the other workloads, which use what it needs"
    ),
    "would_be_owned": lambda workload, without: f"{workload}: could be owned {_list_lifted_limits(without)}",
    "nothing_to_own": "no owned system can do any of the work, whenever it arrives",
    "slice_holds_gang": "{workload}: {provider} {instance_type} is one slice of {chips:g} chips, which holds its gang",
    "requested_offering_retired": _requested_offering_retired,
    "limit_too_low": _limit_too_low,
    "target_too_high": lambda limit, target, attainable, in_part, is_proven: (
        f"{limit}: {target:.0%} {'is impossible' if is_proven else 'was not met by any plan that the search came to'}"
        f"{IN_PART if in_part else ''}; {attainable:.0%} is possible under all other limits"
    ),
    "no_single_limit_in_the_way": lambda limits: f"no limit alone is in the way, of these: {', '.join(limits)}",
    "limits_in_the_way_together": lambda limits: f"all work could be done without {' and '.join(limits)}",
    "limit_not_examined": "{limit}: whether it alone is in the way was not found within the work of the search",
    "shortage_not_examined": "why no plan is possible was not found within the work of the search",
    "work_not_done": "{workload}: {fraction:.1%} of its work cannot be done in time",
    "work_not_done_at_most": "{workload}: at most {fraction:.1%} of its work cannot be done in time",
    "work_not_done_in_parallel": (
        "{workload}: {fraction:.1%} of its work cannot be done in time: {parallel_jobs} job at a time takes"
        " {months:.1f} months at the fastest offering ({units_per_hour:,.0f} {unit} an hour); a deadline in month"
        " {deadline_needed} or parallel_jobs of {parallel_jobs_needed} would do"
    ),
    "offering_unpriced": "no price in any region",
    "offering_is_attached_part": "only runs attached to a machine",
    "offering_retired": lambda successor: f"retired; its successor is {successor}" if successor else "retired",
    "option_may_be_interrupted": "the provider may interrupt it, and the work may not be interrupted",
    "option_sold_in_whole_days": "sold in whole days, and the work follows the hours",
    "interrupted_too_often": "interrupted too often for any useful work",
    "option_not_planned": "a purchase option that is not planned",
    "quota_leaves_no_room": "the quota leaves room for none",
    "delivered_after_plan": "delivered after the months planned",
    "owning_not_requested": "no requested strategy may own anything",
    "other_reasons": "{reasons} other reasons",
    "rental": "{provider} {name} ({accelerators:.3g} x {accelerator})",
    "cpu_and_gpu_cost": _cpu_and_gpu_cost,
    "described_work_on_cpus": _described_work_on_cpus,
    "no_gpu_needed": _no_gpu_needed,
    "cpu_can_serve": "{workload}: a CPU can do it as well; by the hour: {costs}.",
    "measured_cpu_unavailable": (
        "{workload}: measured on {cpu}, but no CPU that can do it is for rent or sale here: add a server (systems) or a"
        " cloud of your own to compare."
    ),
    "accelerator_mostly_idle": _accelerator_mostly_idle,
    "cpu_machine": (
        "{workload}: the cheapest machine with CPUs only, no fewer of them and no less memory than that node has, is"
        " {provider} {region} {instance_type} ({vcpus:g} vCPUs, {memory_gib:g} GiB) at {price_per_hour:,.4g} {currency}"
        " an hour on demand ({as_of}, {source}); it costs less than {rental} where it does more than"
        " {units_per_hour:,.4g} {unit} an hour: measure it there."
    ),
    "fractional_accelerator_would_do": (
        "{workload}: {fraction:.3g} of a {accelerator} ({provider} {region} {instance_type}) has the {memory_gib:g} GiB"
        " and would cost about {cost:,.0f} {currency} by the hour where it is as much slower as it is smaller: measure"
        " it there, and state gang: {fraction:.3g}."
    ),
    "sized_for_one_stream": (
        "{workload}: its nodes are counted for one request at a time on each copy of the network"
        " ({units_per_second:,.4g} units a second an accelerator). Servers do many at once, and far more together:"
        " state `serving`, or measure it under load, before you rely on its cost."
    ),
    "start_in_past": (
        "The plan starts in {start}, before its date ({as_of}): what it would have saved before that date cannot be"
        " saved any more, and nothing can be ordered for it."
    ),
    "prices_far_from_start": (
        "The plan starts {months:#month} after the newest of its prices ({newest}): it says what would be bought if"
        " prices stayed as they are."
    ),
    "prices_newer_than_plan": (
        "Newer than the plan's date ({as_of}), so without effect: {prices:#price} of the catalogue."
    ),
    "capacity_unknown": (
        "no quota or stock was given: whatever has a price is assumed to be available in any number; check the capacity"
        " before you rely on it"
    ),
    "slice_read_as_chips": "read as {accelerator}; hours and counts are of chips, not of slices",
    "accelerator_read_as": lambda accelerator, other_variants: (
        f"read as {accelerator}; other variants, if you mean one of them: {', '.join(other_variants)}"
    ),
    "unpriced_offering": "no price in any region: never a candidate",
    "price_unpublished": "no source has its price: never a candidate",
    "purchase_option_unplanned": "the catalogue has prices for it, but no plan uses them yet",
    "commitments_unpriced": (
        "no reserved, committed or savings-plan price is known: only use by the hour was compared"
    ),
    "boot_disks_not_counted": _boot_disks_not_counted,
    "disk_price": (
        "{price_per_gb_month:g} {currency} a GB and month of {disk} ({provider} {region}, {as_of}, {source_id})"
    ),
    "way_unpriced": "no source has its price there",
    "way_not_planned": "sold this way and not planned: {reason}",
    "reservation_attached": "sold only together with a reservation of the same nodes: order both at once",
    "spot_hours_billed": (
        "{hours_per_useful_hour:.3f} hours are billed for each useful hour, at one interruption of a node in"
        " {hours_to_interruption:g} hours (spot_hours_to_interruption) beside failures"
    ),
    "spot_prices_counted_at": (
        "{prices} spot prices of {oldest} to {newest} are too old or too low to decide with: counted at the median of"
        " recent ones of their type or at the price on demand; refresh them (planner prices refresh), or state the age"
        " that you accept (old_spot_price_days)"
    ),
    "type_ends": _type_ends,
    "dated_capacity_not_assured": _dated_capacity_not_assured,
    "levels_grouped": lambda excess_fraction: (
        f"it has more levels than the plan keeps apart: hours of near levels have nodes for the highest of them,"
        f" {100 * excess_fraction:.1f} % more than the work needs; the work itself is exact"
    ),
    "throughput_not_measured": _throughput_not_measured,
    "price_outdated": "priced on {as_of}, {age_days:#day} before the plan",
    "price_derived": "price derived, not listed: {note}",
    "price_not_converted": "{reason}: never a candidate",
    "exchange_rate_outdated": "of {as_of}, {age_days:#day} before the plan",
    "private_price_not_in_force": lambda period, as_of, prices: (
        f"holds {period}, not on {as_of}: not applied to {format_count(prices, 'price')} that could serve"
    ),
    "workload_not_ownable": "no owned system that arrives in time can run it: it stays in the cloud in every strategy",
    "over_budget": lambda cost_per_month, budget_per_month: (
        f"costs {cost_per_month:,.0f} a month on average in the recommended strategy,"
        f" {cost_per_month / budget_per_month - 1:.0%} over its budget"
    ),
    "draws_keep_the_plan": (
        "Draws keep the plan as it is. Not drawn: throughput, the discount rate, price lists except for their yearly"
        " change, and assumptions that change what a plan can do (lead time, life, failures)."
    ),
    "range_ends_are_choices": (
        "An assumption at an end of its range is a choice, or a fact you have not stated yet: varied, not drawn."
    ),
    "assumptions_outside_range": lambda assumptions: (
        f"Your own values outside the published range, so neither varied nor drawn: {', '.join(assumptions)}."
    ),
    "standard_error_large": lambda strategies, fraction_of_mean: (
        f"The standard error is above {fraction_of_mean:.1%} of the mean for {', '.join(strategies)}:"
        " request more draws."
    ),
    "strategies_paid_draw_by_draw": lambda strategies: (
        f"Priced draw by draw, because of a step or a minimum fee: {', '.join(strategies)}."
    ),
    "draws_without_plan": lambda draws: (
        f"{format_count(draws, 'draw')} of those planned again had no plan and do not count."
    ),
    "replans_within_gap": lambda assumptions: (
        "Changes of cost that are no larger than the gap of the plans to their bounds, so that the search alone may be"
        f" the cause: {', '.join(assumptions)}."
    ),
    "replans_cut_by_clock": lambda plans: (
        f"{format_count(plans, 'plan')} made again were cut by the clock: more time may find better ones."
    ),
    "service_divided": lambda workload, accelerators, shares, place, saved, currency: (
        f"{workload} is served on several types of accelerators in {place}, which takes {saved:,.0f} {currency} off the"
        " present cost: "
        + ", ".join(f"{share:.0%} on {name}" for name, share in zip(accelerators, shares, strict=True))
        + " of its requests."
    ),
    "service_mixed": "{workload} is served on several types of nodes in {place}, in shares that differ by hour, which"
    " takes {saved:,.0f} {currency} off the present cost.",
    "service_not_divided": "{workload} is served on one type of accelerator: no division over several that was tried"
    " costs less.",
    "sold_nowhere_allowed": "sold nowhere that is allowed",
}
