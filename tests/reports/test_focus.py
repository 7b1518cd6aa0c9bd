"""The forecast in the columns of FOCUS: what its sums are, what the specification allows, and that it can be read back.

Allowed values and which columns may be empty are facts of the FOCUS specification, version 1.2.
"""

import csv
import io
import json
import math
from collections import defaultdict
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.application import plan_document
from planner.inputs import bills
from planner.reports._content.charges import build_charges
from planner.reports._content.purchase_pools import split_by_weight
from planner.reports.focus import COLUMNS, render
from planner.result import CashRow, Gap
from planner.result.audit_trail import AuditTrail
from planner.result.message import Message
from pricing.catalog.price_catalog import Catalog

ALLOWED = {
    "ChargeCategory": {"Usage", "Purchase", "Tax"},
    "ChargeFrequency": {"One-Time", "Recurring", "Usage-Based"},
    "PricingCategory": {"Standard", "Dynamic", "Committed", "Other", ""},
    "CommitmentDiscountCategory": {"Usage", "Spend", ""},
    "CommitmentDiscountStatus": {"Used", "Unused", ""},
    "CapacityReservationStatus": {"Used", "Unused", ""},
    "ServiceCategory": {"Compute", "Storage", "Networking", "Other"},
}
ALWAYS = {
    "BilledCost", "BillingCurrency", "BillingPeriodStart", "BillingPeriodEnd", "ChargeCategory", "ChargeDescription",
    "ChargeFrequency", "ChargePeriodStart", "ChargePeriodEnd", "EffectiveCost", "InvoiceIssuerName", "ProviderName",
    "PublisherName", "ServiceCategory", "ServiceName",
}  # fmt: skip
"""Columns that may not be empty and that a forecast can fill."""
REAL = {
    "as_of": "2026-11-21", "start": "2027-01", "months": 6, "providers": ["aws", "gcp"],
    "assumptions": {"cloud_support_fraction": 0.03, "cloud_tax_fraction": 0.2, "lead_time_months": 2},
    "existing": {"commitments": [
        {"provider": "aws", "region": "us-east-1", "instance_type": "g6.xlarge", "ends": "2027-03", "count": 1,
         "purchase_option": "reserved_1y_no_upfront", "fee_per_month": 300},
    ]},
    "workloads": [
        {"name": "train", "team": "a", "demand": {"accelerator_hours_per_month": 5840, "accelerator": "H100"}},
        {"name": "embed", "team": "b", "demand": {"accelerator_hours_per_month": 1700, "accelerator": "L4"}},
    ],
}  # fmt: skip
"""Owned nodes, blocks, a commitment that runs already, support and tax in one plan."""


@pytest.fixture(scope="session")
def catalog():
    return Catalog.embedded()


@pytest.fixture(scope="session")
def real(catalog):
    return plan_document(REAL, catalog)


def rows(plan):
    return list(csv.DictReader(io.StringIO(render(plan).decode(), newline="")))


def sums(table, column, by="BillingPeriodStart"):
    found = defaultdict(list)
    for row in table:
        found[row[by][:7]].append(float(row[column]))
    return {month: pytest.approx(math.fsum(amounts), abs=1e-6) for month, amounts in found.items()}


def by_month(plan, amounts):
    found = defaultdict(list)
    for month, amount in amounts:
        if month <= plan.months:
            found[plan.month_names[month - 1]].append(amount)
    return {month: math.fsum(each) for month, each in found.items()}


def recommended(plan):
    return plan.strategy(plan.recommendation.strategy)


def the_laws_hold(plan, strategy):
    """Month by month: billed is the cash, effective the effective cost, hours those used."""
    found = build_charges(plan, strategy)
    for month in range(1, plan.months + 1):
        own = [each for each in found if each.month == month]
        cash = math.fsum(row.amount for row in strategy.cash if row.month == month)
        borne = [row for row in plan.views.effective if row.strategy == strategy.name and row.month == month]
        assert math.fsum(each.billed for each in own) == pytest.approx(cash, abs=1e-6)
        assert math.fsum(each.effective for each in own) == pytest.approx(
            math.fsum(row.amount for row in borne), abs=1e-6
        )
        used = math.fsum(each.quantity for each in own if each.kind == "use")
        assert used == pytest.approx(math.fsum(use.node_hours for use in strategy.uses if use.month == month))


def test_the_laws_hold_for_every_strategy_of_every_plan(plan):
    for strategy in plan.strategies:
        the_laws_hold(plan, strategy)


def test_the_laws_hold_for_every_strategy_of_a_real_plan(real):
    assert {strategy.status for strategy in real.strategies} == {"optimal"}
    for strategy in real.strategies:
        the_laws_hold(real, strategy)


