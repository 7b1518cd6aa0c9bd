"""Every export, made in small: what is used, paid for, billed and effective, and what stands apart."""

from __future__ import annotations

import gzip
import math

import pytest

from planner.inputs.bills import NotABill, commitments, is_bill
from planner.inputs.bills.usage import combine_bills, sum_lines

ARN = "arn:aws:ec2:us-east-1:111122223333:reserved-instances/abc"
PLAN = "arn:aws:savingsplans::111122223333:savingsplan/xyz"


def kinds(bill):
    return {line.kind: line for line in bill.lines}


def apart(bill):
    return {(each.why, each.currency): (each.rows, each.billed, each.effective) for each in bill.apart}


def test_focus_on_demand_and_spot(read, table, focus):
    bill = read(table(
        focus,
        {"SkuPriceDetails": '{"InstanceType": "p5.48xlarge"}', "ConsumedQuantity": "24", "ConsumedUnit": "Hours",
         "BilledCost": "1320.96", "EffectiveCost": "1320.96", "Tags": '{"team": "nlp"}'},
        {"ChargeDescription": "$0.31 per g5.xlarge Linux Spot instance-hour", "PricingCategory": "Dynamic",
         "ConsumedQuantity": "10", "ConsumedUnit": "Hrs", "BilledCost": "3.1", "EffectiveCost": "3.1"},
        {"ChargeDescription": "$0.023 per GB of storage", "ConsumedQuantity": "100", "ConsumedUnit": "GB",
         "BilledCost": "2.3", "EffectiveCost": "2.3"},
        {"ChargeCategory": "Tax", "BilledCost": "1", "EffectiveCost": "1"},
        {"ChargeCategory": "Credit", "BilledCost": "-5", "EffectiveCost": "-5", "ChargeDescription": "p5 promotion"},
    ))  # fmt: skip
    spot, demand = sorted(bill.lines, key=lambda line: line.hours_used)
    # 24 hours of a node with 8 H100 are 192 accelerator-hours
    assert (demand.accelerator, demand.hours_used, demand.billed) == ("H100-80GB-SXM", 192, 1320.96)
    assert demand.tags == (("team", "nlp"),)
    assert (spot.instance_type, spot.purchase_option, spot.hours_used) == ("g5.xlarge", "spot", 10)
    assert apart(bill) == {
        ("not accelerators", "USD"): (1, 2.3, 2.3), ("tax", "USD"): (1, 1, 1), ("credit", "USD"): (1, -5, -5)
    }  # fmt: skip
    assert bill.totals[0].billed == pytest.approx(1320.96 + 3.1 + 2.3 + 1 - 5)


def test_focus_commitment_used_unused_and_bought(read, table, focus):
    held = {"CommitmentDiscountId": "ri-1", "CommitmentDiscountType": "Reserved", "PricingCategory": "Committed"}
    bill = read(table(
        focus,
        {**held, "SkuPriceDetails": '{"InstanceType": "p4d.24xlarge"}', "CommitmentDiscountStatus": "Used",
         "ConsumedQuantity": "18", "ConsumedUnit": "Hours", "EffectiveCost": "360"},
        {**held, "CommitmentDiscountStatus": "Unused", "PricingQuantity": "6", "PricingUnit": "Hours",
         "EffectiveCost": "120"},
        {**held, "ChargeCategory": "Purchase", "ChargeFrequency": "Recurring", "BilledCost": "480"},
    ))  # fmt: skip
    # the unused and the bought row name no type: they are told by what the commitment covered
    assert {line.kind: (line.rows, line.hours_used, line.hours_unused) for line in bill.lines} == {
        "used": (1, 144, 0), "commitment": (2, 0, 48)
    }  # fmt: skip
    whole = sum_lines(bill.lines)
    assert (whole.hours_paid, whole.billed, whole.effective) == (192, 480, 480)
    assert {line.purchase_option for line in bill.lines} == {"reserved"}


