"""AWS Cost and Usage Report: CUR 2.0 (line_item_usage_type) and the legacy one (lineItem/UsageType)."""

from __future__ import annotations

from planner.inputs.bills.export_columns import Columns, case_expression
from planner.inputs.bills.exports import Fields

TITLE = "AWS Cost and Usage Report"
LINE_TYPES = {
    "usage": "usage", "discountedusage": "usage", "savingsplancoveredusage": "usage", "savingsplannegation": "usage",
    "rifee": "fee", "fee": "upfront", "savingsplanrecurringfee": "fee", "savingsplanupfrontfee": "upfront",
    "tax": "tax", "credit": "credit", "refund": "refund",
    "discount": "discount", "bundleddiscount": "discount", "edpdiscount": "discount", "privateratediscount": "discount",
    "riverdiscount": "discount", "spprogramdiscount": "discount",
}  # fmt: skip
COMMITMENT_OPTIONS = {"discountedusage": "reserved", "rifee": "reserved", "savingsplancoveredusage": "savings_plan",
           "savingsplannegation": "savings_plan", "savingsplanrecurringfee": "savings_plan",
           "savingsplanupfrontfee": "savings_plan"}  # fmt: skip
OTHER, ON_DEMAND = "'adjustment'", "'on_demand'"
NAMES = ("lineitemusagetype", "productinstancetype", "lineitemlineitemdescription", "savingsplaninstancetypefamily")


def recognised(columns: Columns) -> str | None:
    if not columns.has("lineitemlineitemtype", "lineitemunblendedcost", "lineitemusagetype"):
        return None
    name = columns.by_key["lineitemlineitemtype"]
    return f"{'legacy' if '/' in name else 'CUR 2.0'}, by the columns {name}, {columns.by_key['lineitemunblendedcost']}"


def fields(columns: Columns) -> Fields:
    text, number = columns.text, columns.number
    kind, used = f"lower({text('lineitemlineitemtype')})", text("lineitemusagetype")
    support = f"{text('lineitemproductcode')} ILIKE '%support%' AND {kind} IN ('usage', 'fee')"
    idle = f"regexp_matches({used}, '(^|-)Unused(Box|Ded)')"
    offset = f"{kind} = 'savingsplannegation'"
    quantity = number("lineitemusageamount")
    unit = f"CASE WHEN regexp_matches({used}, '(^|-)(Box|Spot|Heavy|Dedicated)Usage:') THEN 'Hrs' END"
    return Fields(
        provider="'aws'",
        charge=f"CASE WHEN {support} THEN 'support' WHEN {idle} AND {kind} = 'usage' THEN 'unused' "
        f"ELSE {case_expression(kind, LINE_TYPES, OTHER)} END",
        start=text("lineitemusagestartdate", "billbillingperiodstartdate"),
        end=text("lineitemusageenddate"),
        cost=text("lineitemunblendedcost"),
        billed=number("lineitemunblendedcost"),
        effective=_effective_cost(columns, kind),
        currency=text("lineitemcurrencycode"),
        texts=tuple(text(each) for each in NAMES),
        quantity=f"CASE WHEN {offset} OR {idle} THEN NULL ELSE {quantity} END",
        unused=f"CASE WHEN {kind} = 'rifee' THEN {number('reservationunusedquantity')} WHEN {idle} THEN {quantity} END",
        unit=f"coalesce({text('pricingunit', 'productpricingunit')}, {unit})",
        option=f"CASE WHEN regexp_matches({used}, '(^|-)SpotUsage') THEN 'spot' "
        f"ELSE {case_expression(kind, COMMITMENT_OPTIONS, ON_DEMAND)} END",
        commitment=text("reservationreservationarn", "savingsplansavingsplanarn"),
        details=_commitment_details(columns, kind),
        account=text("lineitemusageaccountid"),
        line=text("identitylineitemid") if columns.has("identitylineitemid") else "",
        region=text("productregioncode", "productregion"),
        tags=columns.tags_of("resourcetags/") if not columns.has("resourcetags") else text("resourcetags"),
    )


def _effective_cost(columns: Columns, kind: str) -> str:
    """Amortised cost by line type, as AWS documents it: the fee carries the unused part of a commitment."""
    cases = {
        "savingsplancoveredusage": ("savingsplansavingsplaneffectivecost",),
        "discountedusage": ("reservationeffectivecost",),
        "rifee": ("reservationunusedamortizedupfrontfeeforbillingperiod", "reservationunusedrecurringfee"),
    }
    branches = " ".join(
        f"WHEN '{name}' THEN list_sum([{', '.join(columns.number(each) for each in parts)}])"
        for name, parts in cases.items()
    )
    plan = "savingsplantotalcommitmenttodate", "savingsplanusedcommitment"
    idle = f"{columns.number(plan[0])} - {columns.number(plan[1])}" if columns.has(*plan) else "NULL"
    reservation = columns.text("reservationreservationarn")
    return (
        f"CASE {kind} {branches} WHEN 'savingsplanrecurringfee' THEN {idle} WHEN 'savingsplannegation' THEN 0 "
        f"WHEN 'savingsplanupfrontfee' THEN 0 WHEN 'fee' THEN CASE WHEN {reservation} IS NOT NULL THEN 0 "
        f"ELSE {columns.number('lineitemunblendedcost')} END ELSE {columns.number('lineitemunblendedcost')} END"
    )


def _commitment_details(columns: Columns, kind: str) -> str:
    """The attributes of a reservation or of a savings plan in the row of its fee."""
    parts = {
        "begins": ("reservationstarttime", "savingsplanstarttime"),
        "until": ("reservationendtime", "savingsplanendtime"),
        "count": ("reservationnumberofreservations",),
        "term": ("pricingleasecontractlength", "savingsplanpurchaseterm"),
        "upfront": ("pricingpurchaseoption", "savingsplanpaymentoption"),
        "class": ("pricingofferingclass",),
    }
    inner = ", ".join(f"'{name}', {columns.text(*keys)}" for name, keys in parts.items())
    fees = "'rifee', 'fee', 'savingsplanrecurringfee', 'savingsplanupfrontfee'"
    return f"CASE WHEN {kind} IN ({fees}) THEN CAST(json_object({inner}) AS VARCHAR) END"
