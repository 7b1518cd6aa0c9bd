"""Exports of price calculators: recorded ones, and lines with accelerators made up in the layouts of those."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.inputs.calculators.aws import parse_machines as aws_machines
from planner.inputs.calculators.azure import parse_machines as azure_machines
from planner.inputs.file_reader import read
from planner.inputs.parsed_file import CalculatorEstimate, ParsedFile
from planner.inputs.sheet_options import SheetOptions
from planner.inputs.spend_comparison import estimated_cost
from planner.request.models import parse_request

RECORDED = Path(__file__).parent / "recorded"
AWS_HEADER = ["Group hierarchy", "Region", "Description", "Service", "Upfront", "Monthly", "First 12 months total"]
AWS_HEADER += ["Currency", "Status", "Configuration summary"]
OHIO = "US East (Ohio)"
ON_DEMAND = (
    "Tenancy (Shared Instances), Operating system (Linux), Workload (Consistent, Number of instances: 3), Advance EC2 "
    "instance (g5.12xlarge), Pricing strategy (On-Demand Utilization: 50 %Utilized/Month), EBS Storage amount (20 GB), "
    "DT Inbound: Not selected (0 TB per month), DT Outbound: Internet (2 TB per month)"
)
COMMITTED = (
    "Operating system (Linux), Quantity (2), Pricing strategy (EC2 Instance Savings Plans 3 Year Partial Upfront), "
)
DAILY = (
    "Workload (Daily, (Workload days: Monday, Tuesday, Wednesday, Thursday, Friday, Baseline: 1, Peak: 2, "
    "Duration of peak: 8 Hr 30 Min)), Advance EC2 instance (g5.xlarge), Pricing strategy (On-Demand)"
)
WEEKLY = (
    "Workload (Weekly, Baseline: 4, Peak: 6, Duration of peak: 3 Days), Advance EC2 instance (g5.xlarge), "
    "Pricing strategy (Compute Savings Plans 3 Year All upfront)"
)
NOTEBOOKS = (
    "Instance name (ml.g4dn.xlarge), Number of data scientist(s) (2), Number of On-Demand notebook instances per data "
    "scientist (1), On-Demand Notebook hour(s) per day (8), On-Demand Notebook day(s) per month (22)"
)
ENDPOINT = (
    "Storage (General Purpose SSD (gp2)), Instance name (ml.g5.2xlarge), Number of models deployed (5), Number of "
    "models per endpoint (5), Number of instances per endpoint (2), Endpoint hour(s) per day (3), Endpoint day(s) per "
    "month (10), Storage amount (240 GB per month)"
)
PROCESSING = (
    "Storage (General Purpose SSD (gp2)), Instance name (ml.g4dn.2xlarge), Number of processing jobs per month (20), "
    "Number of instances per job (2), Hour(s) per instance per job (2)"
)
QUICK = "Linux (x), {} (2), Pricing strategy (On-Demand Instances), Storage amount (40 GB), {} (g4dn.xlarge)"
CLUSTER = (
    "Number of master EMR nodes (1), EC2 instance ({}), Utilization (100 %Utilized/Month), Number of core EMR nodes "
    "({}), EC2 instance ({}), Utilization ({} %Utilized/Month)"
)
AZURE_HEADER = ["Service category", "Service type", "Custom name", "Region", "Description", "Estimated monthly cost"]
A100 = "2 NC24ads A100 v4 (24 vCPUs, 220 GB RAM) x 730 Hours ({}), Linux,  (Pay as you go); 2 managed disks – E4"


def aws(*lines: list[Any], monthly: float) -> bytes:
    """An export with these lines; the total is as told."""
    rows = [
        ["Estimate summary"],
        ["Upfront cost", "Monthly cost", "Total 12 months cost", "Currency"],
        [0, monthly, 12 * monthly, "USD"],
        ["", "", "* Includes upfront cost"],
        [],
        ["Detailed Estimate"],
        AWS_HEADER,
        *lines,
        [],
        ["Acknowledgement"],
        ["* AWS Pricing Calculator provides only an estimate"],
    ]
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    return text.getvalue().encode("utf-8-sig")


def line(
    service: str, monthly: float, text: str, *, name: str = "", upfront: float = 0, region: str = "US East (Ohio)"
):
    return ["My Estimate", region, name, service, upfront, monthly, 12 * monthly + upfront, "USD", "", text]


def azure(*lines: list[Any], total: float, currency: str = "Euro Zone – Euro (€) EUR") -> list[list[Any]]:
    return [
        ["Microsoft Azure Estimate"],
        ["Mijn schatting"],
        [*AZURE_HEADER, "Estimated upfront cost"],
        *lines,
        ["Support", "", "", "Support", "", 0, 0],
        ["", "", "", "Licensing Program", "Microsoft Customer Agreement (MCA)"],
        ["", "", "", "Total", "", total, 0],
        [],
        ["Disclaimer"],
        [f"All prices shown are in {currency}. This is a summary estimate, not a quote."],
        ["This estimate was created at 6/20/2026 12:21:45 PM UTC."],
    ]


def accounts(found: ParsedFile) -> tuple[int, int, int]:
    inputs = found.inputs
    assert inputs.rows_in == inputs.rows_used + len(inputs.rows_refused)
    return inputs.rows_in, inputs.rows_used, len(inputs.rows_refused)


@pytest.mark.parametrize(
    ("name", "rows", "read_there"),
    [
        # 17.184 is the one line
        (
            "aws-calculator-padded-rows.csv",
            (3, 0, 3),
            "1 line without accelerators, 17.18 USD a month",
        ),
        # 39.79 + 32.1925 + 266.82 = 338.8025
        ("aws-calculator-ragged-bom.csv", (5, 0, 5), "3 lines without accelerators, 338.80 USD a month"),
        # 130.36 + 2.224 + 32 = 164.584; Support costs nothing and is no line
        (
            "azure-calculator-2026-usd-renamed-sheet.xlsx",
            (11, 0, 11),
            "3 lines without accelerators, 164.58 USD a month",
        ),
    ],
)
def test_a_recorded_estimate_without_accelerators_is_told_in_full(
    name: str, rows: tuple[int, int, int], read_there: str
) -> None:
    found = read((RECORDED / name).read_bytes(), name)
    (complaint,) = found.complaints
    assert "in which no line has an accelerator" in complaint.message
    assert complaint.value.startswith(read_there)
    assert accounts(found) == rows
    assert not [note for note in found.inputs.notes if "the total reads" in note]


def test_a_hand_made_sheet_of_rates_is_no_plan() -> None:
    name = "hand-made-unit-rates-formulas.xlsx"
    (complaint,) = read((RECORDED / name).read_bytes(), name).complaints
    assert complaint.place == "Sheet1!6"


def test_an_aws_estimate_becomes_demand() -> None:
    found = read(
        aws(
            line("Amazon EC2 ", 6206.5, ON_DEMAND, name="Serving"),
            line("Amazon EC2 ", 1000, COMMITTED + "Instance type (g5.xlarge)", upfront=36000, region="EU (Frankfurt)"),
            line("Amazon RDS for MySQL", 266.82, "Instance type (db.m6g.large), Quantity (1)"),
            monthly=7473.32,
        ),
        "My Estimate.csv",
    )
    assert found.complaints == ()
    serving, other = found.document["workloads"]
    # 3 machines x 730 h x 50 % x 4 A10G = 4,380 accelerator-hours; 2 TB out a month
    assert serving["demand"] == {"accelerator_hours_per_month": 4380, "accelerator": "A10G-24GB"}
    assert (serving["name"], serving["regions"], serving["gang"]) == ("Serving", ["us-east-2"], 4)
    assert serving["egress_gb_per_month"] == 2000
    # 2 x 730 h x 1 A10G, committed: around the clock; the older title of the region is known by its city
    assert other["demand"]["accelerator_hours_per_month"] == 1460
    assert (other["name"], other["regions"]) == ("g5.xlarge", ["eu-central-1"])
    assert "EC2 Instance Savings Plans 3 Year Partial Upfront" in other["notes"]
    assert accounts(found) == (5, 2, 3)
    (estimated,) = found.estimated
    assert (estimated.per_month, estimated.upfront, estimated.apart_per_month) == (7206.5, ((36000.0, 36),), 266.82)
    assert found.places["workloads[0].demand.accelerator"].startswith("line 8 column 10")
    parse_request({"as_of": "2026-11-21", **found.document}, found.complaints, found.places)


def test_regions_may_be_let_go() -> None:
    data = aws(line("Amazon EC2 ", 1, ON_DEMAND), monthly=1)
    (workload,) = read(data, "x.csv", SheetOptions({"region": "ignore"})).document["workloads"]
    assert "regions" not in workload
    assert "providers" not in workload


def test_an_azure_estimate_becomes_demand(read_rows: Callable[..., ParsedFile]) -> None:
    texts = [
        ["Compute", "Virtual Machines", "Training", "West Europe", A100.format("3 year reserved"), 4800.5, 0],
        [
            "Compute",
            "Virtual Machines",
            "",
            "West Europe",
            "1 NC4as T4 v3 x 220 Uren (Spot), Windows",
            42.1,
            0,
        ],
        ["Stockage", "Storage Accounts", "", "West Europe", "Block Blob", 22.24, 0],
    ]
    found = read_rows(azure(*texts, total=4864.84))
    assert found.complaints == ()
    reserved, spot = found.document["workloads"]
    assert reserved["demand"] == {"accelerator_hours_per_month": 1460, "accelerator": "A100-80GB-PCIe"}
    assert spot["demand"] == {"accelerator_hours_per_month": 220, "accelerator": "T4-16GB"}
    assert spot["interruptible"] is True
    assert reserved["regions"] == ["westeurope"]
    (estimated,) = found.estimated
    assert (estimated.currency, round(estimated.per_month, 2)) == ("EUR", 4842.6)  # 4,800.50 + 42.10
    assert "Plan!E5 estimates Windows: licences are not part of the plan" in found.inputs.notes
    assert not [note for note in found.inputs.notes if "the total reads" in note]
    assert accounts(found) == (9, 2, 7)


def test_the_oldest_azure_layout_with_two_totals(read_rows: Callable[..., ParsedFile]) -> None:
    found = read_rows(
        [
            ["Microsoft Azure Estimate"],
            ["Your Estimate"],
            ["Service type", "Custom name", "Region", "Description", "Estimated Cost"],
            ["Virtual Machines", "", "West US 2", "1 NC6s v3 (6 vCPU(s), 112 GB RAM) x 730 Hours", "$2,233.80"],
            ["Support", "", "", "Support", "$0.00"],
            ["", "", "Monthly Total", "", "$2,233.80"],
            ["", "", "Annual Total", "", "$26,805.60"],
            ["Disclaimer"],
        ]
    )
    assert found.complaints == ()
    assert found.document["workloads"][0]["demand"]["accelerator"] == "V100-16GB-PCIe"
    assert found.estimated[0].currency == "USD"
    assert not [note for note in found.inputs.notes if "the total reads" in note]


def test_a_wrong_total_is_a_warning_with_both_figures() -> None:
    found = read(aws(line("Amazon EC2 ", 100.25, ON_DEMAND), monthly=120), "x.csv")
    assert "line 3 column 2: the total reads 120, but the lines add up to 100.25" in found.inputs.notes


def test_machines_that_cannot_be_planned_are_faults() -> None:
    unknown = ON_DEMAND.replace("g5.12xlarge", "p9.48xlarge")
    untold = "Workload (Consistent, Number of instances: 3), Advance EC2 instance (g5.xlarge)"
    found = read(aws(line("Amazon EC2 ", 1, unknown), line("Amazon EC2 ", 1, untold), monthly=2), "x.csv")
    first, second = found.complaints
    assert first.message == "no known machine with accelerators is called p9.48xlarge"
    assert "p5.48xlarge" in first.expected
    assert second.message == "machines of type g5.xlarge: unknown hours (3, unknown hours)"
    assert (first.place, second.place) == ("line 8 column 10", "line 9 column 10")


@pytest.mark.parametrize(
    ("text", "hours"),
    [
        # 1 x 730 + 1 more x 8.5 h x 5 days x 730/168 weeks
        (DAILY, 730 + 8.5 * 5 * 730 / 168),
        # 4 x 730 + 2 more x 72 h x 730/168 weeks
        (WEEKLY, 4 * 730 + 2 * 72 * 730 / 168),
        # 4 x 10 h a day x 730/24 days
        (
            "Instance type (p3.2xlarge), Number of instances (4), Utilization (On-Demand only) (10 Hours/Day)",
            40 * 730 / 24,
        ),
        # 2 people x 1 notebook x 8 h x 22 days
        (NOTEBOOKS, 2 * 8 * 22),
        # 5 models of which an endpoint holds 5: 2 machines x 3 h x 10 days
        (ENDPOINT, 5 / 5 * 2 * 3 * 10),
        # 20 jobs x 2 machines x 2 h
        (PROCESSING, 20 * 2 * 2),
        # the older quick estimate asks for no hours: 2 x 730
        (QUICK.format("Quantity", "Instance type"), 2 * 730),
        # the same in Portuguese, as exported in that language of the page
        (QUICK.format("Quantidade", "Tipo de instância"), 2 * 730),
        ("Cantidad (4), Pricing strategy (EC2 Instance Savings Plans 1 Year No UpFront), Tipo (g5.xlarge)", 4 * 730),
        # 30 core nodes at half of the time, beside one master without accelerators
        (CLUSTER.format("m5.xlarge", 30, "g5.2xlarge", 50), 30 * 365),
    ],
)
def test_hours_of_an_aws_line(text: str, hours: float) -> None:
    (found,) = aws_machines(text)
    assert found.hours == pytest.approx(hours)


def test_every_kind_of_node_of_a_cluster_has_its_own_number() -> None:
    master, core = aws_machines(CLUSTER.format("g5.xlarge", 2, "p3.2xlarge", 25))
    # 1 x 730 and 2 x a quarter of 730
    assert (master.instance_type, master.hours, core.instance_type, core.hours) == ("g5.xlarge", 730, "p3.2xlarge", 365)
    (left,) = aws_machines("Nodes (3), Instance type (g5.xlarge), Nodes (0), Instance type (p3.2xlarge)")
    assert (left.instance_type, left.how) == ("g5.xlarge", "3, unknown hours")


@pytest.mark.parametrize(
    ("text", "how"),
    [
        # a label of a language that is not known: never one machine by default
        ("Määrä (3), Pricing strategy (On-Demand Instances), Tyyppi (g5.xlarge)", "unknown number"),
        ("( 3 instances of type g5.xlarge OnDemand )", "unknown number"),
        ("Instance name (ml.g5.xlarge), Instance name (ml.p3.2xlarge), Hour(s) per job (2)", ""),
    ],
)
def test_what_an_aws_line_does_not_tell_is_not_guessed(text: str, how: str) -> None:
    first = aws_machines(text)[0]
    assert (first.hours, first.how) == (None, how)


def test_disks_that_a_line_names_stand_in_the_note() -> None:
    found = read(aws(line("Amazon EC2 ", 6206.5, ON_DEMAND), line("SageMaker", 276, ENDPOINT), monthly=6482.5), "x.csv")
    (note,) = [note for note in found.inputs.notes if "with accelerators cost" in note]
    assert "of each machine or of the line: 20 GB in line 8, 240 GB in line 9; for comparison: 0.08 USD" in note


@pytest.mark.parametrize(
    ("text", "hours", "term"),
    [
        ("1 NC24ads A100 v4 (24 vCPU's, 220 GB RAM) x 168 Uren (Betalen per gebruik), Linux", 168, None),
        ("2 NC24ads A100 v4 (24 processeurs virtuels, 220 Go de RAM) x 10 Jours (Paiement à l’utilisation)", 480, None),
        ("1 NC24ads A100 v4 (24 vCPU:er, 220 GB RAM) x 730 Timmar (Betala per användning), Linux", 730, None),
        ("1 NC64as T4 v3 (64 vCPUs, 440 GB de RAM) (3 anos reservado), Linux", 730, 36),
        ("1 ND96amsr A100 v4 (96 vCPU, 1900 GB de RAM) (Reserva de 3 años), Linux", 730, 36),
        ("1 NC4as T4 v3 (4 vCPU's, 28 GB RAM) (1 jaar gereserveerd), Linux", 730, 12),
        ("1 NC24ads A100 v4 (24 vCPUs, 220 GB RAM) (3 Jahre reserviert), Linux", 730, 36),
    ],
)
def test_hours_of_an_azure_line_in_its_languages(text: str, hours: float, term: int | None) -> None:
    (found,) = azure_machines(text)
    assert (found.hours, found.term_months) == (hours, term)


@pytest.mark.parametrize(
    ("said", "currency", "told"),
    [
        ("Zone euro – Euro (€) EUR", "EUR", "EUR"),
        ("Schweiz – Franken. (CHF)", "CHF", "CHF"),
        ("the usual money", "", "(unknown currency)"),
    ],
)
def test_the_currency_of_an_azure_estimate(
    read_rows: Callable[..., ParsedFile], said: str, currency: str, told: str
) -> None:
    row = ["Compute", "Virtual Machines", "", "West Europe", A100.format("Pay as you go"), 4800.5, 0]
    found = read_rows(azure(row, total=4800.5, currency=said))
    assert found.estimated[0].currency == currency
    assert any(f"4,800.50 {told} a month in the estimate" in note for note in found.inputs.notes)


def test_a_line_without_accelerators_has_no_machines() -> None:
    assert aws_machines("Instance type (db.g5.large), Storage amount (1 GB)") == ()
    assert azure_machines("2 D2as v5 (2 vCPUs, 8 GB RAM) x 730 Hours (Pay as you go), Linux") == ()


def test_an_azure_line_may_hold_several_kinds_of_machines() -> None:
    text = (
        "Standard; Cluster management for 1 clusters; 3 NC6s v3 (6 vCPUs, 112 GB RAM) x 31 Days (Pay as you go); "
        "1 ND96isr H100 v5 (96 vCPUs, 1900 GB RAM) (1 year savings plan), Linux"
    )
    first, second = azure_machines(text)
    assert (first.hours, first.option, first.term_months) == (3 * 31 * 24, "Pay as you go", None)
    assert (second.hours, second.option, second.term_months) == (730, "1 year savings plan", 12)


@given(st.text(alphabet="NC24ads A10v4xg5.large(),;:0123 Hours/%Numberofinstances", max_size=80))
def test_any_text_has_machines_or_none(text: str) -> None:
    for found in (*aws_machines(text), *azure_machines(text)):
        assert found.hours is None or found.hours >= 0


AWS_TEXT = aws(line("Amazon EC2 ", 6206.5, ON_DEMAND), line("Amazon EC2 ", 99.9, DAILY), monthly=6306.4)


@settings(max_examples=80, deadline=None)
@given(st.lists(st.tuples(st.floats(0, 1), st.integers(0, 20), st.binary(max_size=16)), min_size=1, max_size=4))
def test_a_damaged_estimate_is_answered(edits: list[tuple[float, int, bytes]]) -> None:
    data = AWS_TEXT
    for at, length, new in edits:
        start = int(at * len(data))
        data = data[:start] + new + data[start + length :]
    found = read(data, "x.csv")
    accounts(found)
    assert all(complaint.message and complaint.place for complaint in found.complaints)


def test_an_estimate_saved_again_with_decimal_commas() -> None:
    rows = [["Region", "Service", "Upfront", "Monthly", "Currency", "Configuration summary"]]
    rows += [[OHIO, "Amazon EC2", "0", "17,184", "USD", ON_DEMAND], [OHIO, "Amazon S3", "0", "1.017,5", "USD", ""]]
    text = "\n".join(";".join(f'"{cell}"' for cell in row) for row in rows)
    (estimated,) = read(text.encode(), "x.csv").estimated
    assert (estimated.per_month, estimated.apart_per_month) == (17.184, 1017.5)


def test_upfront_amounts_are_paid_again_after_their_term() -> None:
    estimated = CalculatorEstimate("", "USD", 100.0, ((1000.0, 12), (500.0, 0)), 0.0)
    # 24 months x 100 + 2 terms x 1,000 + 500 once
    assert estimated_cost(estimated, 24) == 4900