def test_a_commitment_that_covers_more_than_accelerators_is_told_apart(read, table, focus):
    held = {"CommitmentDiscountId": "sp-1", "CommitmentDiscountType": "Compute Savings Plan"}
    bill = read(table(
        focus,
        {**held, "SkuPriceDetails": '{"InstanceType": "g5.xlarge"}', "ConsumedQuantity": "1", "ConsumedUnit": "Hours",
         "EffectiveCost": "0.7"},
        {**held, "SkuPriceDetails": '{"InstanceType": "m5.large"}', "ConsumedQuantity": "1", "ConsumedUnit": "Hours",
         "EffectiveCost": "0.05"},
        {**held, "CommitmentDiscountStatus": "Unused", "EffectiveCost": "0.25"},
    ))  # fmt: skip
    assert [line.purchase_option for line in bill.lines] == ["savings_plan"]
    assert apart(bill)["shared commitment", "USD"] == (1, 0, 0.25)
    (found,) = commitments.collect_commitments(combine_bills([bill]))
    assert found.unknown[0] == "the nodes it commits to (savings plan)"


def test_aws_reservation_and_savings_plan(read, table, cur):
    reserved = {"reservation/ReservationARN": ARN, "lineItem/UsageType": "USE2-BoxUsage:p4d.24xlarge"}
    fee = {
        "lineItem/LineItemType": "RIFee", "lineItem/UsageType": "USE2-HeavyUsage:p4d.24xlarge",
        "lineItem/UsageAmount": "720", "lineItem/UnblendedCost": "7200", "reservation/UnusedQuantity": "120",
        "reservation/UnusedRecurringFee": "1200", "reservation/UnusedAmortizedUpfrontFeeForBillingPeriod": "300",
        "reservation/StartTime": "2026-01-01T00:00:00.000Z", "reservation/EndTime": "2026-12-31T23:59:59.000Z",
        "reservation/NumberOfReservations": "1", "pricing/LeaseContractLength": "1yr",
        "pricing/PurchaseOption": "Partial Upfront", "pricing/OfferingClass": "standard",
        "lineItem/UsageEndDate": "2026-10-01T00:00:00Z",
    }  # fmt: skip
    plan = {"savingsPlan/SavingsPlanARN": PLAN, "lineItem/UsageType": "BoxUsage:g5.xlarge"}
    bill = read(table(
        cur,
        {**reserved, "lineItem/LineItemType": "DiscountedUsage", "lineItem/UsageAmount": "600",
         "reservation/EffectiveCost": "7500", "resourceTags/user:team": "vision"},
        {**reserved, **fee},
        {**plan, "lineItem/LineItemType": "SavingsPlanCoveredUsage", "lineItem/UsageAmount": "10",
         "lineItem/UnblendedCost": "10.06", "savingsPlan/SavingsPlanEffectiveCost": "6.4"},
        {**plan, "lineItem/LineItemType": "SavingsPlanNegation", "lineItem/UsageAmount": "10",
         "lineItem/UnblendedCost": "-10.06"},
        {"lineItem/LineItemType": "SavingsPlanRecurringFee", "savingsPlan/SavingsPlanARN": PLAN,
         "lineItem/UnblendedCost": "8", "savingsPlan/TotalCommitmentToDate": "8", "savingsPlan/UsedCommitment": "6.4"},
        {"lineItem/UsageType": "EBSOptimized:p3.2xlarge", "lineItem/UsageAmount": "10", "lineItem/UnblendedCost": "1"},
        {"lineItem/UsageType": "BoxUsage:m5.large", "lineItem/UsageAmount": "10", "lineItem/UnblendedCost": "0.96"},
        {"lineItem/UsageType": "BoxUsage:p9.48xlarge", "lineItem/UsageAmount": "1", "lineItem/UnblendedCost": "99"},
        {"lineItem/LineItemType": "Tax", "lineItem/UnblendedCost": "3"},
        {"lineItem/UsageType": "Dollar", "lineItem/ProductCode": "AWSSupportBusiness", "lineItem/UnblendedCost": "100"},
    ))  # fmt: skip
    by = {(line.kind, line.instance_type): line for line in bill.lines}
    used, idle = by["used", "p4d.24xlarge"], by["commitment", "p4d.24xlarge"]
    assert (used.hours_used, used.billed, used.effective) == (4800, 0, 7500)  # 600 h x 8
    assert (idle.hours_unused, idle.billed, idle.effective) == (960, 7200, 1500)  # 120 h x 8; 1200 + 300
    covered = by["used", "g5.xlarge"]
    # covered usage and its negation come to nothing in cash; the hours of the negation are no hours
    assert (covered.hours_used, covered.billed, covered.effective) == (10, 0, 6.4)
    plan_fee = by["commitment", "g5.xlarge"]
    assert (plan_fee.billed, plan_fee.effective) == (8, pytest.approx(1.6))  # 8 - 6.4
    assert by["beside", "p3.2xlarge"].billed == 1
    assert {key: value[0] for key, value in apart(bill).items()} == {
        ("not accelerators", "USD"): 1, ("not matched", "USD"): 1, ("tax", "USD"): 1, ("support", "USD"): 1,
    }  # fmt: skip
    assert next(each.name for each in bill.apart if each.why == "not matched") == "p9.48xlarge"
    (found, _) = sorted(commitments.collect_commitments(combine_bills([bill])), key=lambda each: each.identity)
    assert (found.purchase_option, found.count, found.ends) == ("reserved_1y_partial_upfront", 1, "2026-12")
    assert (found.instance_type, found.unknown) == ("p4d.24xlarge", ())


