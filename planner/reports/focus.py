"""The recommended strategy as a forecast of its bill: rows in the columns of FOCUS 1.2, as CSV (UTF-8, no mark).

BilledCost adds up to the strategy's cash month by month (of the months of the plan), EffectiveCost to its effective
cost: two views of one spend, never to be added. Columns that a forecast cannot fill (accounts, SKUs) are left out;
values that do not exist yet (an invoice) or are unknown are empty, never zero. The provider of owned nodes is "own
site".
A charge that several cost centres (teams) bear has a row for each, named in x_CostCentre.
Strategies are alternatives: rows of two of them would add up to no bill, so only one is written.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping
from decimal import Decimal
from functools import lru_cache

from planner.reports._content.charge_shares import split_charges
from planner.reports._content.charges import Charge, build_charges
from planner.reports._content.number_format import in_words, month_name
from planner.reports._content.purchase_pools import CAPITAL, OWN_SITE
from planner.reports._content.sections import recommended_strategy
from planner.result import Plan, PriceUsed, Purchase, Use
from pricing.plain_text import plain_text, spreadsheet_text

MEDIA_TYPE = "text/x.focus+csv; charset=utf-8"
SUFFIX = ".focus.csv"

COLUMNS = (
    "BilledCost", "BillingCurrency", "BillingPeriodEnd", "BillingPeriodStart", "CapacityReservationId",
    "CapacityReservationStatus", "ChargeCategory", "ChargeClass", "ChargeDescription", "ChargeFrequency",
    "ChargePeriodEnd", "ChargePeriodStart", "CommitmentDiscountCategory", "CommitmentDiscountId",
    "CommitmentDiscountName", "CommitmentDiscountQuantity", "CommitmentDiscountStatus", "CommitmentDiscountType",
    "CommitmentDiscountUnit", "ConsumedQuantity", "ConsumedUnit", "ContractedCost", "EffectiveCost",
    "InvoiceId", "InvoiceIssuerName", "ListCost", "PricingCategory", "PricingQuantity", "PricingUnit", "ProviderName",
    "PublisherName", "RegionId", "ServiceCategory", "ServiceName", "SkuPriceDetails", "Tags",
    "x_CostCategory", "x_CostCentre", "x_ExchangeRates", "x_PlanAsOf", "x_PlanContentDigest", "x_PlanId",
    "x_PriceAsOf", "x_SourceId",
)  # fmt: skip

SHARED = (
    "BilledCost", "EffectiveCost", "ContractedCost", "ListCost", "PricingQuantity", "ConsumedQuantity",
    "CommitmentDiscountQuantity",
)  # fmt: skip
"""Divided where several cost centres bear a charge: it has a row for each."""
CLOUD = "cloud"
"""The provider of charges without a single one."""
SERVICES = {
    "storage": ("Storage", "Storage"),
    "egress": ("Networking", "Data transfer out"),
    "transfer": ("Networking", "Data transfer"),
    "cloud_support": ("Other", "Support plan"),
    "tax": ("Other", "Tax"),
    "power": ("Other", "Power of owned nodes"),
    "space": ("Other", "Space for owned nodes"),
    "staff": ("Other", "Operators of owned nodes"),
    "support": ("Other", "Maintenance of owned nodes"),
}
"""ServiceCategory (one of the specification's) and ServiceName; accelerators in use are compute."""
COMPUTE = ("Compute", "Accelerated compute")
PRICING = {"spot": "Dynamic", "commitment": "Committed"}

Row = dict[str, str | float | None]
Prices = Mapping[tuple[str, str, str, str], PriceUsed]


def render(plan: Plan) -> bytes:
    """The rows of the recommended strategy by month; only the header where none is recommended."""
    table = io.StringIO(newline="")
    writer = csv.DictWriter(table, COLUMNS, restval="", lineterminator="\n")
    writer.writeheader()
    for row in _focus_rows(plan):
        writer.writerow({name: _cell_text(value) for name, value in row.items() if value is not None})
    return table.getvalue().encode()


def _focus_rows(plan: Plan) -> Iterable[Row]:
    chosen = recommended_strategy(plan)
    if chosen is None:
        return
    prices = {(p.provider, p.region, p.instance_type, p.purchase_option): p for p in plan.prices}
    teams = {workload.name: workload.team for workload in plan.workloads}
    rates = "; ".join(rate.words for rate in plan.exchange_rates)
    whole: Row = {
        "BillingCurrency": plan.currency,
        "x_PlanId": plan.plan_id,
        "x_PlanContentDigest": plan.content_digest,
        "x_PlanAsOf": str(plan.as_of),
    }
    for charge, parts in split_charges(plan, chosen, build_charges(plan, chosen)):
        row = whole | _cost_columns(plan, charge, prices) | _period_columns(plan, charge) | _charge_columns(charge)
        row |= _source_columns(charge, prices) | _quantity_columns(plan, charge) | _commitment_columns(plan, charge)
        tags: dict[str, str] = {"strategy": chosen.name}
        if isinstance(charge.line, Use):
            tags |= {"workload": charge.line.workload, "team": teams.get(charge.line.workload, "")}
        row |= {"Tags": _json_object(tags), "x_ExchangeRates": rates or None}
        for team, part in parts.items():
            shared = {name: value * part for name in SHARED if isinstance(value := row.get(name), float) and part != 1}
            yield row | shared | {"x_CostCentre": team or None}


def _cost_columns(plan: Plan, charge: Charge, prices: Prices) -> Row:
    is_price = charge.kind == "purchase" or (charge.kind == "use" and bool(charge.billed))
    return {
        "BilledCost": charge.billed,
        "EffectiveCost": charge.effective,
        "ContractedCost": charge.billed if is_price else None,
        "ListCost": _list_cost(plan, charge, prices) if is_price else None,
    }


def _list_cost(plan: Plan, charge: Charge, prices: Prices) -> float | None:
    """The list cost of on-demand hours; None where a discount hides the list price, and for all other charges."""
    price = (
        prices.get(_price_key(charge.line)) if isinstance(charge.line, Use) and charge.category == "on_demand" else None
    )
    discount = next((a.value for a in plan.assumptions if a.name == "enterprise_discount_fraction"), 0.0)
    if price is None or (discount and not price.adjustment):
        return None
    if not price.adjustment:
        return charge.billed
    # back from the negotiated to the list price, in the currency of the plan
    rates = {rate.from_currency: rate.value for rate in plan.exchange_rates} | {plan.currency: 1.0}
    if price.list_price_per_hour is None or price.list_currency not in rates or not price.price_per_hour:
        return None
    return charge.billed * price.list_price_per_hour * rates[price.list_currency] / price.price_per_hour


def _price_key(line: Use | Purchase) -> tuple[str, str, str, str]:
    return line.provider, line.region, line.name, line.purchase_option


def _period_columns(plan: Plan, charge: Charge) -> Row:
    """Months whole, ends exclusive; a payment for a whole term is charged for that term."""
    line, last = charge.line, charge.month
    if charge.once and isinstance(line, Purchase) and line.what != "owned":
        last = max(last, line.usable_to)
    return {
        "BillingPeriodStart": _month_start(plan, charge.month),
        "BillingPeriodEnd": _month_start(plan, charge.month + 1),
        "ChargePeriodStart": _month_start(plan, charge.month),
        "ChargePeriodEnd": _month_start(plan, last + 1),
    }


def _month_start(plan: Plan, month: int) -> str:
    return f"{month_name(plan, month)}-01T00:00:00Z"


def _charge_columns(charge: Charge) -> Row:
    """Category, frequency, provider and service of the charge."""
    line = charge.line
    category = {"use": "Usage", "unused": "Usage", "running": "Usage", "purchase": "Purchase"}.get(charge.kind)
    frequency = {"use": "Usage-Based", "unused": "Usage-Based"}.get(charge.kind, "Recurring")
    service, name = SERVICES.get(charge.category, COMPUTE)
    is_node = line is not None and line.accelerator != ""
    provider = charge.provider or CLOUD
    return {
        "ChargeCategory": category or ("Tax" if charge.category == "tax" else "Purchase"),
        "ChargeFrequency": "One-Time" if charge.once else frequency,
        "ChargeDescription": _charge_description(charge),
        "PricingCategory": None if charge.category == "tax" else _pricing_category(charge),
        "ProviderName": provider,
        "PublisherName": provider,
        "InvoiceIssuerName": provider,
        "RegionId": charge.region or None,
        "ServiceCategory": service,
        "ServiceName": name,
        "SkuPriceDetails": _sku_details(line) if line is not None and is_node else None,
        "x_CostCategory": charge.category,
    }


def _pricing_category(charge: Charge) -> str:
    """Dated capacity and the purchase of a commitment are priced at a standard rate; owned hours have no price."""
    if charge.provider == OWN_SITE and charge.category in CAPITAL and charge.kind != "purchase":
        return "Other"
    is_used = charge.kind in ("use", "unused") and not _is_dated_capacity(charge)
    return PRICING.get(charge.category, "Standard") if is_used else "Standard"


def _is_dated_capacity(charge: Charge) -> bool:
    """Whether it is for nodes on fixed dates: a reservation of capacity, not a discount."""
    return _is_option_kind(charge, "capacity_block") or _is_option_kind(charge, "calendar")


def _is_option_kind(charge: Charge, kind: str) -> bool:
    return charge.line is not None and charge.line.purchase_option.startswith(kind)


def _charge_description(charge: Charge) -> str:
    """A description in the plan's terms. Owned nodes are described by their accelerator: they have no instance type."""
    line, category = charge.line, in_words(charge.category)
    if line is None:
        is_place = charge.region and charge.kind != "purchase" and not charge.pool
        return f"{category}, {f'{charge.provider} {charge.region}' if is_place else charge.what}"
    if line.what == "owned":
        return f"{line.accelerator} GPU, {line.name}, {'in use' if charge.kind == 'use' else category}"
    option = in_words(line.purchase_option)
    if charge.kind == "purchase":
        return f"{line.name} {option}, {'paid at its start' if charge.once else 'fee of the month'}"
    return f"{line.name} {option}{', unused' if charge.kind == 'unused' else ''}"


def _sku_details(line: Use | Purchase) -> str:
    """Of one pricing unit: a node, or one accelerator of an owned one."""
    count = 1 if line.what == "owned" else line.accelerators_per_node
    return _json_object({"InstanceType": line.name, "GpuCount": count, "x_Accelerator": line.accelerator})


def _quantity_columns(plan: Plan, charge: Charge) -> Row:
    """Hours of the unit in SkuPriceDetails for nodes, months for charges without a quantity in the plan."""
    if charge.category == "tax":
        return {}
    if charge.kind == "running":
        return _purchase_quantity(charge) | {"ConsumedQuantity": 1.0, "ConsumedUnit": "Months"}
    if charge.kind in ("on_top", "purchase"):
        return _purchase_quantity(charge)
    line, hours = charge.line, charge.quantity
    if isinstance(line, Use) and line.what == "owned" and hours is not None:
        hours *= line.accelerators_per_node
    is_money = isinstance(line, Purchase) and line.unit == "money"
    unit = plan.currency if is_money else "Hours"
    used = hours if charge.kind == "use" else None
    return {
        "PricingQuantity": hours,
        "PricingUnit": unit if hours is not None else None,
        "ConsumedQuantity": used,
        "ConsumedUnit": unit if used is not None else None,
    }


def _purchase_quantity(charge: Charge) -> Row:
    line = charge.line if charge.kind == "purchase" else None
    if not isinstance(line, Purchase) or not charge.once:
        return {"PricingQuantity": 1.0, "PricingUnit": "Months"}
    units = {"node": "Nodes", "node_day": "Node-Days", "money": "Units"}
    return {"PricingQuantity": line.amount, "PricingUnit": units[line.unit]}


def _commitment_columns(plan: Plan, charge: Charge) -> Row:
    """Whose commitment or reservation a row belongs to, by the title that the plan gives it: it has no other yet."""
    if charge.category != "commitment" or not charge.pool:
        return {}
    status = {"use": "Used", "unused": "Unused"}.get(charge.kind)
    if _is_dated_capacity(charge):
        return {"CapacityReservationId": charge.pool, "CapacityReservationStatus": status}
    is_money = _is_option_kind(charge, "savings_plan")
    return {
        "CommitmentDiscountCategory": "Spend" if is_money else "Usage",
        "CommitmentDiscountId": charge.pool,
        "CommitmentDiscountName": charge.pool,
        "CommitmentDiscountStatus": status,
        "CommitmentDiscountType": charge.line.purchase_option if charge.line is not None else None,
        "CommitmentDiscountQuantity": charge.committed,
        "CommitmentDiscountUnit": None if charge.committed is None else plan.currency if is_money else "Hours",
    }


def _source_columns(charge: Charge, prices: Prices) -> Row:
    price = prices.get(_price_key(charge.line)) if charge.line is not None else None
    return {"x_PriceAsOf": str(price.as_of), "x_SourceId": price.source_id} if price else {}


def _json_object(values: Mapping[str, str | float]) -> str:
    """A JSON object with plain texts; an empty value has no key."""
    clean = {
        key: plain_text(value) if isinstance(value, str) else value for key, value in values.items() if value != ""
    }
    return json.dumps(clean, ensure_ascii=False)


def _cell_text(value: str | float | None) -> str:
    """Numbers in full and without an exponent, texts harmless, empty for unknown values."""
    if value is None:
        return ""
    return _cached_spreadsheet_text(value) if isinstance(value, str) else format(Decimal(repr(value)), "f")


_cached_spreadsheet_text = lru_cache(maxsize=10_000)(spreadsheet_text)
"""Most texts are repeated in many rows."""