def test_billed_is_the_cash_of_the_plans_months_and_effective_the_effective_cost(plan):
    table = rows(plan)
    if plan.recommendation.strategy is None:
        assert table == []
        return
    chosen = recommended(plan)
    assert sums(table, "BilledCost") == by_month(plan, [(row.month, row.amount) for row in chosen.cash])
    borne = [(row.month, row.amount) for row in plan.views.effective if row.strategy == chosen.name]
    assert sums(table, "EffectiveCost") == by_month(plan, borne)


def test_sums_by_hand(small_plan):
    """Each month: 18,250 for the committed node as a fee that its use bears, 29,200 on demand, 5,000 spot, 12.50."""
    first = [row for row in rows(small_plan) if row["BillingPeriodStart"] == "2026-12-01T00:00:00Z"]
    told = [(row["ChargeCategory"], row["PricingCategory"], row["ConsumedQuantity"], float(row["BilledCost"]),
             float(row["EffectiveCost"])) for row in first]  # fmt: skip
    assert sorted(told) == [
        ("Purchase", "Standard", "", 18250.0, 0.0),
        ("Usage", "Committed", "730.0", 0.0, 18250.0),
        ("Usage", "Dynamic", "500.0", 5000.0, 5000.0),
        ("Usage", "Standard", "1.0", 12.5, 12.5),
        ("Usage", "Standard", "730.0", 29200.0, 29200.0),
    ]
    assert {row["BillingPeriodEnd"] for row in first} == {"2027-01-01T00:00:00Z"}


def test_what_the_specification_asks_of_every_row(plan):
    for row in rows(plan):
        assert tuple(row) == COLUMNS
        assert all(row[column] in values for column, values in ALLOWED.items()), row
        assert all(row[column] for column in ALWAYS), row
        assert row["BillingPeriodStart"] <= row["ChargePeriodStart"] < row["ChargePeriodEnd"]
        assert (row["ChargeCategory"] == "Purchase") <= (row["ChargeFrequency"] != "Usage-Based")
        assert bool(row["PricingQuantity"]) == bool(row["PricingUnit"])
        if row["ChargeCategory"] == "Tax":
            assert row["PricingCategory"] == row["PricingQuantity"] == ""
        if row["PricingCategory"] == "Committed":
            assert row["CommitmentDiscountStatus"]
        is_used = "Unused" not in (row["CommitmentDiscountStatus"], row["CapacityReservationStatus"])
        assert bool(row["ConsumedQuantity"]) == (row["ChargeCategory"] == "Usage" and is_used)
        assert (row["CommitmentDiscountStatus"] != "") == (
            row["CommitmentDiscountId"] != "" and row["ChargeCategory"] == "Usage"
        )
        assert bool(row["CommitmentDiscountQuantity"]) == bool(row["CommitmentDiscountUnit"])
        if row["ChargeCategory"] == "Purchase" and row["CommitmentDiscountId"]:
            assert float(row["EffectiveCost"]) == 0
        assert bool(row["CommitmentDiscountId"]) == bool(row["CommitmentDiscountCategory"])


def test_what_is_not_known_is_empty_and_never_zero(small_plan, converted_plan):
    by_category = {row["x_CostCategory"]: row for row in rows(small_plan) if row["ConsumedQuantity"]}
    assert by_category["on_demand"]["ListCost"] == "29200.0"
    assert by_category["spot"]["ListCost"] == ""  # the list price of what spot interrupts is another one
    assert by_category["commitment"]["ListCost"] == by_category["commitment"]["ContractedCost"] == ""
    assert {row["InvoiceId"] for row in rows(small_plan)} == {""}
    # the on-demand price was agreed, and no list has it
    (agreed, *_) = [row for row in rows(converted_plan) if row["x_CostCategory"] == "on_demand"]
    assert (agreed["ListCost"], agreed["ContractedCost"]) == ("", "29200.0")


def test_a_negotiated_price_has_its_list_cost_beside_it(converted_plan):
    """At 40 EUR agreed against 62.5 USD listed, which are 50 EUR at 0.80: 29,200 contracted, 36,500 at the list."""
    price = replace(converted_plan.prices[0], list_price_per_hour=62.5, list_currency="USD")
    table = rows(replace(converted_plan, prices=(price, *converted_plan.prices[1:])))
    assert {row["ListCost"] for row in table if row["x_CostCategory"] == "on_demand"} == {"36500.0"}


def test_an_enterprise_discount_hides_the_list_cost(small_plan):
    taken = replace(small_plan.assumptions[0], name="enterprise_discount_fraction", value=0.1)
    table = rows(replace(small_plan, assumptions=(*small_plan.assumptions, taken)))
    assert {row["ListCost"] for row in table} == {""}