def test_cur_2_in_parquet_with_maps(read, tmp_path):
    import duckdb

    path = tmp_path / "cur.parquet"
    duckdb.sql(
        "COPY (SELECT 'Usage' line_item_line_item_type, TIMESTAMP '2026-09-01' line_item_usage_start_date, "
        "TIMESTAMP '2026-10-01' line_item_usage_end_date, 'EU-SpotUsage:g6.xlarge' line_item_usage_type, "
        "'AmazonEC2' line_item_product_code, 100.0::DOUBLE line_item_usage_amount, 31.5::DOUBLE "
        "line_item_unblended_cost, 'USD' line_item_currency_code, '1' line_item_usage_account_id, 'Hrs' pricing_unit, "
        "'eu-west-1' product_region_code, MAP {'user_team': 'search', 'user_env': 'prod'} resource_tags, "
        f"MAP {{'instance_type': 'g6.xlarge'}} product) TO '{path}'"
    )
    bill = read(path)
    (line,) = bill.lines
    assert bill.recognised_by.startswith("CUR 2.0")
    assert (line.purchase_option, line.hours_used, line.billed, line.region) == ("spot", 100, 31.5, "eu-west-1")
    assert dict(line.tags) == {"team": "search", "env": "prod"}


def test_azure_actual_and_amortised_are_never_both(read, table, azure):
    held = {"ReservationId": "r-1", "PricingModel": "Reservation", "Term": "12", "MeterName": "NC24ads A100 v4"}
    used = {**held, "Quantity": "20", "Tags": '"team": "chem","env": "dev"'}
    actual = read(table(
        azure, {**used}, {**held, "ChargeType": "Purchase", "Frequency": "Recurring", "CostInBillingCurrency": "1800",
                          "ProductOrderName": "Reserved VM Instance, Standard_NC24ads_A100_v4, US East, 1 Year"},
        name="actual.csv",
    ))  # fmt: skip
    assert {line.kind: (line.billed, line.effective) for line in actual.lines} == {
        "used": (0, None), "commitment": (1800, None)
    }  # fmt: skip
    amortised = read(table(
        azure, {**used, "CostInBillingCurrency": "50"},
        {**held, "ChargeType": "UnusedReservation", "Quantity": "4", "CostInBillingCurrency": "10"}, name="am.csv",
    ))  # fmt: skip
    lines = kinds(amortised)
    assert (lines["used"].effective, lines["used"].billed, lines["used"].hours_used) == (50, None, 20)
    assert (lines["commitment"].effective, lines["commitment"].hours_unused) == (10, 4)
    assert dict(lines["used"].tags) == {"team": "chem", "env": "dev"}
    both = combine_bills([actual, amortised])
    assert (sum_lines(both.lines).billed, sum_lines(both.lines).effective) == (None, None)


