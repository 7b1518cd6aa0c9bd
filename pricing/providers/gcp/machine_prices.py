"""Machine prices: the sum of part rates times quantities. A machine with a part without rate has no price.

Knows no SDK. A machine is priced only in the regions that sell it, if those could be read.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from pricing.adapters.protocol import CoveredScope, FetchRequest, PriceReading, RejectedRow, SkippedRows
from pricing.frozen_values import dataclass
from pricing.offering import Offering
from pricing.price import Price, parse_purchase_option
from pricing.providers.gcp.billed_parts import OPTIONS, GcpBilledPart, GcpMachineRule, load_parts_table
from pricing.providers.gcp.sku_rates import GcpPartRate, GcpPartRates

PROVIDER = "gcp"
SOURCE = "gcp-billing-catalog"
UNIT_WORDS = {"vcpu": "vCPU", "memory_gib": "GiB", "accelerator": "", "local_ssd_gib": "GiB"}


@dataclass(frozen=True, slots=True)
class SellingRegions:
    """Regions that sell each type: `machines` from the machine and accelerator types, `slices` from the Cloud TPU API.

    None if that list could not be read: then every region with rates counts, and the note of the price says so.
    """

    machines: Mapping[str, frozenset[str]] | None
    slices: Mapping[str, frozenset[str]] | None
    regions: frozenset[str] = frozenset()

    def of(self, offering: Offering, rule: GcpMachineRule) -> frozenset[str] | None:
        table = self.slices if rule.slice else self.machines
        return None if table is None else table.get(offering.instance_type, frozenset())


def price_machines(
    request: FetchRequest, offerings: Iterable[Offering], rates: GcpPartRates, sold: SellingRegions
) -> Iterator[PriceReading]:
    """Prices of every offering under every purchase option, then the covered scopes by family."""
    families, left = set(), Counter[str]()
    for offering in sorted(offerings, key=lambda o: o.instance_type):
        rule = load_parts_table().machine(offering.instance_type)
        if offering.status == "retired":
            left["retired types"] += 1
        elif rule is None or rule.gap:
            yield RejectedRow(offering.instance_type, rule.gap if rule else "no rule says which parts it is billed by")
        else:
            families.add(offering.family)
            for option in OPTIONS:
                for reading in _price_offering(request, offering, rule, option, rates, sold):
                    if isinstance(reading, SkippedRows):
                        left[reading.reason] += reading.rows
                    else:
                        yield reading
    yield from (SkippedRows(reason, rows) for reason, rows in sorted(left.items()))
    regions = _select_regions(request, sold.regions | rates.regions)
    kinds = dict.fromkeys(kind for kind, _ in OPTIONS.values())
    yield from (
        CoveredScope(region, kind, family) for family in sorted(families) for kind in kinds for region in regions
    )


def _select_regions(request: FetchRequest, regions: Iterable[str]) -> list[str]:
    return sorted(region for region in regions if not request.regions or region in request.regions)


def _price_offering(
    request: FetchRequest,
    offering: Offering,
    rule: GcpMachineRule,
    option: str,
    rates: GcpPartRates,
    sold: SellingRegions,
) -> Iterator[Price | SkippedRows | RejectedRow]:
    subject = f"{offering.instance_type} {option}"
    quantities = _part_quantities(offering, rule)
    if unknown := [part.name for part, quantity in quantities if quantity is None]:
        yield RejectedRow(subject, f"how much {' and '.join(unknown)} it has is not told")
        return
    selling = sold.of(offering, rule)
    if selling is not None and not selling:
        yield SkippedRows("ways of paying for types that no zone of the account sells")
        return
    accelerator = next(part.name for part, _ in quantities if part.unit == "accelerator")
    listed = rates.by.get((accelerator, option), {})
    regions = _select_regions(request, listed if selling is None else selling)
    if OPTIONS[option][0] not in rule.sold:
        if rows := len(listed.keys() & set(regions)):
            yield SkippedRows(f"list prices of types that cannot be bought that way: {rule.sold_why}", rows)
        return
    for region in regions:
        rates_by_part = {part.name: rates.by.get((part.name, option), {}).get(region, []) for part, _ in quantities}
        if OPTIONS[option][0] == "committed_use" and not any(rates_by_part.values()):
            yield SkippedRows("commitments that are not offered: no part has a rate")
        elif problem := _rate_problem(rates_by_part):
            key = (PROVIDER, region, offering.instance_type, option)
            yield RejectedRow(f"{subject} {region}", problem, key)  # the known price stays: the feed may be wrong
        else:
            bill = [(part, quantity or 0.0, rates_by_part[part.name][0]) for part, quantity in quantities]
            yield _compute_price(request, offering, rule, option, region, bill, checked=selling is not None)


def _part_quantities(offering: Offering, rule: GcpMachineRule) -> list[tuple[GcpBilledPart, float | None]]:
    """The quantity of each part, in units of its rate; None if the offering does not state it."""
    has = {
        "vcpu": offering.vcpus,
        "memory_gib": offering.memory_gib,
        "accelerator": offering.accelerator_count,
        "local_ssd_gib": offering.local_ssd_gb,
    }
    table = load_parts_table().by_name
    amounts = [(table[name], has[table[name].unit]) for name in rule.parts]
    return [(part, None if not amount else amount / part.per) for part, amount in amounts]


def _rate_problem(rates_by_part: Mapping[str, list[GcpPartRate]]) -> str:
    if missing := [name for name, rates in rates_by_part.items() if not rates]:
        return f"no rate for {' and '.join(missing)}"
    differ = [
        f"{name}: {', '.join(f'{_format_rate(r.per_hour)} (SKU {r.sku})' for r in rates)}"
        for name, rates in rates_by_part.items()
        if len(rates) > 1
    ]
    return f"more than one rate for {'; '.join(differ)}" if differ else ""


def _compute_price(
    request: FetchRequest,
    offering: Offering,
    rule: GcpMachineRule,
    option: str,
    region: str,
    bill: list[tuple[GcpBilledPart, float, GcpPartRate]],
    *,
    checked: bool,
) -> Price:
    shape = parse_purchase_option(option)
    assert shape is not None
    # Google bills parts, so the price is a sum; the note shows each term so that it can be checked against the SKUs.
    sum_text = " + ".join(
        f"{_format_quantity(part, quantity)} x {_format_rate(rate.per_hour)} ({part.name})"
        for part, quantity, rate in bill
    )
    since = max(rate.since for *_, rate in bill)
    remarks = [sum_text, rule.note, rule.sold_why if rule.sold_why and shape.kind != "spot" else ""]
    remarks += [f"in force since {since}" if since else "", "" if checked else "zones not checked"]
    alone = len(bill) == 1 and bill[0][1] == 1
    return Price(
        PROVIDER,
        region,
        offering.instance_type,
        option,
        shape.kind,
        shape.term_months,
        shape.upfront,
        shape.offering_class,
        math.fsum(quantity * rate.per_hour for _, quantity, rate in bill),
        "USD",
        request.today,
        SOURCE,
        "listed" if alone else "derived",
        "; ".join(remark for remark in remarks if remark),
    )


def _format_rate(rate: float) -> str:
    """Nine decimals, the precision of the billing catalogue, without trailing zeros."""
    return f"{rate:.9f}".rstrip("0").rstrip(".")


def _format_quantity(part: GcpBilledPart, quantity: float) -> str:
    return f"{quantity:g} {UNIT_WORDS[part.unit]}".strip()
