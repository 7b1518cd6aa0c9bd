"""Behind `planner offers`: its options, made from the fields of a query, and what it prints."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, fields
from functools import cache
from pathlib import Path

import click

from planner.errors import Complaint, InvalidRequest
from planner.offers import FIELDS, Offers, Row, find, parse_query
from pricing import local
from pricing.catalog import Catalog
from pricing.errors import BadSnapshot
from pricing.exchange import Exchange
from pricing.private import RateCard


@cache
def options() -> tuple[click.Option, ...]:
    """One option for each field of a query; values stay text, so that all are judged together."""
    return tuple(_option(name) for name in FIELDS)


def _option(name: str) -> click.Option:
    item = FIELDS[name]
    told = item.metadata["help"][0].upper() + item.metadata["help"][1:]
    if item.default is False:
        return click.Option([_flag(name)], is_flag=True, help=f"{told}.")
    if item.metadata["choices"]:
        told = f"{told}: {', '.join(item.metadata['choices'])}"
    told += "." if item.default in ((), None) else f".  [default: {item.default}]"
    return click.Option([_flag(name)], multiple=True, metavar=item.metadata["metavar"], help=told)


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def found(texts: Mapping[str, Sequence[str]], money: tuple[str | None, str | None]) -> Offers:
    """What the options ask for; InvalidRequest with every fault of theirs, and of the files of prices and rates."""
    catalog, faults = catalogue(*money)
    if not faults:
        return find(parse_query(texts, catalog, _flag), catalog)
    try:
        parse_query({name: text for name, text in texts.items() if name != "currency"}, catalog, _flag)
    except InvalidRequest as error:
        faults = (*faults, *error.complaints)
    raise InvalidRequest(faults)


def catalogue(private_prices: str | None, exchange_rates: str | None) -> tuple[Catalog, tuple[Complaint, ...]]:
    """The catalogue with these files, or those of the data folder; faulty ones are left out and told in full."""
    card, rates = (Path(given) if given else None for given in (private_prices, exchange_rates))
    try:
        return Catalog.current(card, rates), ()
    except BadSnapshot as bad:
        found = [
            *_faults(RateCard.read, card or local.folder() / local.PRIVATE_PRICES, given=card is not None),
            *_faults(Exchange.read, rates or local.folder() / local.EXCHANGE_RATES, given=rates is not None),
        ]
        if not found:  # it is the snapshots that cannot be read
            raise bad from None
        return Catalog.embedded(), tuple(found)


def _faults(read: Callable[[Path], object], path: Path, *, given: bool) -> list[Complaint]:
    if not given and not path.is_file():
        return []
    try:
        read(path)
    except BadSnapshot as bad:
        parts = (fault.partition(": ") for fault in bad.faults)
        return [Complaint("", place, message) for place, _, message in parts]
    return []


def json_text(offers: Offers) -> str:
    import json

    return json.dumps(asdict(offers), indent=2, default=str, ensure_ascii=False) + "\n"


def csv_text(offers: Offers) -> str:
    import csv
    import io

    lines = io.StringIO(newline="")
    writer = csv.DictWriter(lines, [item.name for item in fields(Row)])
    writer.writeheader()
    writer.writerows(asdict(row) for row in offers.rows)
    return lines.getvalue()


def table(offers: Offers) -> str:
    """The rows for a reader, then what the table does not show."""
    precision = offers.rows[0].precision if offers.rows else ""
    sign = "$" if offers.currency == "USD" else offers.currency
    head = ("provider", "region", "type", "accelerator", "count", "option", f"{sign}/h", f"{sign}/acc-h", "mem GiB",
            "GB/s", "cores", f"TFLOPS {precision}", "as of", "source")  # fmt: skip
    cells = [head, *(_cells(row) for row in offers.rows)]
    widths = [max(len(line[column]) for line in cells) for column in range(len(head))]
    lines = [
        "  ".join(
            _aligned(text, width, column) for column, (text, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in cells
    ]
    return "\n".join([*(lines if offers.rows else ["no offering with a price fits"]), "", *_notes(offers)]) + "\n"


RIGHT = range(6, 12)


def _aligned(text: str, width: int, column: int) -> str:
    return text.rjust(width) if column in RIGHT else text.ljust(width)


def _cells(row: Row) -> tuple[str, ...]:
    return (
        row.provider,
        row.region,
        row.instance_type + ("" if row.status == "current" else f" ({row.status})"),
        row.accelerator,
        count_text(row.accelerator_count),
        row.purchase_option,
        f"{row.price_per_hour:,.4f}",
        _figure(row.price_per_accelerator_hour, 4),
        _figure(row.memory_gib_per_node, 0),
        _figure(row.memory_bandwidth_gbs_per_node, 0),
        _figure(row.cores_per_node, 0),
        _figure(row.tflops_per_node, 1),
        row.as_of.isoformat(),
        row.source_id,
    )


def _figure(value: float | None, digits: int) -> str:
    return "?" if value is None else f"{value:,.{digits}f}"


def count_text(count: float | None) -> str:
    """8, 1/6 or ? where no source tells it."""
    if count is None:
        return "?"
    if count.is_integer():
        return f"{count:.0f}"
    from fractions import Fraction

    return str(Fraction(count).limit_denominator(64))


def _notes(offers: Offers) -> Sequence[str]:
    shown = len(offers.rows)
    notes = [
        f"{shown} of {offers.total} prices, by {offers.sort}"
        if shown < offers.total
        else f"{shown} prices, by {offers.sort}"
    ]
    if offers.unsorted:
        notes.append(f"{offers.unsorted} lack what they are sorted by and stand last")
    by_reason: dict[str, list[str]] = {}
    for gap in offers.gaps:
        by_reason.setdefault(gap.reason, []).append(
            f"{gap.provider} {gap.instance_type} ({count_text(gap.accelerator_count)} x {gap.accelerator})"
        )
    for reason, missing in by_reason.items():
        notes += [f"{len(missing)} more would fit but have {reason}:", *(f"  {name}" for name in missing)]
    for adjustment, count in Counter(row.adjustment for row in offers.rows if row.adjustment).items():
        notes.append(f"{count} of these prices negotiated: {adjustment}")
    notes += [f"left out: {left}" for left in offers.left_out]
    notes += [f"Converted at {rate.words}" for rate in offers.exchange_rates]
    return [
        *notes,
        f"Prices: {offers.currency} per hour of the whole node, Linux, before tax; ? is unknown, never zero.",
    ]