@pytest.mark.parametrize(
    ("told", "type_", "option"),
    [
        ({"MeterName": "NC6s v3 Spot"}, "Standard_NC6s_v3", "spot"),
        ({"MeterName": "NC6s v3 Low Priority"}, "Standard_NC6s_v3", "spot"),
        ({"AdditionalInfo": '{"UsageType":"ComputeHR","ServiceType": "Standard_ND96isr_H100_v5"}'},
         "Standard_ND96isr_H100_v5", "on_demand"),
        ({"ProductName": "Virtual Machines NCasT4 v3 Series - NC16as T4 v3 - US East"}, "Standard_NC16as_T4_v3",
         "on_demand"),
    ],
)  # fmt: skip
def test_azure_names(read, table, azure, told, type_, option):
    (line,) = read(table(azure, {**told, "Quantity": "1", "CostInBillingCurrency": "2"})).lines
    assert (line.instance_type, line.purchase_option, line.currency) == (type_, option, "EUR")


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("unit", "quantity", "cost", "hours", "words"),
    [
        # 3 blocks of 100 hours at 306 a block, 3.06 an hour
        ("100 Hours", "3", "918", 300, "blocks of 100"),
        ("10 Hours", "2.4", "73.44", 24, "blocks of 10"),
        ("10 Stunden", "2.4", "73.44", 24, "blocks of 10"),
        # 24 at 3.06: as blocks of 100 it would be 0.0306 an hour, a hundredth of its price
        ("100 Hours", "24", "73.44", 24, "hours: as blocks they would cost under 20%"),
        ("10 Hours", "24", "73.44", 24, "hours: as blocks they would cost under 20%"),
        ("100 Hours", "0.24", "0", 24, "blocks of 100, without a price to verify that"),
    ],
)
def test_azure_hours_in_blocks(read, table, azure, unit, quantity, cost, hours, words):
    row = {"MeterName": "NC6s v3", "UnitOfMeasure": unit, "Quantity": quantity, "CostInBillingCurrency": cost}
    bill = read(table(azure, {**row, "BillingCurrencyCode": "USD"}))
    (line,) = bill.lines
    assert (line.instance_type, line.hours_used, line.billed) == ("Standard_NC6s_v3", hours, float(cost))
    note = next(note for note in bill.notes if "counted in" in note)
    assert note == f"1 row of accelerators counted in {unit}; their quantities are {words}" + (
        " of the lowest known price" if words.startswith("hours") else ""
    )


def test_an_hour_of_something_else_is_named_and_not_dropped(read, table, azure):
    bill = read(table(azure, {"MeterName": "NC6s v3", "UnitOfMeasure": "100 Core Hours", "CostInBillingCurrency": "9"}))
    assert [(each.why, each.name, each.billed) for each in bill.apart] == [
        ("not matched", "Standard_NC6s_v3: hours in 100 Core Hours", 9)
    ]


