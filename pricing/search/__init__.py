"""Searches offerings and their prices, for `planner offers` and `GET /offers`.

Independent of plans: it knows offerings and prices, no workloads. Filters are parsed here from the text of the user, so
that the command and the service reject the same input with the same message. Imports no heavy library.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field, fields
from datetime import date
from typing import Any, get_args

from pricing import exchange_rates as exchange
from pricing.accelerator import Accelerator
from pricing.catalog.adjusted_prices import AdjustedCatalog, adjust_catalog, check_rate_card
from pricing.catalog.price_catalog import Catalog
from pricing.catalog.quotes import Quote, full_accelerator_memory, usable_accelerator_memory
from pricing.clock import today
from pricing.csv_tables import find_nearest_names, parse_number
from pricing.errors import InvalidQuery, QueryProblem, UnknownName
from pricing.exchange_rates import is_currency_code
from pricing.frozen_values import dataclass
from pricing.offering import Offering
from pricing.price import AdjustedPrice, Price
from pricing.search.machine_rows import find_machine_rows, is_large_enough
from pricing.search.results import (
    OfferKind,
    OfferRow,
    Offers,
    RetiredOffering,
    UnpricedOffering,
    UnrentedAccelerator,
)
from pricing.search.retired import find_retired

COUNT_TOLERANCE = 1e-6


def _price_ratio(price: float, amount: float | None) -> float | None:
    return price / amount if amount else None


SORTS: dict[str, tuple[Callable[[OfferRow], float | None], bool]] = {
    "price": (lambda row: row.price_per_hour, False),
    "price_per_accelerator": (lambda row: row.price_per_accelerator_hour, False),
    "price_per_memory": (lambda row: _price_ratio(row.price_per_hour, row.memory_gib_per_node), False),
    "price_per_bandwidth": (lambda row: _price_ratio(row.price_per_hour, row.memory_bandwidth_gbs_per_node), False),
    "price_per_core": (lambda row: _price_ratio(row.price_per_hour, row.cores_per_node), False),
    "price_per_rate": (lambda row: _price_ratio(row.price_per_hour, row.tflops_per_node), False),
    "memory": (lambda row: row.memory_gib_per_node, True),
    "bandwidth": (lambda row: row.memory_bandwidth_gbs_per_node, True),
    "cores": (lambda row: row.cores_per_node, True),
    "rate": (lambda row: row.tflops_per_node, True),
}
"""Sort keys, and whether the largest value comes first."""

RATES = {
    "bf16": "fp16_tflops",
    "fp16": "fp16_tflops",
    "fp8": "fp8_tflops",
    "fp4": "fp4_tflops",
    "tf32": "tf32_tflops",
    "fp32": "fp32_tflops",
}
"""The specification that is the peak rate at a precision; bf16 and fp16 run at one rate."""


def _filter_field(help_text: str, *, default: object = (), metavar: str = "NAME", choices: Iterable[str] = ()) -> Any:
    return field(default=default, metadata={"help": help_text, "metavar": metavar, "choices": tuple(choices)})


@dataclass(frozen=True, slots=True)
class OfferQuery:
    """The filters as values; names are canonical. Tuples allow any of theirs, an empty one allows all."""

    accelerator: tuple[str, ...] = _filter_field(
        "accelerator as any cloud writes it; a bare model (H100) is all its variants"
    )
    provider: tuple[str, ...] = _filter_field("provider, as aws, azure or gcp")
    region: tuple[str, ...] = _filter_field("region as the provider names it")
    type: tuple[str, ...] = _filter_field("instance type as the provider names it")
    option: tuple[str, ...] = _filter_field(
        "purchase option: a kind (spot, reserved) or a full name (reserved_1y_no_upfront)"
    )
    count: float | None = _filter_field(
        "accelerators per node, exactly; a slice is a fraction (1/6)", default=None, metavar="N"
    )
    min_count: float | None = _filter_field("accelerators per node, at least", default=None, metavar="N")
    min_memory_gib: float | None = _filter_field(
        "memory of one accelerator (or of the slice), at least", default=None, metavar="GIB"
    )
    min_memory_gib_per_node: float | None = _filter_field(
        "memory of all accelerators of a node, at least", default=None, metavar="GIB"
    )
    kind: str | None = _filter_field(
        "kind of machine; without it those with accelerators, and others where --type names them",
        default=None,
        metavar="KIND",
        choices=get_args(OfferKind),
    )
    min_vcpus: float | None = _filter_field("virtual processors of a node, at least", default=None, metavar="N")
    min_host_memory_gib: float | None = _filter_field("main memory of a node, at least", default=None, metavar="GIB")
    currency: str = _filter_field(
        "currency of the prices, by the exchange rates of today", default="USD", metavar="CODE"
    )
    precision: str = _filter_field(
        "precision of the dense peak rate in the output and for sorting", default="bf16", metavar="P", choices=RATES
    )
    sort: str = _filter_field(
        "price keys put the lowest first, amounts the highest", default="price", metavar="KEY", choices=SORTS
    )
    reverse: bool = _filter_field("turn the order around", default=False)
    limit: int | None = _filter_field("show only the first N rows", default=None, metavar="N")


FIELDS = {item.name: item for item in fields(OfferQuery)}


def parse_query(given: Mapping[str, Sequence[str]], catalog: Catalog, place: Callable[[str], str] = str) -> OfferQuery:
    """The query in texts by field name (`{"count": ["8"]}`; lists may hold commas), or InvalidQuery with every problem.

    `place` turns a field name into the form of the user's input (--count, ?count).
    """
    values: dict[str, Any] = {}
    problems: list[QueryProblem] = []
    for fault in check_rate_card(catalog):
        line, _, message = fault.partition(": ")
        problems.append(QueryProblem(line, message))
    for name, texts in given.items():
        if name not in FIELDS:
            problems.append(QueryProblem(place(name), "unknown filter", name, _expected_names(FIELDS, name)))
            continue
        parts = tuple(part.strip() for text in texts for part in text.split(",") if part.strip())
        if parts:
            values[name], faults = _parse_value(name, parts, catalog)
            problems += [QueryProblem(place(name), message, value, expected) for message, value, expected in faults]
    if problems:
        raise InvalidQuery(tuple(problems))
    return OfferQuery(**values)


FilterProblem = tuple[str, str, str]
"""The problem, the input, and the expected input."""


def _parse_value(name: str, parts: tuple[str, ...], catalog: Catalog) -> tuple[Any, list[FilterProblem]]:
    default = FIELDS[name].default
    if default == ():
        return _parse_names(name, parts, catalog)
    if len(parts) > 1:
        return default, [("given more than once", ", ".join(parts), "one value")]
    text = parts[0]
    if choices := FIELDS[name].metadata["choices"]:
        return text, [] if text in choices else [("unknown value", text, _expected_names(choices, text))]
    if name == "currency":
        return _parse_currency(text, catalog)
    if default is False:
        known = {"true": True, "1": True, "false": False, "0": False}
        return known.get(text.lower(), False), [] if text.lower() in known else [
            ("no yes or no", text, "true or false")
        ]
    return _parse_number(name, text)


def _parse_currency(text: str, catalog: Catalog) -> tuple[str, list[FilterProblem]]:
    if not is_currency_code(text):
        return text, [("no currency code", text, "three capitals such as EUR")]
    adjusted = AdjustedCatalog(catalog, text, today())
    if adjusted.left_out and not adjusted.options:
        return text, [
            (adjusted.left_out[0].why, text, "a currency with a rate, or a file of exchange rates that has it")
        ]
    return text, []


def _expected_names(known: Iterable[str], written: str) -> str:
    close = find_nearest_names(written, known)
    return f"one of {', '.join(known)}" + (f"; nearest: {close[0]}" if close else "")


def _parse_number(name: str, text: str) -> tuple[float | int | None, list[FilterProblem]]:
    whole = name == "limit"
    expected = "a whole number above 0" if whole else "a number above 0"
    value = parse_number(text)
    if value is None:
        return None, [("no number", text, expected)]
    if value <= 0 or (whole and not value.is_integer()):
        return None, [("out of range", text, expected)]
    return int(value) if whole else value, []


def _parse_names(name: str, parts: tuple[str, ...], catalog: Catalog) -> tuple[tuple[str, ...], list[FilterProblem]]:
    """The canonical names that the parts mean, without repetition, and a fault for each that means none."""
    known: dict[str, Callable[[str], Iterable[str]]] = {
        "accelerator": lambda part: [accelerator.name for accelerator in catalog.names.match(part)],
        "provider": lambda part: [catalog.check_provider(part)],
        "region": lambda part: [entry.region for entry in catalog.check_region(part)],
        "option": lambda part: [catalog.check_option(part)],
        "type": lambda part: [_match_type(part, catalog)],
    }
    names: dict[str, None] = {}
    faults: list[FilterProblem] = []
    for part in parts:
        try:
            names.update(dict.fromkeys(known[name](part)))
        except UnknownName as error:
            faults.append(
                (f"unknown {error.kind}", part, f"nearest: {', '.join(error.nearest)}" if error.nearest else "")
            )
    return tuple(names), faults


def _match_type(written: str, catalog: Catalog) -> str:
    """The type of that name, whichever provider has or had it."""
    spelled = {machine.instance_type.casefold(): machine.instance_type for machine in catalog.machines}
    spelled |= {name.casefold(): name for _, name in catalog.offerings}
    if catalog.ended_family(written):
        return written.casefold()
    if written.casefold() not in spelled:
        close = find_nearest_names(written, spelled)
        raise UnknownName("instance type", written, tuple(spelled[name] for name in close))
    return spelled[written.casefold()]


def find_offers(query: OfferQuery, catalog: Catalog, day: date | None = None) -> Offers:
    """Every price of every matching current offering in the requested order; ties by price and names.

    `day` (default: today) selects exchange rates and private prices.
    """
    catalog = adjust_catalog(catalog, query.currency, day or today())
    specifications = catalog.names.by_name
    quotes = catalog.quotes(
        accelerators=query.accelerator or None,
        providers=query.provider or None,
        regions=query.region or None,
        options=query.option or None,
        instance_types=query.type or None,
        offerings=[o for o in catalog.priced if _matches_query(o, specifications[o.accelerator], query)],
    )
    rows = [_build_row(quote, query.precision, catalog, day or today()) for quote in quotes]
    if machines := find_machine_rows(query, catalog):
        rows = sorted([*rows, *machines], key=lambda row: row.price_per_hour)
    key, largest_first = SORTS[query.sort]
    rented = {offering.accelerator for offering in catalog.offerings.values()}
    keyed = [(value, row) for row in rows if (value := key(row)) is not None]
    # Both sorts are stable, so rows of one value keep the catalogue's order (price, then names).
    keyed.sort(key=lambda pair: pair[0], reverse=largest_first != query.reverse)
    ordered = [row for _, row in keyed] + [row for row in rows if key(row) is None]
    return Offers(
        rows=tuple(ordered[: query.limit]),
        total=len(ordered),
        unsorted=len(rows) - len(keyed),
        sort=query.sort,
        gaps=_find_unpriced(query, catalog, {(row.provider, row.instance_type) for row in rows}),
        retired=_find_retired(query, catalog) if query.type or query.accelerator else (),
        not_rented=() if rented.intersection(query.accelerator) else _describe_unrented(query.accelerator, catalog),
        catalog_digest=catalog.digest,
        currency=query.currency,
        **(_conversion_details(catalog) if isinstance(catalog, AdjustedCatalog) else {}),
    )


def _describe_unrented(accelerators: Iterable[str], catalog: Catalog) -> tuple[UnrentedAccelerator, ...]:
    found = (catalog.names.by_name[name] for name in accelerators)
    return tuple(UnrentedAccelerator(a.name, a.list_price, a.list_price_year, a.source) for a in found)


def _conversion_details(adjusted: AdjustedCatalog) -> dict[str, Any]:
    left = (f"{left.prices} prices in {left.currency}: {left.why}" for left in adjusted.left_out)
    return {"exchange_rates": exchange.applied_rates(adjusted.rates), "left_out": tuple(left)}


def _matches_query(offering: Offering, accelerator: Accelerator, query: OfferQuery) -> bool:
    count = offering.accelerator_count
    if query.kind not in (None, "accelerator") or not (
        is_large_enough(offering.vcpus, query.min_vcpus)
        and is_large_enough(offering.memory_gib, query.min_host_memory_gib)
    ):
        return False
    if query.count is not None and (count is None or abs(count - query.count) > COUNT_TOLERANCE):
        return False
    if query.min_count is not None and (count is None or count < query.min_count - COUNT_TOLERANCE):
        return False
    smallest = usable_accelerator_memory(offering, accelerator)
    if query.min_memory_gib is not None and (smallest is None or smallest < query.min_memory_gib):
        return False
    total = _multiply_known(full_accelerator_memory(offering, accelerator), count)
    return query.min_memory_gib_per_node is None or (total is not None and total >= query.min_memory_gib_per_node)


def _multiply_known(amount: float | None, count: float | None) -> float | None:
    return None if amount is None or count is None else amount * count


def _list_price(price: Price) -> dict[str, Any]:
    if not isinstance(price, AdjustedPrice):
        return {}
    names = ("list_price_per_hour", "list_currency", "adjustment")
    return {name: getattr(price, name) for name in names}


def _build_row(quote: Quote, precision: str, catalog: Catalog, day: date) -> OfferRow:
    offering, price, accelerator = quote.offering, quote.price, quote.accelerator
    count, each = offering.accelerator_count, full_accelerator_memory(offering, accelerator)
    source = catalog.sources.get(price.source_id)
    return OfferRow(
        provider=price.provider,
        region=price.region,
        instance_type=price.instance_type,
        accelerator=accelerator.name,
        accelerator_count=count,
        purchase_option=price.purchase_option,
        price_per_hour=price.price_per_hour,
        currency=price.currency,
        price_per_accelerator_hour=_price_ratio(price.price_per_hour, count),
        accelerator_memory_gib=each,
        memory_gib_per_node=_multiply_known(each, count),
        memory_bandwidth_gbs_per_node=_multiply_known(accelerator.memory_bandwidth_gbs, count),
        cores_per_node=_multiply_known(accelerator.cores, count),
        precision=precision,
        tflops_per_node=_multiply_known(getattr(accelerator, RATES[precision]), count),
        vcpus=offering.vcpus,
        host_memory_gib=offering.memory_gib,
        status=offering.status,
        as_of=price.as_of,
        source_id=price.source_id,
        source=source.reference if source else price.source_id,
        method=price.method,
        sale=quote.sale_state(day),
        sale_limits="" if quote.sale is None else quote.sale.limits,
        sale_source="" if quote.sale is None else f"{quote.sale.source}, {quote.sale.checked}",
        **_list_price(price),
    )


def _find_retired(query: OfferQuery, catalog: Catalog) -> tuple[RetiredOffering, ...]:
    """The retired types that a query names, by type or by accelerator."""
    return tuple(find_retired(catalog, types=query.type, accelerators=query.accelerator, providers=query.provider))


def _find_unpriced(query: OfferQuery, catalog: Catalog, priced: set[tuple[str, str]]) -> tuple[UnpricedOffering, ...]:
    """Offerings that match but lack a price, in every region or for the requested option and region."""
    unpriced = {offering.key for offering in catalog.unpriced()}
    specifications = catalog.names.by_name
    present = {provider for provider, region in catalog.regions if not query.region or region in query.region}
    filter_text = " in ".join(part for part in (", ".join(query.option), ", ".join(query.region)) if part)
    gaps = []
    for key, offering in sorted(catalog.offerings.items()):
        specification = specifications.get(offering.accelerator)
        if (
            key in priced
            or offering.part
            or offering.status == "retired"
            or specification is None
            or offering.provider not in present
        ):
            continue
        allowed = (
            (not query.accelerator or offering.accelerator in query.accelerator)
            and (not query.provider or offering.provider in query.provider)
            and (not query.type or offering.instance_type in query.type)
        )
        if allowed and _matches_query(offering, specification, query):
            reason = "no price in any region" if key in unpriced else f"no price for {filter_text}"
            count = offering.accelerator_count
            gaps.append(
                UnpricedOffering(offering.provider, offering.instance_type, offering.accelerator, count, reason)
            )
    return tuple(gaps)
