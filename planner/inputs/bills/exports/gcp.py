"""Google Cloud billing export (BigQuery tables saved as JSON lines or Parquet), standard and detailed."""

from __future__ import annotations

from planner.inputs.bills.export_columns import Columns, case_expression, quote_text
from planner.inputs.bills.exports import Fields

TITLE = "Google Cloud billing export"
PRICE_CREDITS = (
    "COMMITTED_USAGE_DISCOUNT", "COMMITTED_USAGE_DISCOUNT_DOLLAR_BASE", "SUSTAINED_USAGE_DISCOUNT", "DISCOUNT",
    "SPENDING_BASED_DISCOUNT", "RESELLER_MARGIN", "SUBSCRIPTION_BENEFIT", "FEE_UTILIZATION_OFFSET",
)  # fmt: skip
"""Credits that are part of the price of their usage; all others (promotions ...) are separate credits."""
COST_TYPES = {"regular": "usage", "tax": "tax", "adjustment": "adjustment", "rounding_error": "adjustment"}
SPEC = "compute.googleapis.com/machine_spec"
SHAPE = '[{"type":"VARCHAR","amount":"DOUBLE"}]'
LABELS = '[{"key":"VARCHAR","value":"VARCHAR"}]'


def recognised(columns: Columns) -> str | None:
    nested = columns.has("service", "sku", "usage", "cost")
    flat = columns.has("servicedescription", "skudescription", "usageamount", "cost")
    return "by the columns service, sku, usage, cost" if nested or flat else None


def fields(columns: Columns) -> Fields:
    inside, sku = columns.inside, columns.inside("sku", "description")
    price, other = _credit_sums(columns)
    cost = columns.number("cost")
    is_fee = f"{sku} ILIKE 'commitment%'"
    support = f"{inside('service', 'description')} ILIKE '%support%'"
    amount = columns.as_number(inside("usage", "amount_in_pricing_units"))
    raw = columns.as_number(inside("usage", "amount"))
    units = inside("usage", "pricing_unit"), inside("usage", "unit")
    charge = case_expression(columns.text("costtype"), COST_TYPES, "'usage'")
    discounted = f"{columns.text('credits')} ILIKE '%COMMITTED_USAGE_DISCOUNT%'"
    return Fields(
        provider="'gcp'",
        charge=f"CASE WHEN {support} THEN 'support' WHEN {charge} = 'usage' AND {is_fee} THEN 'fee' ELSE {charge} END",
        start=columns.text("usagestarttime"),
        end=columns.text("usageendtime"),
        cost=columns.text("cost"),
        billed=f"{cost} + {price}",
        effective=f"{cost} + {price}",
        currency=columns.text("currency"),
        texts=(_machine_type(columns), sku),
        quantity=f"CASE WHEN {is_fee} THEN NULL ELSE coalesce({amount}, {raw}) END",
        unit=f"CASE WHEN {amount} IS NOT NULL THEN {units[0]} ELSE {units[1]} END",
        option=f"CASE WHEN {is_fee} OR {discounted} THEN 'committed_use' WHEN regexp_matches({sku}, "
        "'(?i)preemptible|spot') THEN 'spot' ELSE 'on_demand' END",
        account=inside("project", "id"),
        region=inside("location", "region"),
        credit=other,
        tags=columns.text("labels"),
    )


def _credit_sums(columns: Columns) -> tuple[str, str]:
    """The credits that are part of the price, and all others: both negative, 0 where there are none."""
    if not columns.has("credits"):
        return "0::DOUBLE", "0::DOUBLE"
    column = columns.text("credits")
    listed = f"from_json(CASE WHEN json_valid({column}) THEN {column} ELSE '[]' END, {quote_text(SHAPE)})"
    of_price = f"c.type IN ({', '.join(quote_text(each) for each in PRICE_CREDITS)})"

    def total(condition: str) -> str:
        return f"coalesce(list_sum([coalesce(c.amount, 0) FOR c IN {listed} IF {condition}]), 0)"

    return total(f"coalesce({of_price}, false)"), total(f"NOT coalesce({of_price}, false)")


def _machine_type(columns: Columns) -> str:
    """The machine type in a system label."""
    if not columns.has("systemlabels"):
        return "NULL::VARCHAR"
    column = columns.text("systemlabels")
    listed = f"from_json(CASE WHEN json_valid({column}) THEN {column} ELSE '[]' END, {quote_text(LABELS)})"
    return f"([c.value FOR c IN {listed} IF c.key = {quote_text(SPEC)}])[1]"
