"""Exports that people try: price calculators and bills. They hold no workloads, and the answer says so."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from planner.inputs.file_reader import read
from planner.inputs.parsed_file import ParsedFile

AWS = b"""\xef\xbb\xbfEstimate summary
Upfront cost,Monthly cost,Total 12 months cost,Currency
0,120.5,1446,USD
,,* Includes upfront cost


Detailed Estimate
Group hierarchy,Region,Description,Service,Upfront,Monthly,First 12 months total,Currency,Status,Configuration summary
My Estimate,US East (Ohio),,Amazon EC2 ,0,120.5,1446,USD,,"Number of instances: 1, Advance EC2 instance (m5.xlarge)"


Acknowledgement
"* This is an estimate, not a quote."
"""
AZURE = [
    ["Microsoft Azure Estimate"],
    ["Our estimate"],
    [
        "Service category",
        "Service type",
        "Custom name",
        "Region",
        "Description",
        "Estimated monthly cost",
        "Estimated upfront cost",
    ],
    ["Compute", "Virtual Machines", "", "East US", "1 D24ads v5 (24 vCPUs) x 730 Hours", 2681.29, 0],
    ["Support", "", "", "Support", "", 0, 0],
    ["", "", "", "Total", "", 2681.29, 0],
    ["Disclaimer"],
]
FOCUS = b"BilledCost,ChargePeriodStart,ServiceName,RegionId\n1.5,2026-09-01 00:00:00,Amazon EC2,us-east-1\n"


def test_calculators_and_bills_get_a_clear_answer(read_rows: Callable[..., ParsedFile]) -> None:
    found = {
        "AWS price-calculator": read(AWS, "My Estimate (1).csv"),
        "Azure price-calculator": read_rows(AZURE),
        "FOCUS billing": read(FOCUS, "focus.csv"),
    }
    for known, answer in found.items():
        (complaint,) = answer.complaints
        assert known in complaint.message
        if known == "FOCUS billing":
            continue
        assert "in which no line has an accelerator" in complaint.message
        assert "a line with machines such as" in complaint.expected
    assert found["AWS price-calculator"].complaints[0].place == "line 8"
    assert found["Azure price-calculator"].complaints[0].place == "Plan!3"


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_values_beside_their_labels_are_no_table(as_csv: Callable[..., bytes], separator: str) -> None:
    rows = [
        [1.28, "hours per episode"],
        [4.3, "weeks per month"],
        ["", ""],
        ["service", "free hours", "rate", "total per month"],
        ["X", 0, 6.0, 66.048],
    ]
    (complaint,) = read(as_csv(rows, separator=separator), "rates.csv").complaints
    assert complaint.place == "line 4"
