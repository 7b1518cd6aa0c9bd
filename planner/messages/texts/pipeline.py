"""The conventions of a plan: how it counts time, prices and work."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence


def _converted_at(rates: Sequence[str]) -> str:
    return f"Converted at {'; '.join(rates)}. The rate of that day is used for every month."


def _negotiated_prices(currency: str, negotiated: int, prices: int, rate_card: str, as_of: str) -> str:
    others = ", the others list prices" if negotiated < prices else ""
    return (
        f"Prices are in {currency}, Linux, before tax and support plans: {negotiated} of the {prices} used are"
        f" negotiated ({rate_card}, as in force on {as_of}){others}."
    )


TEXTS: Mapping[str, str | Callable[..., str]] = {
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
    "work_timing": "Training and batch work may run at any hour of its month; services and interactive work follow"
    " their shape.",
    "services_rent_whole_nodes": "A service rents whole nodes of one type in one place; other work uses the capacity it"
    " leaves free on committed or owned nodes.",
    "jobs_keep_their_gang": "A job that runs a stated number of gangs at once keeps one accelerator and size of gang"
    " from start to end.",
    "no_owned_system_in_time": "no owned system arrives after {lead_time_months} months of lead time, within the"
    " {plan_months} months planned, and can do any of the work",
}
