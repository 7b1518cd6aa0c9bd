"""Oracle Cloud cost report."""

from __future__ import annotations

from planner.inputs.bills.export_columns import Columns
from planner.inputs.bills.exports import Fields

TITLE = "Oracle Cloud cost report"


def recognised(columns: Columns) -> str | None:
    if not columns.has("costmycost", "lineitemintervalusagestart", "productdescription"):
        return None
    return f"by the columns {columns.by_key['costmycost']}, {columns.by_key['lineitemintervalusagestart']}"


def fields(columns: Columns) -> Fields:
    text, number = columns.text, columns.number
    return Fields(
        provider="'oci'",
        charge=f"CASE WHEN {text('productservice')} ILIKE '%support%' THEN 'support' ELSE 'usage' END",
        start=text("lineitemintervalusagestart"),
        end=text("lineitemintervalusageend"),
        cost=text("costmycost"),
        billed=number("costmycost"),
        effective=number("costmycost"),
        currency=text("costcurrencycode"),
        texts=(text("productdescription"), text("costbillingunitreadable")),
        quantity=number("usagebilledquantity", "usageconsumedquantity"),
        unit=text("costskuunitdescription"),
        option="'on_demand'",
        account=text("productcompartmentname", "productcompartmentid"),
        region=text("productregion"),
        tags=columns.tags_of("tags/"),
    )