def test_azure_german_headers_and_a_decimal_comma(read, tmp_path):
    path = tmp_path / "de.csv"
    path.write_text(
        "\ufeffAbonnement-GUID (SubscriptionGuid);UsageDateTime (UsageDateTime);Kategorie der Verbrauchseinheit "
        "(MeterCategory);Name der Verbrauchseinheit (MeterName);UsageQuantity (UsageQuantity);PreTaxCost (PreTaxCost);"
        "Currency;Maßeinheit (UnitOfMeasure)\n"
        "s;2026-09-01;Virtual Machines;NC6s v3;2,5;1.234,75;EUR;1 Stunde\n"
        "s;2026-09-30;Virtual Machines;D2s v3;24;2,304;EUR;1 Stunde\n",
        encoding="utf-8",
    )
    bill = read(path)
    (line,) = bill.lines
    assert (line.hours_used, line.billed) == (2.5, 1234.75)
    assert bill.totals[0].billed == pytest.approx(1237.054)


def test_dates_in_the_other_order_are_told_by_a_day_past_the_twelfth(read, table, azure):
    row = {"MeterName": "NC6s v3", "Quantity": "1", "CostInBillingCurrency": "1"}
    bill = read(table(azure, {**row, "Date": "05/09/2026"}, {**row, "Date": "30/09/2026"}))
    assert {line.month for line in bill.lines} == {"2026-09"}
    assert "dates read as day/month/year" in bill.notes


def google(sku, hours, cost, **more):
    usage = {"amount": hours * 3600, "unit": "seconds", "amount_in_pricing_units": hours, "pricing_unit": "hour"}
    return {"sku": {"description": sku}, "usage": usage, "cost": cost, **more}


def test_google_rates_machines_credits_and_commitments(read, lines):
    spec = [{"key": "compute.googleapis.com/machine_spec", "value": "a2-highgpu-8g"}]
    bill = read(lines(
        google("Nvidia Tesla A100 GPU running in Americas", 16, 46.94, system_labels=spec,
               labels=[{"key": "team", "value": "rl"}],
               credits=[{"type": "COMMITTED_USAGE_DISCOUNT", "amount": -40}, {"type": "PROMOTION", "amount": -1.5}]),
        google("A2 Instance Core running in Americas", 24, 0.76, system_labels=spec),
        google("Commitment v1: Nvidia Tesla A100 GPU running in Iowa for 1 Year", 16, 30),
        google("Nvidia L4 GPU attached to Spot Preemptible VMs running in Iowa", 5, 1.1),
        google("N1 Predefined Instance Core running in Americas", 4, 0.13),
        google("Nvidia X9 GPU running in Americas", 1, 7),
        {"cost_type": "tax", "cost": 2},
    ))  # fmt: skip
    by = {(line.kind, line.accelerator, line.purchase_option): line for line in bill.lines}
    used = by["used", "A100-40GB-SXM", "committed_use"]
    # 46.94 less the discount of 40; the promotion is a credit apart
    assert (used.hours_used, used.billed, used.accelerators_per_node) == (16, pytest.approx(6.94), 8)
    assert by["beside", "A100-40GB-SXM", "on_demand"].billed == 0.76
    assert by["commitment", "A100-40GB-SXM", "committed_use"].billed == 30
    assert by["used", "L4-24GB", "spot"].hours_used == 5
    assert apart(bill) == {
        ("not accelerators", "USD"): (1, 0.13, 0.13), ("not matched", "USD"): (1, 7, 7), ("tax", "USD"): (1, 2, 2),
        ("credit", "USD"): (0, -1.5, -1.5),
    }  # fmt: skip
    parts = (46.94, -40, -1.5, 0.76, 30, 1.1, 0.13, 7, 2)
    assert bill.totals[0].billed == pytest.approx(math.fsum(parts))


def test_google_charges_that_name_their_machine(read, lines):
    spec = [{"key": "compute.googleapis.com/machine_spec", "value": "a3-highgpu-8g"}]
    bill = read(lines(
        google("Vertex AI training with a3-highgpu-8g in Iowa", 3, 90, system_labels=spec),
        google("Network Inter Zone Egress", 3, 1, system_labels=spec),
        google("Some new charge", 3, 2, system_labels=spec),
    ))  # fmt: skip
    (line,) = bill.lines
    assert (line.instance_type, line.hours_used, line.billed) == ("a3-highgpu-8g", 24, 90)
    assert {(each.why, each.name): each.billed for each in bill.apart} == {
        ("not accelerators", ""): 1, ("not matched", "a3-highgpu-8g: Some new charge"): 2
    }  # fmt: skip


