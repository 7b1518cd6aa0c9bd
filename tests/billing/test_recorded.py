"""Real rows: which export they are, every row accounted for, and sums worked out apart from the program.

The figures were added up with Python's csv and Decimal over the raw cells, and for files without quotes again with
awk: awk -F, 'NR>1 {b+=$9; e+=$10} END {print b, e}' focus-spec-commitment_discount_purchase_scenario_3.csv
"""

from __future__ import annotations

import csv
from decimal import Decimal

import pytest

SUMS = {
    # file: (rows, the column of cash, its sum, the column of amortised cost, its sum)
    "focus-1.0-sample-300.csv": (300, "BilledCost", "6.33293570080", "EffectiveCost", "3.00000000000"),
    "aws-cur-legacy-200.csv": (200, "lineItem/UnblendedCost", "0.2409005472", "", ""),
    "azure-ea-export-27.csv": (27, "CostInBillingCurrency", "1.26136926505726", "", ""),
    "oci-cost-report-100.csv": (100, "cost/myCost", "0.373944914322038623", "", ""),
    "focus-spec-commitment_discount_purchase_scenario_1.csv": (1, "BilledCost", "8760.00", "EffectiveCost", "0.00"),
    # 3 x 1.00
    "focus-spec-commitment_discount_purchase_scenario_2.csv": (3, "BilledCost", "3.00", "EffectiveCost", "0.00"),
    # 4380.00 + 3 x 0.50
    "focus-spec-commitment_discount_purchase_scenario_3.csv": (4, "BilledCost", "4381.50", "EffectiveCost", "0.00"),
    "focus-spec-commitment_discount_usage_scenario_1.csv": (1, "BilledCost", "0.00", "EffectiveCost", "1.00"),
    "focus-spec-commitment_discount_usage_scenario_2.csv": (1, "BilledCost", "0.00", "EffectiveCost", "1.00"),
    # 0.75 + 0.25
    "focus-spec-commitment_discount_usage_scenario_3.csv": (2, "BilledCost", "0.00", "EffectiveCost", "1.00"),
    # 1.00 + 0.50
    "focus-spec-commitment_discount_usage_scenario_4.csv": (2, "BilledCost", "0.50", "EffectiveCost", "1.50"),
}
EXPORTS = {"focus": "FOCUS cost and usage", "aws": "AWS Cost and Usage Report", "azure": "Azure cost export",
           "oci": "Oracle Cloud cost report"}  # fmt: skip


def cells(path, column):
    with path.open(newline="", encoding="utf-8-sig") as file:
        return [Decimal(row[column]) for row in csv.DictReader(file)]


def test_every_recorded_file_has_its_sums(recorded):
    assert {path.name for path in recorded} == SUMS.keys()


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", SUMS)
def test_rows_and_sums_are_those_of_the_file(read, recorded, name):
    path = next(path for path in recorded if path.name == name)
    rows, billed_column, billed, effective_column, effective = SUMS[name]
    assert sum(cells(path, billed_column)) == Decimal(billed)
    assert not effective_column or sum(cells(path, effective_column)) == Decimal(effective)
    bill = read(path)
    assert bill.export == EXPORTS[name.partition("-")[0]]
    assert (bill.rows_in, bill.rows_refused) == (rows, 0)
    assert bill.rows_used + bill.rows_apart == rows
    (total,) = bill.totals
    assert total.rows == rows
    assert total.billed == pytest.approx(float(billed), abs=1e-9)
    assert total.effective == pytest.approx(float(effective or billed), abs=1e-9)


def test_the_accelerators_of_the_focus_sample(read, recorded):
    bill = read(next(path for path in recorded if path.name.startswith("focus-1.0")))
    found = {line.instance_type: line for line in bill.lines}
    # the five rows whose description names g3.4xlarge or g5.4xlarge, cell by cell:
    assert found["g3.4xlarge"].billed == 1.14
    # 0.480884264 + 1.110635736 + 1.624 + 0.492162944
    assert found["g5.4xlarge"].billed == pytest.approx(3.707682944, abs=1e-9)
    # 0.296111 + 0.683889 + 1 + 0.303056
    assert found["g5.4xlarge"].hours_used == pytest.approx(2.283056)
    assert {line.purchase_option for line in bill.lines} == {"on_demand"}
    assert any("should be equal" in note for note in bill.notes), "effective costs are whole numbers in this file"


def test_every_row_of_the_focus_sample_is_in_one_place(read, recorded):
    bill = read(next(path for path in recorded if path.name.startswith("focus-1.0")))
    # 5 rows of accelerators (1.14 + 3.707682944 = 4.847682944) + 1 + 1 + 293 = 300
    assert {each.why: (each.rows, each.billed) for each in bill.apart} == {
        "adjustment": (1, pytest.approx(0.08)), "credit": (1, pytest.approx(-2.6137)),
        "not accelerators": (293, pytest.approx(4.0189527568)),
    }  # fmt: skip
    # 4.847682944 + 0.08 - 2.6137 + 4.0189527568
    assert bill.totals[0].billed == pytest.approx(6.3329357008, abs=1e-9)


def test_tax_stands_apart_in_the_aws_report(read, recorded):
    bill = read(next(path for path in recorded if path.name.startswith("aws")))
    # 194 lines of usage come to 0.2309005472, 6 of tax to 0.01
    assert [(each.why, each.rows, each.billed) for each in bill.apart] == [
        ("not accelerators", 194, pytest.approx(0.2309005472)), ("tax", 6, pytest.approx(0.01))
    ]  # fmt: skip
    assert bill.lines == ()


def test_the_azure_export_is_in_its_own_currency_and_one_day(read, recorded):
    bill = read(next(path for path in recorded if path.name.startswith("azure")))
    assert (bill.totals[0].currency, bill.days) == ("CAD", frozenset({"2023-09-02"}))
