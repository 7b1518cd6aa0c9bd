"""Azure cost exports: enterprise and customer agreements, older pay-as-you-go, with their various headers."""

from __future__ import annotations

from planner.inputs.bills.export_columns import Columns, case_expression
from planner.inputs.bills.exports import Fields

TITLE = "Azure cost export"
COSTS = ("costinbillingcurrency", "pretaxcost", "cost")
CHARGES = {
    "usage": "usage", "purchase": "fee", "refund": "refund", "tax": "tax", "credit": "credit",
    "unusedreservation": "unused", "unusedsavingsplan": "unused", "roundingadjustment": "adjustment",
}  # fmt: skip


def recognised(columns: Columns) -> str | None:
    cost = next((each for each in COSTS if columns.has(each)), "")
    if (
        not cost
        or not columns.has("metercategory")
        or not (set(columns.by_key) & {"subscriptionid", "subscriptionguid"})
    ):
        return None
    return f"by the columns {columns.by_key['metercategory']}, {columns.by_key[cost]}"


def fields(columns: Columns) -> Fields:
    text, number = columns.text, columns.number
    inside = text("additionalinfo")
    size = rf"""regexp_extract({inside}, '"ServiceType"\s*:\s*"([^"]+)"', 1)"""
    commitment = text("reservationid", "benefitid")
    model, kind = f"lower({text('pricingmodel')})", f"lower({text('chargetype')})"
    is_reserved = f"{commitment} IS NOT NULL AND {kind} NOT IN ('tax', 'credit', 'refund')"
    charge = case_expression(text("chargetype"), CHARGES, "'adjustment'")
    support = f"{text('metercategory')} ILIKE '%support%'"
    amount = number("quantity", "usagequantity", "consumedquantity")
    return Fields(
        provider="'azure'",
        charge=f"CASE WHEN {text('chargetype')} IS NULL THEN 'usage' WHEN {support} THEN 'support' "
        f"WHEN {charge} = 'fee' AND {text('frequency')} ILIKE 'one%' THEN 'upfront' ELSE {charge} END",
        start=text("date", "usagedatetime", "usagedate"),
        cost=text(*COSTS),
        billed=number(*COSTS),
        effective=number(*COSTS),
        currency=text("billingcurrencycode", "billingcurrency", "currency", "currencycode"),
        texts=(f"nullif({size}, '')", *(text(each) for each in ("metername", "productname", "productordername",
               "product", "armskuname", "metersubcategory"))),
        quantity=f"CASE WHEN {kind} LIKE 'unused%' THEN NULL ELSE {amount} END",
        unused=f"CASE WHEN {kind} LIKE 'unused%' THEN {amount} END",
        unit=text("unitofmeasure"),
        option=f"CASE WHEN {model} = 'spot' OR {text('metername')} ILIKE '% spot%' OR {text('metername')} ILIKE "
        f"'%low priority%' THEN 'spot' WHEN {model} LIKE 'saving%' OR {kind} = 'unusedsavingsplan' THEN 'savings_plan' "
        f"WHEN {model} LIKE 'reserv%' OR ({is_reserved}) THEN 'reserved' ELSE 'on_demand' END",
        commitment=commitment,
        details=f"CASE WHEN {commitment} IS NOT NULL THEN CAST(json_object('term', coalesce({text('term')}, "
        f"regexp_extract({text('productordername')}, '(\\d) Years?$', 1))) AS VARCHAR) END",
        account=text("subscriptionid", "subscriptionguid", "subscriptionname"),
        region=text("resourcelocation", "resourcelocationnormalized", "location", "meterregion"),
        tags=text("tags"),
        one_view=True,
    )  # fmt: skip