def test_the_unused_part_of_a_commitment_is_a_row_of_its_own(small_plan):
    """Of 730 committed hours 584 are used, so that 146 are not, and bear a fifth of 18,250: 3,650."""
    chosen = recommended(small_plan)
    uses = tuple(replace(u, node_hours=584.0) if u.what == "commitment" else u for u in chosen.uses)
    strategies = tuple(replace(s, uses=uses) if s is chosen else s for s in small_plan.strategies)
    alone = replace(small_plan, strategies=strategies, ledger=AuditTrail())  # the audit trail would divide it by team
    table = [row for row in rows(alone) if row["CommitmentDiscountStatus"]]
    assert [(row["CommitmentDiscountStatus"], row["PricingQuantity"], row["ConsumedQuantity"],
             float(row["EffectiveCost"])) for row in table[:2]] == [
        ("Used", "584.0", "584.0", 14600.0), ("Unused", "146.0", "", pytest.approx(3650)),
    ]  # fmt: skip


def test_what_is_committed_is_told_with_its_payments_and_its_uses(small_plan, real):
    """One node of 730 hours a month: the fee of a month pays for 730, of which 730 are used. A partly used one of a
    real plan: what is used and what is not come to what its fee pays for."""
    told = [row for row in rows(small_plan) if row["CommitmentDiscountId"]][:2]
    assert [(row["ChargeCategory"], row["CommitmentDiscountQuantity"], row["CommitmentDiscountUnit"])
            for row in told] == [("Purchase", "730.0", "Hours"), ("Usage", "730.0", "Hours")]  # fmt: skip
    for row in (row for row in rows(real) if row["CommitmentDiscountId"] and not row["CommitmentDiscountQuantity"]):
        assert "g6.xlarge" in row["CommitmentDiscountId"], "only what was there before has no purchase that tells"


def test_a_payment_upfront_is_for_the_hours_of_its_term(small_plan):
    """Three nodes for 12 months of 730 hours, paid when they are ordered: 3 x 12 x 730 = 26,280 hours."""
    chosen = recommended(small_plan)
    bought = replace(chosen.purchases[0], count=3, usable_from=1, usable_to=12, upfront=9000.0, per_month=0.0)
    paid = next(row for row in chosen.cash if row.category == "commitment")
    strategy = replace(chosen, purchases=(bought,), cash=(replace(paid, month=1, at="start", amount=9000.0),))
    plan = replace(small_plan, strategies=tuple(strategy if s is chosen else s for s in small_plan.strategies))
    (row,) = [row for row in rows(plan) if row["ChargeCategory"] == "Purchase"]
    assert (row["ChargeFrequency"], row["CommitmentDiscountQuantity"]) == ("One-Time", "26280.0")
    assert row["ChargePeriodEnd"] == "2027-12-01T00:00:00Z"


def test_committed_money_is_drawn_at_the_rates_of_what_it_covers(small_plan):
    """10 an hour committed, 7,300 a month: 500 hours at 10 draw 5,000, so that 2,300 are not used."""
    chosen = recommended(small_plan)
    option = "savings_plan_1y_compute_no_upfront"
    bought = replace(chosen.purchases[0], unit="money", money_per_hour=10.0, name="any-type", region="all-regions",
                     purchase_option=option, per_month=7300.0)  # fmt: skip
    title = f"aws all-regions any-type {option}"
    cash = tuple(CashRow(month, "end", "commitment", title, 7300.0) for month in (1, 2, 3))
    uses = tuple(replace(u, purchase_option=option, cost=0.0) for u in chosen.uses if u.purchase_option == "spot")
    strategy = replace(chosen, cash=cash, uses=uses, purchases=(bought,), total_cost=21900.0)
    effective = tuple(
        replace(small_plan.views.effective[0], strategy=chosen.name, month=m, category="commitment", amount=7300.0)
        for m in (1, 2, 3)
    )
    plan = replace(
        small_plan,
        strategies=tuple(strategy if s is chosen else s for s in small_plan.strategies),
        views=replace(small_plan.views, effective=effective),
        prices=(replace(small_plan.prices[1], purchase_option=option),),
        ledger=AuditTrail(),
    )
    used, unused = [row for row in rows(plan) if row["CommitmentDiscountStatus"]][:2]
    assert (used["CommitmentDiscountCategory"], used["ConsumedQuantity"]) == ("Spend", "500.0")
    assert (float(used["EffectiveCost"]), float(unused["EffectiveCost"])) == pytest.approx((5000, 2300))
    assert (unused["PricingQuantity"], unused["PricingUnit"]) == ("2300.0", "USD")
    assert used["CommitmentDiscountId"] == unused["CommitmentDiscountId"] == title
    assert (used["CommitmentDiscountQuantity"], unused["CommitmentDiscountQuantity"]) == ("5000.0", "2300.0")
    fee = next(row for row in rows(plan) if row["ChargeCategory"] == "Purchase")
    assert (fee["CommitmentDiscountQuantity"], fee["CommitmentDiscountUnit"]) == ("7300.0", "USD")


