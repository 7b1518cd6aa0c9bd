"""A bill carried on: the demand of a request, the commitments it takes over, and what is spent at present."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from planner.application import plan_document
from planner.inputs.bills.usage import combine_bills
from planner.inputs.bills.usage_projection import base_months, build_request_from_bills
from planner.inputs.file_reader import read as read_any
from planner.inputs.parsed_file import PresentSpend, SunkCommitment
from planner.inputs.sheet_options import UsageProjection
from planner.inputs.spend_comparison import add_savings_note
from planner.request.errors import InvalidRequest

MONTHS = {"2026-08": 744, "2026-09": 720, "2026-10": 744}
EXAMPLE = Path(__file__).parents[2] / "examples" / "bill-focus.csv"


def whole(month):
    year, number = int(month[:4]), int(month[5:])
    return {"ChargePeriodStart": f"{month}-01T00:00:00Z", "ChargePeriodEnd": f"{year}-{number + 1:02d}-01T00:00:00Z"}


def g5(month, hours, **more):
    """Hours of a g5.xlarge at 1.006."""
    cost = f"{hours * 1.006:.6f}"
    return {**whole(month), "SkuPriceDetails": '{"InstanceType": "g5.xlarge"}', "ConsumedQuantity": str(hours),
            "ConsumedUnit": "Hours", "BilledCost": cost, "EffectiveCost": cost, **more}  # fmt: skip


def test_a_node_around_the_clock_is_one_node_of_730_hours(table, focus, catalog):
    found = build_request_from_bills([table(focus, *(g5(month, hours) for month, hours in MONTHS.items()))], catalog)
    assert found.complaints == ()
    (workload,) = found.document["workloads"]
    # (744 + 720 + 744) / 3 hours a month, of 736 on average, are 730 of 730
    assert workload["demand"] == {"accelerator_hours_per_month": pytest.approx(730), "accelerator": "A10G-24GB"}
    assert workload["name"] == "account 111122223333"
    assert found.document["currency"] == "USD"
    assert found.present is not None
    assert found.present.projected_cost(12) == pytest.approx(12 * 730 * 1.006)


def test_one_workload_for_each_tag_and_accelerator_with_its_nodes_and_its_share_of_spot(table, focus, catalog):
    tags = {"Tags": '{"Workload": "chat"}'}
    p5 = {"SkuPriceDetails": '{"InstanceType": "p5.48xlarge"}', **tags}
    spot = g5("2026-09", 100, **tags, PricingCategory="Dynamic")
    path = table(focus, g5("2026-09", 300, **tags), spot, g5("2026-09", 20, **p5))
    found = build_request_from_bills([path], catalog, UsageProjection(0.03, "workload", substitution=True))
    a10, h100 = found.document["workloads"]
    scale = 730 / 720
    assert (a10["name"], h100["name"]) == ("chat on A10G-24GB", "chat on H100-80GB-SXM")
    assert (a10["spot_fraction_max"], a10["interruptible"], a10["gang"]) == (0.25, True, 1)
    assert (h100["gang"], h100["accelerators_per_node"], "interruptible" in h100) == (8, 8, False)
    assert h100["demand"]["accelerator_hours_per_month"] == pytest.approx(20 * 8 * scale)
    assert {a10["demand"]["growth_per_month"], h100["demand"]["growth_per_month"]} == {0.03}
    assert a10["substitution"] is True


@pytest.mark.slow
def test_more_values_of_a_tag_than_a_plan_holds_name_the_tag(table, focus, catalog):
    path = table(focus, *(g5("2026-09", 1, Tags=f'{{"app": "job {number}"}}') for number in range(1001)))
    found = build_request_from_bills([path], catalog)
    with pytest.raises(InvalidRequest) as raised:
        plan_document({**found.document, "as_of": "2026-11-21"}, catalog, inputs=found.inputs, places=found.places)
    (fault,) = raised.value.complaints
    assert str(fault).startswith("bill.csv, by the tag app (--tag): too many")


def test_the_last_full_months_that_follow_one_another(read, table, focus):
    def months(*names, more=()):
        return base_months(combine_bills([read(table(focus, *(g5(month, 1) for month in names), *more))]))

    assert months("2026-05", "2026-06", "2026-07", "2026-08") == ("2026-06", "2026-07", "2026-08")
    assert months("2026-05", "2026-07", "2026-08") == ("2026-07", "2026-08")
    half = {**g5("2026-08", 1), "ChargePeriodEnd": "2026-08-20T00:00:00Z"}
    assert months("2026-07", more=[half]) == ("2026-07",)


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([{**g5("2026-09", 1), "ChargePeriodEnd": "2026-09-07T00:00:00Z"}], "no 7 days of a month are covered"),
        ([{**g5("2026-09", 1), "SkuPriceDetails": ""}], "no usage of a known accelerator"),
        ([g5("2026-09", 1), g5("2026-09", 1, BillingCurrency="EUR")], "several currencies"),
        ([g5("2026-09", -1)], "no accelerator ran"),
    ],
)
def test_what_gives_no_demand_is_a_complaint(table, focus, catalog, rows, message):
    found = build_request_from_bills([table(focus, *rows)], catalog)
    assert [message in complaint.message for complaint in found.complaints] == [True]


@pytest.mark.slow
def test_a_tag_that_no_row_has_is_a_complaint_with_those_there_are(table, focus, catalog):
    path = table(focus, g5("2026-09", 1, Tags='{"env": "dev", "team": "a"}'))
    (fault,) = build_request_from_bills([path], catalog, UsageProjection(tag="project")).complaints
    assert (fault.place, fault.value, fault.expected) == ("--tag", "project", "one of env, team")


RESERVED = {"CommitmentDiscountId": "ri-1", "CommitmentDiscountType": "Reserved", "PricingCategory": "Committed"}


def committed(*months, once=True):
    for month in months:
        hours = MONTHS[month]
        used = {**g5(month, hours - 100, **RESERVED), "BilledCost": "0", "EffectiveCost": f"{(hours - 100) * 0.7:.6f}"}
        yield {**used, "CommitmentDiscountStatus": "Used"}
        yield {**whole(month), **RESERVED, "CommitmentDiscountStatus": "Unused", "PricingQuantity": "100",
               "PricingUnit": "Hours", "EffectiveCost": "70"}  # fmt: skip
        yield {**whole(month), **RESERVED, "ChargeCategory": "Purchase", "ChargeFrequency": "Recurring",
               "BilledCost": f"{hours * 0.2:.6f}"}  # fmt: skip
    if once:
        yield {**whole(months[0]), "ChargePeriodEnd": "2027-08-01T00:00:00Z", **RESERVED, "ChargeCategory": "Purchase",
               "ChargeFrequency": "One-Time", "BilledCost": "4380"}  # fmt: skip


def test_a_commitment_is_taken_over_with_what_is_still_owed(table, focus, catalog):
    found = build_request_from_bills([table(focus, *committed(*MONTHS))], catalog)
    (taken,) = found.document["existing"]["commitments"]
    fee = 736 * 0.2  # 0.20 an hour, of 736 hours in the mean month
    assert taken == {
        "provider": "aws", "region": "us-east-1", "instance_type": "g5.xlarge", "count": 1, "ends": "2027-07",
        "purchase_option": "reserved_1y_partial_upfront", "fee_per_month": pytest.approx(fee),
    }  # fmt: skip
    # 0.70 an hour amortised, of which 0.20 is the fee: 0.50 an hour was paid upfront
    assert found.present is not None
    (kept,) = found.present.kept
    assert (kept.ends, kept.sunk_per_month) == ("2027-07", pytest.approx(736 * 0.5))


def test_a_commitment_whose_end_is_not_told_is_named_and_left_out(table, focus, catalog):
    found = build_request_from_bills([table(focus, *committed(*MONTHS, once=False))], catalog)
    assert "existing" not in found.document
    told = next(note for note in found.inputs.notes if note.startswith("commitment ri-1"))
    assert "not taken over" in told
    assert "; its end;" in told
    assert "515.20 a month" in told  # 736 x 0.70


def test_what_the_plan_saves_is_before_what_is_owed_for_commitments_that_it_does_not_hold(table, focus, catalog):
    """736 hours a month at 0.70 are 515.20, whether something used them or not."""
    found = build_request_from_bills([table(focus, *committed(*MONTHS, once=False))], catalog)
    assert found.present is not None
    assert found.present.loose_per_month == pytest.approx(736 * 0.7)
    document = {**found.document, "as_of": "2026-11-21", "months": 2, "strategies": ["cloud"], "providers": ["aws"]}
    note = add_savings_note(plan_document(document, catalog, inputs=found.inputs), found).inputs.notes[-1]
    assert "the remaining payments for commitments that the plan does not include, 515.20 a month" in note
    held = build_request_from_bills([table(focus, *committed(*MONTHS))], catalog)
    assert held.present is not None
    assert held.present.loose_per_month == 0


@pytest.mark.slow
def test_cash_with_a_payment_for_later_months_is_no_measure_of_going_on_as_today(table, azure, catalog):
    reserved = {"ReservationId": "r-1", "ProductOrderName": "Standard_NC24ads_A100_v4", "Term": "1 Year"}
    hours = {**reserved, "AdditionalInfo": '{"ServiceType": "Standard_NC24ads_A100_v4"}', "Quantity": "24"}
    days = [{**hours, "Date": f"09/{day:02d}/2026", "PricingModel": "Reservation"} for day in range(1, 31)]
    bought = {**reserved, "ChargeType": "Purchase", "Frequency": "OneTime", "CostInBillingCurrency": "20000",
              "Quantity": "1"}  # fmt: skip
    found = build_request_from_bills([table(azure, *days, bought)], catalog)
    assert found.complaints == ()
    assert found.present is None
    assert [note for note in found.inputs.notes if "paid upfront for later months too" in note]


def test_a_savings_plan_is_named_with_its_sum_and_its_end(table, cur, catalog):
    plan = {"savingsPlan/SavingsPlanARN": "arn:sp", "lineItem/UsageStartDate": "2026-09-01T00:00:00Z",
            "lineItem/UsageEndDate": "2026-10-01T00:00:00Z"}  # fmt: skip
    path = table(
        cur,
        {**plan, "lineItem/LineItemType": "SavingsPlanCoveredUsage", "lineItem/UsageType": "USW2-BoxUsage:g5.xlarge",
         "lineItem/UsageAmount": "720", "lineItem/UnblendedCost": "724.32",
         "savingsPlan/SavingsPlanEffectiveCost": "460.8"},
        {**plan, "lineItem/LineItemType": "SavingsPlanNegation", "lineItem/UsageType": "USW2-BoxUsage:g5.xlarge",
         "lineItem/UsageAmount": "720", "lineItem/UnblendedCost": "-724.32"},
        {**plan, "lineItem/LineItemType": "SavingsPlanRecurringFee", "lineItem/UsageType": "ComputeSP:1yrNoUpfront",
         "lineItem/UnblendedCost": "504", "savingsPlan/TotalCommitmentToDate": "504",
         "savingsPlan/UsedCommitment": "460.8", "savingsPlan/StartTime": "2026-03-01T00:00:00.000Z",
         "savingsPlan/EndTime": "2027-02-28T23:59:59.000Z"},
    )  # fmt: skip
    found = build_request_from_bills([path], catalog)
    assert "existing" not in found.document
    # 460.80 for what it covered and 43.20 for what nothing used: the 504.00 of its fee
    assert (
        "commitment arn:sp is not taken over, since the bill does not state the nodes it commits to (savings plan); "
        "it costs 504.00 a month to the end of 2027-02, and its remaining payments come on top of the plan"
    ) in found.inputs.notes


@pytest.mark.slow
def test_fees_without_a_name_are_told(lines, catalog):
    def row(sku, hours, cost):
        usage = {"amount": hours * 3600, "unit": "seconds", "amount_in_pricing_units": hours, "pricing_unit": "hour"}
        return {"sku": {"description": sku}, "usage": usage, "cost": cost, "usage_end_time": "2026-10-01 00:00:00 UTC"}

    path = lines(
        row("Nvidia L4 GPU running in Iowa", 720, 0),
        row("Commitment v1: Nvidia L4 GPU running in Iowa for 1 Year", 720, 360),
    )
    (note,) = [
        note for note in build_request_from_bills([path], catalog).inputs.notes if note.startswith("fees and unused")
    ]
    assert "of L4-24GB, 365.00 a month" in note  # 360 in 720 hours, of 730
    assert "none is taken over" in note


def test_growth_goes_into_what_nothing_uses_before_it_costs_more():
    present = PresentSpend("effective", "USD", 100, 50, 25, 0.5)
    # outside: 100 + 150 + 225; under commitments of 75: 75, then 50 x 1.5 = 75, then 50 x 2.25 = 112.5
    assert present.projected_cost(3) == pytest.approx(475 + 75 + 75 + 112.5)
    kept = replace(present, kept=(SunkCommitment("2026-12", 10), SunkCommitment("2027-05", 1)))
    assert kept.sunk_cost(("2026-11", "2026-12", "2027-01")) == 10 + 10 + 3


def test_the_plan_says_what_it_saves(catalog):
    found = build_request_from_bills([EXAMPLE], catalog, UsageProjection(0.03))
    document = {**found.document, "as_of": "2026-11-21", "months": 12, "strategies": ["cloud"], "providers": ["aws"]}
    plan = add_savings_note(plan_document(document, catalog, inputs=found.inputs), found)
    assert found.present is not None
    there = found.present.projected_cost(12)
    here = plan.strategy("cloud").total_cost + found.present.sunk_cost(plan.month_names)
    note = plan.inputs.notes[-1]
    assert f"costs {there:,.2f} (effective" in note
    # the bill has blocks, and a plan has none for months that cannot be ordered yet
    assert f"it costs more by {here - there:,.2f}" in note
    later = {**document, "assumptions": {"capacity_blocks_beyond_window": 1}}
    plan = add_savings_note(plan_document(later, catalog, inputs=found.inputs), found)
    here = plan.strategy("cloud").total_cost + found.present.sunk_cost(plan.month_names)
    assert f"saves {there - here:,.2f}" in plan.inputs.notes[-1]
    euros = add_savings_note(replace(plan, currency="EUR"), found)
    assert "it is in USD, the plan in EUR" in euros.inputs.notes[-1]


@pytest.mark.slow
def test_bytes_are_a_bill_whatever_they_are_called(catalog):
    found = read_any(EXAMPLE.read_bytes(), "review.csv")
    assert (found.inputs.format, found.complaints) == ("billing", ())
    assert found.document == build_request_from_bills([EXAMPLE], catalog).document
