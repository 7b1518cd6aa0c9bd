"""Whether a price may be planned, by the terms on which its provider sells: the terms are data of the catalogue."""

from __future__ import annotations

from datetime import date

from planner.request.calendar import month_names
from planner.request.models import Request
from planner.result.message import Message, message
from pricing.catalog.price_catalog import Quote
from pricing.sale import SaleState


def plan_start(request: Request) -> date:
    """The first day of the plan: what is not sold any more by then cannot be planned."""
    return date.fromisoformat(f"{month_names(request)[0]}-01")


def sale_state(quote: Quote, day: date) -> SaleState:
    """Whether a price can be bought on a day; a price of which no source says how it is sold is not confirmed."""
    return "not_confirmed" if quote.sale is None else quote.sale.state(day)


def sale_refusal(quote: Quote, day: date) -> Message | None:
    """Why a price cannot be bought on a day; None where it can, or where no source speaks against it."""
    state, term = sale_state(quote, day), quote.sale
    if term is None or state in ("confirmed", "not_confirmed"):
        return None
    if state == "ended":
        return message("sale_ended", ends=str(term.ends), successor=term.successor or None)
    return message(
        "not_sold_this_way", purchase_option=quote.price.purchase_option, source=term.source, checked=term.checked
    )