def test_an_upfront_payment_is_for_its_term_and_falls_in_its_month(real):
    def table_of(strategy: str) -> list[dict[str, str]]:
        return rows(replace(real, recommendation=replace(real.recommendation, strategy=strategy)))

    block = next(p for p in real.strategy("cloud").purchases if p.unit == "node_day")
    table = table_of("cloud")
    paid = next(row for row in table if row["ChargeFrequency"] == "One-Time" and row["CapacityReservationId"])
    assert (paid["PricingQuantity"], paid["PricingUnit"]) == (str(block.count), "Node-Days")
    table = table_of("onprem")
    bought = next(row for row in table if row["x_CostCategory"] == "hardware" and row["ChargeCategory"] == "Purchase")
    assert (bought["ProviderName"], bought["EffectiveCost"]) == ("own site", "0.0")
    sold = next(row for row in table if row["x_CostCategory"] == "resale")
    assert (float(sold["BilledCost"]) < 0, sold["ChargeFrequency"]) == (True, "One-Time")


@pytest.mark.one_in(3)
@pytest.mark.parametrize("strategy", ["cloud", "onprem", "hybrid"])
def test_the_bill_reader_finds_the_same_hours_and_costs(real, catalog, strategy, tmp_path):
    """What is written is read back by the reader of real bills: accelerator-hours by month, workload and accelerator,
    and both costs, with nothing refused and nothing left unmatched."""
    plan = replace(real, recommendation=replace(real.recommendation, strategy=strategy))
    path = tmp_path / "plan.focus.csv"
    path.write_bytes(render(plan))
    bill = bills._read_bill(path, catalog, path.name, progress=None)
    assert bill.differences() == ()
    assert (bill.rows_refused, bill.recognised_by.startswith("version 1.2")) == (0, True)
    assert not [each for each in bill.apart if each.why == "not matched"]
    assert not [note for note in bill.notes if "not exact" in note], "both costs are exact: some was paid before"
    options = {line.purchase_option for line in bill.lines if line.kind == "used" and line.provider == "own site"}
    assert options <= {"not told"}

    chosen = plan.strategy(strategy)
    hours = defaultdict(float)
    for use in chosen.uses:
        key = plan.month_names[use.month - 1], use.workload, use.accelerator
        hours[key] += use.node_hours * use.accelerators_per_node
    found = defaultdict(float)
    for line in bill.lines:
        if line.kind == "used":
            found[line.month, dict(line.tags)["workload"], line.accelerator] += line.hours_used
    assert found == pytest.approx(hours)
    (total,) = bill.totals
    assert (total.billed, total.effective) == pytest.approx((chosen.total_cost, chosen.total_cost))
    taxed = math.fsum(row.amount for row in chosen.cash if row.category == "tax")
    assert math.fsum(each.billed for each in bill.apart if each.why == "tax") == pytest.approx(taxed)


def test_text_from_outside_is_neither_formula_nor_more_than_text(hostile_plan):
    for row in rows(hostile_plan):
        for column, cell in row.items():
            assert "\n" not in cell
            if column not in ("BilledCost", "EffectiveCost", "ContractedCost", "ListCost"):
                assert not cell.startswith(tuple("=+-@\t\r＝＋－＠"))
        for column in ("Tags", "SkuPriceDetails"):
            assert isinstance(json.loads(row[column] or "{}"), dict)


def test_numbers_have_no_exponent_and_there_is_no_mark(small_plan):
    tiny = replace(recommended(small_plan).cash[0], category="storage", what="aws us-east-1", amount=1e-9)
    chosen = recommended(small_plan)
    strategies = tuple(replace(s, cash=(*s.cash, tiny)) if s is chosen else s for s in small_plan.strategies)
    data = render(replace(small_plan, strategies=strategies))
    assert data.startswith(b"BilledCost,")
    assert b"0.000000001," in data
    assert b"e-09" not in data


def test_without_a_recommendation_there_is_only_the_header(impossible_plan):
    plan = replace(impossible_plan, gaps=(Gap("no_price", "x", Message("by_hand")),))
    assert render(plan).decode().splitlines() == [",".join(COLUMNS)]


@given(st.floats(-1e9, 1e9), st.lists(st.floats(0, 1e6), min_size=1, max_size=20))
def test_an_amount_that_is_spread_stays_whole(amount, weights):
    shares = split_by_weight(amount, weights)
    assert math.fsum(shares) == pytest.approx(amount, rel=1e-9, abs=1e-6)
    if math.fsum(weights) > 1:
        assert all(abs(share) < 1e-6 for share, weight in zip(shares, weights, strict=True) if not weight)
