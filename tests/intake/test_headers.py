"""Headers matched by meaning, and found wherever they stand."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.inputs.notation.units import normalize_text
from planner.inputs.parsed_file import ParsedFile
from planner.inputs.spreadsheet.column_meanings import match_meaning

MEANINGS = {
    "name": ["Workload", "Job", "Job name", "Project", "Service", "Name", "Use case", "Workload name"],
    "team": ["Team", "Owner", "Cost centre", "Cost center", "Department", "Requester", "Requested by", "Business unit"],
    "kind": ["Kind", "Type", "Workload type", "Category"],
    "accelerator": ["GPU", "GPU type", "Accelerator", "Accelerator type", "TPU", "Chip", "GPU model", "GPU/TPU"],
    "gpus": ["GPUs", "# GPUs", "GPU count", "No. of GPUs", "Number of accelerators", "Accelerators", "Qty", "GPU qty"],
    "nodes": ["Nodes", "# nodes", "Servers"],
    "accelerators_per_node": ["GPUs per node", "GPUs/node"],
    "gang": ["GPUs per job", "GPUs per replica"],
    "hours": ["Hours", "hrs", "Hours / month", "Hours per day", "Runtime (hours)"],
    "accelerator_hours": ["GPU-hours", "GPU hours / month", "GPU hrs", "Accelerator-hours per day", "TPU hours"],
    "utilisation": ["Utilisation", "Utilization %", "GPU util", "% of hours", "Duty cycle"],
    "throughput": [
        "Tokens/s (per GPU)",
        "Samples per second",
        "Images/sec",
        "Throughput",
        "Measured requests/s",
        "Requests/s per GPU",
        "Steps/s",
    ],
    "requests_per_second": [
        "Requests per second",
        "RPS",
        "QPS",
        "Requests / s (mean)",
        "Queries per second",
        "Traffic",
    ],
    "daily_shape": ["Daily shape", "Traffic pattern", "Load profile"],
    "units_per_request": ["Tokens per request"],
    "units_per_month": [
        "Tokens per month",
        "Tokens / month (B)",
        "Samples/month",
        "Work / month",
        "Monthly tokens",
        "Images per day",
    ],
    "total_units": ["Total tokens", "Total work", "Tokens (B)", "Training tokens"],
    "deadline": ["Deadline", "Deadline (month)", "Due", "Needed by"],
    "amount": ["Demand", "Usage", "Forecast"],
    "unit": ["Unit", "Metric", "Unit of work"],
    "per": ["Per", "Basis"],
    "region": ["Region", "Location", "Preferred region"],
    "provider": ["Provider", "Cloud", "CSP"],
    "residency": ["Data location", "Residency", "Data residency"],
    "interruptible": ["Interruptible?", "Spot OK", "Preemptible"],
    "checkpoint_minutes": ["Checkpoint (min)", "Checkpoint every (minutes)"],
    "restart_minutes": ["Restart (min)"],
    "memory": ["GPU memory (GB)", "Memory per GPU (GiB)", "VRAM"],
    "storage": ["Storage (TB)", "Dataset size (GB)"],
    "egress": ["Egress GB/mo", "Outbound (GB / month)"],
    "budget": ["Budget (USD/month)", "Max spend", "Cost cap"],
    "growth": ["Growth %/month", "MoM growth"],
    "may_be_owned": ["May be owned", "On-prem allowed", "On prem OK?"],
    "substitution": ["Substitution allowed", "Other GPU OK?"],
    "accelerators": ["Allowed GPUs", "Approved accelerators"],
    "precision": ["Precision"],
    "notes": ["Notes", "Comments", "Description"],
    "": ["Priority", "Status", "Estimated monthly cost", "Colour", "Hourly rate", "Approved?"],
}


@pytest.mark.parametrize(
    ("meaning", "header"), [(meaning, header) for meaning, headers in MEANINGS.items() for header in headers]
)
def test_a_header_is_matched_by_meaning(meaning: str, header: str) -> None:
    assert match_meaning(normalize_text(header)) == meaning
    assert match_meaning(normalize_text(header.upper())) == meaning


TABLE = [
    ["Workload", "Team", "GPU", "GPUs", "Hours / month", "Notes"],
    ["Train", "A", "H100", 8, 500, "weekly"],
    ["Serve", "B", "L4", 2, 730, ""],
]


@settings(max_examples=settings.default.max_examples // 2)
@given(
    titles=st.lists(
        st.sampled_from(["GPU capacity review", "FY27", "", "All figures per month", "Owner: finance", "2026-11-20"]),
        max_size=6,
    ),
    indent=st.integers(0, 4),
    order=st.permutations(range(6)),
    gap=st.integers(0, 2),
)
def test_the_table_is_found_wherever_it_stands(
    read_texts: Callable[..., ParsedFile], titles: list[str], indent: int, order: list[int], gap: int
) -> None:
    table = [[""] * indent + [str(row[column]) for column in order for _ in (0,)] for row in TABLE]
    rows = [[title] for title in titles] + [[""]] * gap + table
    found = read_texts(rows)
    assert found.complaints == ()
    assert found.document["workloads"] == [
        {
            "name": "Train",
            "team": "A",
            "notes": "weekly",
            "kind": "batch",
            "demand": {"accelerator_hours_per_month": 4000.0, "accelerator": "H100"},
        },
        {
            "name": "Serve",
            "team": "B",
            "kind": "batch",
            "demand": {"accelerator_hours_per_month": 1460.0, "accelerator": "L4"},
        },
    ]
    line = len(titles) + gap + 2
    assert found.places["workloads[0].team"] == f"line {line} column {indent + order.index(1) + 1}"


def test_unused_and_doubled_columns_are_named(read_rows: Callable[..., ParsedFile]) -> None:
    found = read_rows(
        [["Workload", "Project", "GPU", "GPU-hours / month", "Priority"], ["Train", "Apollo", "H100", 100, "P1"]]
    )
    assert found.document["workloads"][0]["name"] == "Train"
    assert found.inputs.notes[-2:] == (
        "column 'Project' (Plan!B1) is not used",
        "column 'Priority' (Plan!E1) is not used",
    )


def test_two_columns_of_one_number_are_a_complaint(read_rows: Callable[..., ParsedFile]) -> None:
    found = read_rows([["Workload", "GPU", "GPU-hours / month", "GPU hours per day"], ["Train", "H100", 100, 3]])
    assert [(c.place, c.message) for c in found.complaints] == [
        ("Plan!D1", "means the same as 'GPU-hours / month' in Plan!C1")
    ]


def test_months_without_a_year_are_a_complaint(read_rows: Callable[..., ParsedFile]) -> None:
    found = read_rows([["Workload", "GPU", "GPU-hours / month", "Dec", "Q1 2027"], ["Train", "H100", 5, 100, 200]])
    assert [(c.place, c.message) for c in found.complaints] == [
        ("Plan!D1", "not a single month with its year"),
        ("Plan!E1", "not a single month with its year"),
    ]
