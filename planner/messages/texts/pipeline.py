"""The conventions of a plan: how it counts time, prices and work."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence


def _converted_at(rates: Sequence[str]) -> str:
    return f"Converted at {'; '.join(rates)}. The rate of that day is used for every month."


def _cut_by_clock(strategies: Sequence[str]) -> str:
    return (
        f"Cut by clock ({', '.join(strategies)}): a time limit ended the search before its counted work did, and"
        " another run may find another plan. Plan again on a machine with less load, or ask for fewer workloads, months"
        " or regions."
    )


def _negotiated_prices(currency: str, negotiated: int, prices: int, rate_card: str, as_of: str) -> str:
    others = ", the others list prices" if negotiated < prices else ""
    return (
        f"Prices are in {currency}, Linux, before tax and support plans: {negotiated} of the {prices} used are"
        f" negotiated ({rate_card}, as in force on {as_of}){others}."
    )


TEXTS: Mapping[str, str | Callable[..., str]] = {
    "plug_in_took_part": "Made with the plug-in {name} ({source}) of {group}.",
    "hours_per_month": "A month is {hours:g} hours (8,760 / 12).",
    "payment_timing": "Purchases fall at the start of a month, running costs at its end; the monthly rate is"
    " (1+r)^(1/12)-1.",
    "list_prices": "Prices are list prices in {currency}, Linux, before tax, support plans and negotiated discounts.",
    "negotiated_prices": _negotiated_prices,
    "converted_at": _converted_at,
    "commitments_charged_in_full": "Commitments that outlive the plan are charged in full.",
    "commitments_charged_pro_rata": "Commitments that outlive the plan are charged pro rata.",
    "data_charged_where_work_runs": "Storage and egress are charged where the work runs, in proportion to the work done"
    " there in a month.",
    "carbon_of_grids": "Energy is counted at the meter of the site: of rented nodes in the hours of use, at the draw at"
    " work; of owned nodes from delivery on. Carbon is that of the mean grid of the region.",
    "work_timing": "Training and batch work may run at any hour of its month; services and interactive work follow"
    " their shape.",
    "workloads_have_homes": "Each workload lives in one place for the whole plan: one instance type in one region, or"
    " one owned system. There it may be paid for in several ways, by month. It moves only where its type ends within"
    " the plan, once.",
    "owned_homes_overflow": "What owned nodes cannot do, also before they are delivered, overflows to one place in the"
    " cloud, the same for the whole plan: by the hour, or in commitments that were there before.",
    "work_may_spread": "Work that says spread: true may be divided over several places, a service in whole nodes"
    " in each.",
    "standing_work_has_whole_nodes": "Services, interactive work and all work tied to hours of the week have whole"
    " nodes, billed for every hour that they stand: nodes of a single workload at a time, unless workloads say"
    " shares_nodes: true.",
    "other_work_takes_node_hours": "Other work is billed by the node-hours that it takes, at any hour of its month: on"
    " so many whole nodes at once as are shown, not on all of them all the time. It also uses the hours that services"
    " leave free on committed and owned nodes.",
    "purchases_are_whole": "Commitments, reserved days and owned nodes are bought whole, and paid whether they are used"
    " or not.",
    "jobs_keep_their_gang": "A job that runs a stated number of gangs at once keeps one accelerator and size of gang"
    " from start to end.",
    "cut_by_clock": _cut_by_clock,
    "no_owned_system_in_time": "no owned system arrives after {lead_time_months:#month} of lead time, within the"
    " {plan_months:#month} planned, and can do any of the work",
}
