"""How much work a row asks for, worked by hand: 1 month is 730 hours, 365/12 days."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from planner.inputs.parsed_file import ParsedFile

HOURS = "accelerator_hours_per_month"


def demand(read: Callable[..., ParsedFile], **cells: Any) -> dict[str, Any]:
    found = read([["Workload", *cells], ["W", *cells.values()]])
    assert found.complaints == ()
    return dict(found.document["workloads"][0]["demand"])


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        ({"GPU": "H100", "GPU-hours / month": "1,234.5"}, {HOURS: 1234.5, "accelerator": "H100"}),
        ({"GPU": "H100", "GPU-hours / day": "24"}, {HOURS: 730, "accelerator": "H100"}),  # 24 x 365/12
        ({"GPU": "H100", "GPU-hours (thousands) / month": "1.5"}, {HOURS: 1500, "accelerator": "H100"}),
        ({"GPU": "8x H100", "Hours / month": "500"}, {HOURS: 4000, "accelerator": "H100"}),  # 8 x 500
        ({"GPU": "H100:8", "Hours / month": "500"}, {HOURS: 4000, "accelerator": "H100"}),
        ({"GPU": "8 x A100 80GB", "Hours / month": "500"}, {HOURS: 4000, "accelerator": "A100 80GB"}),
        (
            {"GPU": "H100", "Nodes": "2", "GPUs per node": "8", "Hours per day": "12"},
            {HOURS: 5840, "accelerator": "H100"},
        ),  # 16 x 12 x 365/12
        ({"GPU": "L4", "GPUs": "2", "Hours per week": "84"}, {HOURS: 730, "accelerator": "L4"}),  # 2 x 84 x 365/84
        ({"GPU": "L4", "GPUs": "2", "Hours": "24/7"}, {HOURS: 1460, "accelerator": "L4"}),  # 2 x 730
        (
            {"GPU": "L4", "GPUs": "2", "Hours": "730", "Utilisation": "45%"},
            {HOURS: 657, "accelerator": "L4"},
        ),  # 2 x 730 x 0.45
        (
            {"GPU": "L4", "GPUs": "2", "Hours / month": "400", "% of hours": "50"},
            {HOURS: 400, "accelerator": "L4"},
        ),  # 2 x 400 x 0.5
        (
            {"GPU": "L4", "GPUs": "2", "Hours / month": "400", "GPU utilisation": "85%"},
            {HOURS: 800, "accelerator": "L4"},
        ),
        ({"GPU": "L4", "Demand": "2,000 GPU-hours"}, {HOURS: 2000, "accelerator": "L4"}),
        ({"GPU": "L4", "Demand": "2.5", "Unit": "thousand GPU-hours"}, {HOURS: 2500, "accelerator": "L4"}),
        ({"Tokens per month": "120B"}, {"units_per_month": 120e9}),
        ({"Tokens / month (B)": "1.5"}, {"units_per_month": 1.5e9}),
        ({"Work / month": "1.5 million images"}, {"units_per_month": 1.5e6}),
        ({"Samples per day": "12"}, {"units_per_month": 365}),  # 12 x 365/12
        ({"Demand": "20B", "Unit": "tokens/month"}, {"units_per_month": 20e9}),
        ({"Total tokens": "2T", "Deadline (month)": "6"}, {"total_units": 2e12, "deadline_month": 6}),
        ({"Demand": "600B tokens", "Due (plan month)": "3"}, {"total_units": 600e9, "deadline_month": 3}),
        ({"Total tokens": "1B", "Deadline": "2027-03-31"}, {"total_units": 1e9, "deadline_month": "2027-03"}),
        ({"Total tokens": "1B", "Deadline": "2027-03-15"}, {"total_units": 1e9, "deadline_month": "2027-02"}),
        ({"Total tokens": "1B", "Deadline": "2027-01-15"}, {"total_units": 1e9, "deadline_month": "2026-12"}),
        ({"Total tokens": "1B", "Deadline": "Mar-27"}, {"total_units": 1e9, "deadline_month": "2027-03"}),
        (
            {"Requests per second": "35", "Daily shape": "business hours"},
            {"requests_per_second": 35, "daily_shape": "business_hours"},
        ),
        ({"Requests per minute": "120"}, {"requests_per_second": 2}),
        ({"Demand": "35", "Unit": "req/s", "Pattern": "24/7"}, {"requests_per_second": 35, "daily_shape": "flat"}),
        ({"RPS": "35", "Tokens per request": "250"}, {"requests_per_second": 35, "units_per_request": 250}),
        ({"RPS": "35", "Growth / month": "3%"}, {"requests_per_second": 35, "growth_per_month": 0.03}),
        (
            {"RPS": "35", "Growth (% per year)": "21%"},
            {"requests_per_second": 35, "growth_per_month": 1.21 ** (1 / 12) - 1},
        ),
        (
            {"GPU": "H100", "Unit": "GPU-hours", "Dec-26": "100", "Jan-27": "-"},
            {HOURS: {"2026-12": 100, "2027-01": 0}, "accelerator": "H100"},
        ),
        (
            {"Unit": "B tokens", "2026-12": "1", "2027-01": "2.5"},
            {"units_per_month": {"2026-12": 1e9, "2027-01": 2.5e9}},
        ),
        (
            {"GPU": "H100", "Hours / month": "700", "Unit": "GPUs", "12/2026": "8", "01/2027": "16"},
            {HOURS: {"2026-12": 5600, "2027-01": 11200}, "accelerator": "H100"},
        ),
        (
            {"GPU": "H100", "GPU-hours / month": "", "Month 1": "10", "Month 2": "20"},
            {HOURS: [10, 20], "accelerator": "H100"},
        ),
    ],
)
def test_demand(read_texts: Callable[..., ParsedFile], cells: dict[str, str], expected: dict[str, Any]) -> None:
    found = demand(read_texts, **cells)
    assert found.keys() == expected.keys()
    for key, value in expected.items():
        assert found[key] == (pytest.approx(value) if not isinstance(value, str) else value)


def test_the_heading_above_month_columns_says_what_they_count(read_rows: Callable[..., ParsedFile]) -> None:
    found = read_rows(
        [["Review"], ["", "", "GPU-hours", ""], ["Workload", "GPU", "Dec-26", "Jan-27"], ["W", "H100", 5, 6]]
    )
    assert found.document["workloads"][0]["demand"] == {HOURS: {"2026-12": 5, "2027-01": 6}, "accelerator": "H100"}
    assert found.places[f"workloads[0].demand.{HOURS}.2027-01"] == "Plan!D4"


def test_month_columns_extend_the_single_value_beside_them(read_rows: Callable[..., ParsedFile]) -> None:
    found = read_rows([["Workload", "GPU", "GPU-hours / month", "Dec-26"], ["W", "H100", 5, 6], ["V", "H100", 7, ""]])
    assert [w["demand"][HOURS] for w in found.document["workloads"]] == [{"2026-12": 6}, 7]
    assert "Plan!C2 is not used: the month columns of its row state the same demand" in found.inputs.notes


def test_gpu_hours_that_agree_with_gpus_times_hours_are_one_demand(read_rows: Callable[..., ParsedFile]) -> None:
    header = ["Workload", "GPU", "GPUs", "Hours / month", "GPU-hours / month"]
    assert read_rows([header, ["W", "H100", 8, 500, 4000]]).complaints == ()
    found = read_rows([header, ["W", "H100", 8, 500, 4500]])
    assert [(c.place, c.message) for c in found.complaints] == [
        ("Plan!E2", "4,500 GPU-hours, but Plan!C2 x Plan!D2 is 4,000")
    ]


def test_measured_throughput_for_each_gpu_or_for_the_job(read_texts: Callable[..., ParsedFile]) -> None:
    header = ["Workload", "Type", "GPU", "GPUs", "Tokens / month", "Measured tokens/s", "Per", "Precision"]
    found = read_texts(
        [
            header,
            ["A", "training", "H100", "8", "120B", "10,643", "GPU", "BF16"],
            ["B", "batch", "H100", "8", "1B", "85144", "whole job", ""],
        ]
    )
    first, second = (w["measurements"][0] for w in found.document["workloads"])
    assert (first["count"], first["units_per_second"], first["per"], first["precision"]) == (8, 10643, "device", "bf16")
    assert (second["count"], second["units_per_second"], second["per"]) == (8, 85144, "job")
    assert first["source"] == "review.csv line 2 column 6"
    assert [w.get("gang") for w in found.document["workloads"]] == [8, None]  # a training job holds its GPUs together
    assert [w["unit"] for w in found.document["workloads"]] == ["tokens", "tokens"]


@pytest.mark.parametrize(
    ("header", "cell", "key", "value", "per"),
    [
        ("Tokens/s per GPU", "3.1k", "units_per_second", 3100, "device"),
        ("Throughput", "5,200.5 tok/s/GPU", "units_per_second", 5200.5, "device"),
        ("Throughput (whole job)", "120 samples/min", "units_per_second", 2, "job"),
        ("Images per hour (per GPU)", "7200", "units_per_hour", 7200, "device"),
        ("Total tokens/s", "85144", "units_per_second", 85144, "job"),
    ],
)
def test_rates(read_texts: Callable[..., ParsedFile], header: str, cell: str, key: str, value: float, per: str) -> None:
    found = read_texts([["Workload", "GPU", "GPUs", "GPU-hours / month", header], ["W", "H100", "8", "100", cell]])
    assert found.complaints == ()
    measured = found.document["workloads"][0]["measurements"][0]
    assert (measured[key], measured["per"]) == (pytest.approx(value), per)


def test_one_gpu_needs_no_per(read_texts: Callable[..., ParsedFile]) -> None:
    found = read_texts([["Workload", "GPU", "GPUs", "GPU-hours / month", "Tokens/s"], ["W", "H100", "1", "100", "900"]])
    assert found.complaints == ()


def test_measured_gpu_hours_keep_hours_and_measurement(read_texts: Callable[..., ParsedFile]) -> None:
    found = read_texts(
        [["Workload", "GPU", "GPUs", "GPU-hours / month", "Tokens/s per GPU"], ["W", "H100", "8", "100", "900"]]
    )
    workload = found.document["workloads"][0]
    assert workload["demand"] == {HOURS: 100, "accelerator": "H100"}
    assert workload["unit"] == "tokens"
    assert (
        "GPU-hours with a measured throughput are compared on other accelerators by the work they do"
        in found.inputs.notes
    )


def test_the_other_fields(read_texts: Callable[..., ParsedFile]) -> None:
    cells = {
        "Workload": "W",
        "Team": "Search",
        "Type": "Fine-tuning",
        "GPU": "H100",
        "GPUs": "8",
        "GPU-hours / month": "100",
        "Region": "us-east-1, eu-west-1",
        "Cloud": "AWS",
        "Data location": "EU / US",
        "Spot OK?": "x",
        "Checkpoint (min)": "15",
        "Restart (s)": "90",
        "Memory per GPU (GB)": "80",
        "Storage (TB)": "2.5",
        "Egress (GB / month)": "1,200",
        "Budget (USD / year)": "$120,000",
        "On-prem allowed": "no",
        "Substitution allowed": "yes",
        "Allowed GPUs": "H100, A100 80GB",
        "Notes": "=1+1 stays text",
    }
    found = read_texts([list(cells), list(cells.values())])
    assert found.complaints == ()
    workload = found.document["workloads"][0]
    assert workload.pop("memory_gib_per_accelerator") == pytest.approx(80e9 / 2**30)  # GB is decimal, GiB is not
    assert workload == {
        "name": "W",
        "team": "Search",
        "kind": "training",
        "demand": {HOURS: 100, "accelerator": "H100"},
        "gang": 8,
        "regions": ["us-east-1", "eu-west-1"],
        "providers": ["AWS"],
        "residency": ["EU", "US"],
        "interruptible": True,
        "checkpoint_minutes": 15,
        "restart_minutes": 1.5,
        "storage_gb": 2500,
        "egress_gb_per_month": 1200,
        "budget_per_month": 10000,
        "may_be_owned": False,
        "substitution": True,
        "accelerators": ["H100", "A100 80GB"],
        "notes": "=1+1 stays text",
    }


def test_a_kind_is_never_guessed_from_a_name(read_texts: Callable[..., ParsedFile]) -> None:
    found = read_texts(
        [["Workload", "GPU", "GPU-hours / month", "RPS"], ["Training of X", "H100", "5", ""], ["Chat", "", "", "5"]]
    )
    assert [w["kind"] for w in found.document["workloads"]] == ["batch", "inference"]
    assert "a workload without a kind is batch" in found.inputs.notes


def test_percentages_follow_their_column(read_texts: Callable[..., ParsedFile]) -> None:
    header = ["Workload", "GPU", "GPUs", "Hours", "Utilisation"]
    found = read_texts([header, ["A", "L4", "1", "24/7", "60"], ["B", "L4", "1", "24/7", "45%"]])
    assert [w["demand"][HOURS] for w in found.document["workloads"]] == [
        pytest.approx(438),
        pytest.approx(328.5),
    ]  # 730 x 0.60, 730 x 0.45


def test_every_value_has_its_place_and_reading(read_rows: Callable[..., ParsedFile]) -> None:
    found = read_rows([["Workload", "GPU", "GPUs", "Hours / month"], ["W", "H100", 8, 500]])
    path = f"workloads[0].demand.{HOURS}"
    assert [(r.place, r.read, r.value) for r in found.inputs.readings if r.path == path] == [
        ("Plan!C2", "8", "8 accelerators"),
        ("Plan!D2", "500", "500 hours per month"),
    ]
    assert found.places[path] == "Plan!D2"
    assert found.places["workloads[0]"] == "Plan!A2"
