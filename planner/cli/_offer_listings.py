"""Behind `planner offers`: its options, built from the fields of a query, and its output."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from functools import cache

import click

from planner.cli._input_problems import option_flag
from planner.cli._tables import csv_text, json_text, print_text
from planner.library.catalog_files import open_catalog
from planner.request.errors import InvalidRequest
from planner.request.offer_query import parse_offer_query
from pricing.counted_nouns import format_count
from pricing.search import FIELDS, find_offers
from pricing.search.results import OfferRow, Offers, UnrentedAccelerator
from pricing.text_tables import align_columns

SOLD = {"confirmed": "yes", "not_confirmed": "?", "not_sold": "no", "ended": "no longer"}
"""Whether an offer is sold this way, for a narrow column."""


@cache
def filter_options() -> tuple[click.Option, ...]:
    """One option for each field of a query; values stay text, so that all problems are found together."""
    return tuple(_build_option(name) for name in FIELDS)


def _build_option(name: str) -> click.Option:
    item = FIELDS[name]
    help_text = item.metadata["help"][0].upper() + item.metadata["help"][1:]
    if item.default is False:
        return click.Option([option_flag(name)], is_flag=True, help=f"{help_text}.")
    if item.metadata["choices"]:
        help_text = f"{help_text}: {', '.join(item.metadata['choices'])}"
    help_text += "." if item.default in ((), None) else f".  [default: {item.default}]"
    return click.Option([option_flag(name)], multiple=True, metavar=item.metadata["metavar"], help=help_text)


def _search_offers(texts: Mapping[str, Sequence[str]], money: tuple[str | None, str | None]) -> Offers:
    """The offers that match the options; InvalidRequest with every problem of them and of the price files."""
    catalog, faults = open_catalog(*money)
    if not faults:
        return find_offers(parse_offer_query(texts, catalog, option_flag), catalog)
    try:
        parse_offer_query({name: text for name, text in texts.items() if name != "currency"}, catalog, option_flag)
    except InvalidRequest as error:
        faults = (*faults, *error.complaints)
    raise InvalidRequest(faults)


def show_offers(texts: Mapping[str, Sequence[str]], money: tuple[str | None, str | None], format_name: str) -> None:
    """Print the offers that match the options."""
    offers = _search_offers(texts, money)
    if format_name == "json":
        print_text(json_text(asdict(offers)))
    elif format_name == "csv":
        columns = [item.name for item in fields(OfferRow)]
        print_text(csv_text(columns, map(asdict, offers.rows), line_end="\r\n"))
    else:
        print_text("\n".join(_offer_lines(offers)) + "\n")


def _offer_lines(offers: Offers) -> list[str]:
    """The rows as a table, then notes and gaps."""
    precision = offers.rows[0].precision if offers.rows else ""
    sign = "$" if offers.currency == "USD" else offers.currency
    head = ("provider", "region", "type", "accelerator", "count", "option", f"{sign}/h", f"{sign}/acc-h", "mem GiB",
            "GB/s", "cores", f"TFLOPS {precision}", "as of", "source", "sold")  # fmt: skip
    lines = align_columns(head, map(_row_cells, offers.rows), right=head[6:12])
    return [*(lines if offers.rows else ["no offering with a price fits"]), "", *_note_lines(offers)]


def _row_cells(row: OfferRow) -> tuple[str, ...]:
    amounts = (
        (row.price_per_accelerator_hour, 4), (row.memory_gib_per_node, 0), (row.memory_bandwidth_gbs_per_node, 0),
        (row.cores_per_node, 0), (row.tflops_per_node, 1),
    )  # fmt: skip
    return (
        row.provider,
        row.region,
        row.instance_type + ("" if row.status == "current" else f" ({row.status})"),
        row.accelerator if row.kind == "accelerator" else _machine_text(row),
        _count_text(row.accelerator_count),
        row.purchase_option,
        f"{row.price_per_hour:,.4f}",
        *("?" if amount is None else f"{amount:,.{digits}f}" for amount, digits in amounts),
        row.as_of.isoformat(),
        row.source_id,
        SOLD[row.sale] + (f", {row.sale_limits}" if row.sale_limits and row.sale != "not_sold" else ""),
    )


def _machine_text(row: OfferRow) -> str:
    """What a machine without an accelerator has: CPU only (64 vCPUs, 128 GiB)."""
    host = [f"{row.vcpus:g} vCPUs"] if row.vcpus else []
    host += [f"{row.host_memory_gib:g} GiB"] if row.host_memory_gib else []
    return ("FPGA" if row.kind == "fpga" else "CPU only") + (f" ({', '.join(host)})" if host else "")


def _count_text(count: float | None) -> str:
    """8, 1/6, or ? if unknown."""
    if count is None:
        return "?"
    if count.is_integer():
        return f"{count:.0f}"
    from fractions import Fraction

    return str(Fraction(count).limit_denominator(64))


def _list_price_text(each: UnrentedAccelerator) -> str:
    if each.list_price is None:
        return ""
    year = f" in {each.list_price_year}" if each.list_price_year else ""
    return f" (list price of one {each.list_price:,.0f} USD{year})"


def _note_lines(offers: Offers) -> Sequence[str]:
    listed = len(offers.rows)
    shown = f"{listed} of {offers.total} prices" if listed < offers.total else format_count(listed, "price")
    notes = [f"{shown}, by {offers.sort}"] if listed else []
    if offers.unsorted:
        notes.append(f"{offers.unsorted} have no value of the sort key and are last")
    by_reason: dict[str, list[str]] = {}
    for gap in offers.gaps:
        accelerators = f"{_count_text(gap.accelerator_count)} x {gap.accelerator}"
        by_reason.setdefault(gap.reason, []).append(f"{gap.provider} {gap.instance_type} ({accelerators})")
    for reason, missing in by_reason.items():
        notes += [f"{len(missing)} more would fit but have {reason}:", *(f"  {name}" for name in missing)]
    notes += [
        f"no provider of the catalogue rents {each.accelerator}{_list_price_text(each)}: `systems` of a request plans"
        " it as a system of your own, at the price that you were quoted"
        for each in offers.not_rented
    ]
    if offers.retired:
        notes.append(f"{len(offers.retired)} retired, which cannot be started any more:")
        notes += [f"  {each.words}" for each in offers.retired]
    for adjustment, count in Counter(row.adjustment for row in offers.rows if row.adjustment).items():
        notes.append(f"{count} of these prices negotiated: {adjustment}")
    notes += [f"left out: {left}" for left in offers.left_out]
    notes += [f"Converted at {rate.words}" for rate in offers.exchange_rates]
    if not offers.rows:
        return notes
    has_machines = any(row.kind != "accelerator" for row in offers.rows)
    return [
        *notes,
        f"Prices: {offers.currency} per hour of the whole node, Linux, before tax; ? is unknown, never zero.",
        *(["Machines without an accelerator are shown and compared with; no plan rents one."] * has_machines),
        "Sold: yes or no as a dated source says (--json names it); ? where none does. Plans use all but no.",
    ]
