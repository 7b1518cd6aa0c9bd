"""FOCUS 1.0 to 1.3, of any provider."""

from __future__ import annotations

from planner.inputs.bills.export_columns import Columns, case_expression, quote_text
from planner.inputs.bills.exports import Fields

TITLE = "FOCUS cost and usage"
VERSIONS = (
    ("1.3", ("serviceprovidername", "hostprovidername", "contractapplied")),
    ("1.2", ("invoiceid", "pricingcurrency", "subaccounttype", "billingaccounttype")),
    ("1.1", ("skumeter", "skupricedetails", "capacityreservationid", "commitmentdiscountquantity")),
)
"""Columns that a version added, by its specification: the newest version with one of them is that of the file."""
CATEGORIES = {"usage": "usage", "purchase": "fee", "tax": "tax", "credit": "credit", "adjustment": "adjustment"}
PROVIDERS = (
    ("aws", "aws"), ("aws", "amazon"), ("azure", "microsoft"), ("azure", "azure"), ("gcp", "google"), ("gcp", "gcp"),
    ("oci", "oracle"),
)  # fmt: skip
"""Words in the name of a provider."""
NAMES = ("serviceprovidername", "providername", "hostprovidername", "publishername", "invoiceissuername")


def recognised(columns: Columns) -> str | None:
    if not columns.has("billedcost", "effectivecost", "chargecategory"):
        return None
    version, mark = next(
        ((version, each) for version, marks in VERSIONS for each in marks if columns.has(each)), ("1.0", "")
    )
    own = f" and {columns.by_key[mark]}" if mark else ", without columns of later versions"
    return f"version {version}, by the columns BilledCost, EffectiveCost, ChargeCategory{own}"


def fields(columns: Columns) -> Fields:
    text, number = columns.text, columns.number
    statuses = (text("commitmentdiscountstatus"), text("capacityreservationstatus"))
    unused = " OR ".join(f"lower({status}) = 'unused'" for status in statuses)
    support = f"lower({text('servicename')}) LIKE '%support%' OR lower({text('servicecategory')}) LIKE '%support%'"
    charge = case_expression(text("chargecategory"), CATEGORIES, "'adjustment'")
    once = f"lower({text('chargefrequency')}) = 'one-time'"
    hours = number("consumedquantity")
    paid = f"coalesce({number('pricingquantity')}, {hours}, {number('commitmentdiscountquantity')})"
    consumed = f"({hours} IS NOT NULL AND NOT coalesce({unused}, false))"
    paid_unit = f"coalesce({text('pricingunit')}, {text('consumedunit')}, {text('commitmentdiscountunit')})"
    return Fields(
        provider=_provider_name(columns),
        charge=f"CASE WHEN {charge} = 'usage' AND ({unused}) THEN 'unused' WHEN {charge} = 'fee' AND ({support}) "
        f"THEN 'support' WHEN {charge} = 'fee' AND ({once}) THEN 'upfront' ELSE {charge} END",
        start=text("chargeperiodstart"),
        end=text("chargeperiodend"),
        cost=text("billedcost"),
        billed=number("billedcost"),
        effective=number("effectivecost"),
        currency=text("billingcurrency"),
        texts=_usage_texts(columns),
        quantity=f"CASE WHEN {unused} THEN NULL WHEN {consumed} THEN {hours} ELSE {paid} END",
        unused=f"CASE WHEN {unused} THEN {paid} END",
        unit=f"CASE WHEN {consumed} THEN {text('consumedunit')} ELSE {paid_unit} END",
        option=_purchase_option(columns),
        commitment=text("commitmentdiscountid"),
        details=_commitment_details(columns),
        account=text("subaccountid", "subaccountname", "billingaccountid"),
        region=text("regionid", "region", "regionname"),
        tags=text("tags"),
    )


def _provider_name(columns: Columns) -> str:
    name = columns.text(*NAMES)
    cases = " ".join(
        f"WHEN contains(lower({name}), {quote_text(word)}) THEN {quote_text(own)}" for own, word in PROVIDERS
    )
    return f"CASE {cases} ELSE {name} END"


def _purchase_option(columns: Columns) -> str:
    """By the kind of commitment, where there is one; NULL for an unknown category."""
    kind = f"lower(concat_ws(' ', {columns.text('commitmentdiscounttype')}, {columns.text('commitmentdiscountid')}))"
    category = f"lower({columns.text('pricingcategory')})"
    is_committed = f"({category} = 'committed' OR {columns.text('commitmentdiscountid')} IS NOT NULL)"
    return (
        f"CASE WHEN {is_committed} AND regexp_matches({kind}, 'saving') THEN 'savings_plan' "
        f"WHEN {is_committed} AND regexp_matches({kind}, 'committed.?use|cud|commitment v1') THEN 'committed_use' "
        f"WHEN {is_committed} AND regexp_matches({kind}, 'reserv') THEN 'reserved' "
        f"WHEN {is_committed} THEN 'commitment' WHEN {category} = 'dynamic' THEN 'spot' "
        f"WHEN {category} = 'standard' THEN 'on_demand' END"
    )


def _commitment_details(columns: Columns) -> str:
    """The attributes of a commitment in its purchase: a one-time charge covers the entire term, with its end."""
    once = f"lower({columns.text('chargefrequency')}) = 'one-time'"
    return (
        f"CASE WHEN lower({columns.text('chargecategory')}) = 'purchase' THEN CAST(json_object("
        f"'paid', lower({columns.text('chargefrequency')}), "
        f"'begins', CASE WHEN {once} THEN left({columns.text('chargeperiodstart')}, 10) END, "
        f"'until', CASE WHEN {once} THEN left({columns.text('chargeperiodend')}, 10) END) AS VARCHAR) END"
    )


def _usage_texts(columns: Columns) -> tuple[str, ...]:
    """The columns that may name an instance type: those of the standard first, then the x_ columns of providers."""
    details = columns.text("skupricedetails")
    parts = [
        f"CASE WHEN json_valid({details}) THEN json_extract_string({details}, {quote_text('$.' + name)}) END"
        for name in ("InstanceType", "x_InstanceType")
    ]
    machine = f"'InstanceType ' || {parts[0]}"  # marks a price of the machine, not of a part of it
    own = ("xinstancetype", "xarmskuname", "skumeter", "xusagetype", "xskumetername", "xskudetails", "xskudescription",
           "chargedescription", "commitmentdiscountname", "resourcetype")  # fmt: skip
    return (*parts, machine, *(columns.text(each) for each in own if columns.has(each)))