def test_google_as_parquet_and_as_a_list_say_the_same(read, lines, tmp_path):
    import duckdb

    path = lines(google("Nvidia L4 GPU running in Iowa", 2, 1.4, credits=[{"type": "DISCOUNT", "amount": -0.4}]),
                 google("Nvidia L4 GPU running in Iowa", 1, 0.7))  # fmt: skip
    wanted = read(path).lines
    listed = tmp_path / "list.json"
    listed.write_text("[" + ",".join(path.read_text().splitlines()) + "]")
    parquet = tmp_path / "rows.parquet"
    duckdb.sql(f"COPY (SELECT * FROM read_json('{path}', format = 'newline_delimited')) TO '{parquet}'")
    assert wanted[0].billed == pytest.approx(1.7)
    assert read(listed).lines == wanted
    assert read(parquet).lines == wanted


def test_compressed_with_tabs_and_lines_above_the_header(read, table, focus, tmp_path):
    row = {"SkuPriceDetails": '{"InstanceType": "g5.xlarge"}', "ConsumedQuantity": "1", "ConsumedUnit": "Hours",
           "BilledCost": "1", "EffectiveCost": "1"}  # fmt: skip
    plain = table(focus, row, separator="\t", name="tabs.tsv")
    packed = tmp_path / "bill[1]*.csv.gz"
    packed.write_bytes(gzip.compress(b"Exported by finance\n\n" + plain.read_bytes()))
    assert read(packed).lines == read(plain).lines != ()


def test_currencies_are_never_added(read, table, focus):
    row = {"SkuPriceDetails": '{"InstanceType": "g5.xlarge"}', "ConsumedQuantity": "1", "ConsumedUnit": "Hours"}
    bill = read(table(focus, {**row, "BilledCost": "1"}, {**row, "BilledCost": "2", "BillingCurrency": "eur"}))
    assert {each.currency: (each.rows, each.billed) for each in bill.totals} == {"EUR": (1, 2), "USD": (1, 1)}
    assert {line.currency: line.billed for line in bill.lines} == {"EUR": 2, "USD": 1}


def test_negative_and_zero_rows_count(read, table, focus):
    row = {"SkuPriceDetails": '{"InstanceType": "g5.xlarge"}', "ConsumedUnit": "Hours"}
    back = {"BilledCost": "-4.024", "EffectiveCost": "-4.024", "ChargeClass": "Correction"}
    bill = read(table(
        focus, {**row, "ConsumedQuantity": "10", "BilledCost": "10.06", "EffectiveCost": "10.06"},
        {**row, "ConsumedQuantity": "-4", **back},
        {**row, "ConsumedQuantity": "0"},
    ))  # fmt: skip
    (line,) = bill.lines
    assert (line.rows, line.hours_used, line.billed) == (3, 6, pytest.approx(6.036))


def test_a_sheet_is_no_bill(tmp_path):
    path = tmp_path / "review.csv"
    path.write_text("Workload,GPUs,Hours,GPU type,Budget\ntraining,8,100,H100,1\n")
    assert not is_bill(path)
    assert not is_bill(tmp_path / "missing.csv")


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"PAR1 but not really", "Parquet"),
        (b"\x1f\x8b\x08broken", "gzip"),
        (b"PK\x03\x04", "ZIP"),
        (b"", "no row"),
        (b'{"a": 1}\n', "not those of a known billing export"),
        (b"[[[[[[", "not those of a known billing export"),
        (bytes(range(256)) * 10, "no row"),
    ],
)
def test_what_is_no_bill_is_told_in_one_line(read, tmp_path, data, words):
    path = tmp_path / "file"
    path.write_bytes(data)
    with pytest.raises(NotABill, match=words):
        read(path)
