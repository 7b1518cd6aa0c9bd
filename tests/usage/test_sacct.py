"""What Slurm's accounting says of GPUs, by hand (sacct/expected.yaml), or why it is refused. The files are our own."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from planner.inputs.file_reader import read
from planner.inputs.measured_use import MeasuredUsage, UnreadableUse, is_measured_use, read_use
from planner.inputs.measured_use.use_summary import sum_by_hour_of_week, sum_by_month, sum_uses, sum_uses_by
from planner.inputs.sheet_options import SheetOptions, UsageProjection
from pricing.catalog.price_catalog import Catalog

moment = datetime.fromisoformat
FOLDER = Path(__file__).parent / "sacct"
EXPECTED: dict[str, Any] = yaml.safe_load((FOLDER / "expected.yaml").read_text())
CATALOG = Catalog.embedded()


def read_file(name: str, tag: str = "") -> MeasuredUsage:
    return read_use((FOLDER / name).read_bytes(), name, CATALOG, tag, {})


def test_every_file_has_its_expectation() -> None:
    assert {path.name for path in FOLDER.glob("*.txt")} == set(EXPECTED)
    assert len(EXPECTED) >= 20


@pytest.mark.parametrize("name", EXPECTED)
def test_a_file_is_read_or_refused(name: str) -> None:
    expected = EXPECTED[name]
    assert is_measured_use((FOLDER / name).read_bytes())
    if "refused" in expected:
        with pytest.raises(UnreadableUse, match=expected["refused"]):
            read_file(name)
        (complaint,) = read((FOLDER / name).read_bytes(), name, SheetOptions(catalog=CATALOG)).complaints
        assert complaint.place.startswith(name)
        return
    usage = read_file(name)
    total = sum_uses(usage.uses)
    assert {key: its.hours for key, its in sum_uses_by(usage.uses, lambda use: use.workload).items()} == pytest.approx(
        expected["hours"]
    )
    assert total.runs == expected["runs"]
    assert usage.rows_in == usage.rows_used + sum(each.rows for each in usage.left_out)
    assert sum(each.rows for each in usage.left_out) == expected.get("left_out", 0)
    assert total.lost_hours == pytest.approx(expected.get("lost", 0))
    assert usage.queued == expected.get("queued", 0)
    assert total.utilisation == (pytest.approx(expected["utilisation"]) if "utilisation" in expected else None)
    if "accelerators" in expected:
        assert {use.accelerator for use in usage.uses} == set(expected["accelerators"])
    if "wait" in expected:
        assert total.mean_wait_hours == pytest.approx(expected["wait"])
    if "months" in expected:
        assert {month: its.hours for month, its in sum_by_month(usage.uses).items()} == pytest.approx(
            expected["months"]
        )


def test_a_column_names_the_workloads() -> None:
    assert {use.workload for use in read_file("01-parsable2.txt", "JobName").uses} == {"pretrain", "tune"}
    with pytest.raises(UnreadableUse, match="no column 'Colour'; --tag names one of account, alloctres"):
        read_file("01-parsable2.txt", "Colour")


def test_a_sheet_with_ids_of_jobs_is_no_accounting() -> None:
    assert not is_measured_use(b"JobID;Workload;GPU;GPU-hours / month;Start\n1;A;H100;100;2026-12\n")


JOBS = st.lists(
    st.tuples(
        st.datetimes(moment("2026-01-01"), moment("2026-12-01")).map(lambda at: at.replace(microsecond=0)),
        st.integers(1, 40 * 24 * 3600),
        st.integers(1, 64),
        st.sampled_from(["COMPLETED", "FAILED", "RUNNING"]),
    ),
    min_size=1,
    max_size=20,
)


def print_jobs(jobs: list[tuple[datetime, int, int, str]]) -> bytes:
    rows = [
        f"{number}|nlp|{state}|{start.isoformat()}|{start + timedelta(seconds=seconds)}|{seconds}|gres/gpu:h100={gpus}"
        for number, (start, seconds, gpus, state) in enumerate(jobs)
    ]
    return "\n".join(["JobID|Account|State|Start|End|ElapsedRaw|AllocTRES", *rows]).encode()


@given(JOBS)
def test_months_and_hours_of_the_week_add_up_to_gpus_times_time(jobs: list[tuple[datetime, int, int, str]]) -> None:
    usage = read_use(print_jobs(jobs), "jobs", CATALOG, "", {})
    whole = sum(gpus * seconds for _, seconds, gpus, _ in jobs) / 3600
    assert sum(its.hours for its in sum_by_month(usage.uses).values()) == pytest.approx(whole)
    assert sum(each.sums.hours for each in sum_by_hour_of_week(usage.uses)) == pytest.approx(whole)
    assert sum_uses(usage.uses).runs == len(jobs)


def test_the_demand_is_the_mean_of_full_months_of_730_hours() -> None:
    """Two months of one node: 8 GPUs for all of September and October are 8 in every hour; the part of November is no
    full month."""
    jobs = [
        (moment("2026-09-01"), 61 * 86_400, 8, "COMPLETED"),
        (moment("2026-11-01"), 5 * 86_400, 64, "COMPLETED"),
    ]
    parsed = read(print_jobs(jobs), "jobs.txt", SheetOptions(catalog=CATALOG, projection=UsageProjection(0.02)))
    (workload,) = parsed.document["workloads"]
    assert workload["demand"] == {
        "accelerator_hours_per_month": pytest.approx(8 * 730),
        "accelerator": "H100",
        "growth_per_month": 0.02,
    }
    assert (workload["gang"], workload["team"]) == (8, "nlp")
    assert "demand is the mean of 2026-09, 2026-10, for months of 730 hours" in parsed.inputs.notes
    assert "use outside 2026-09, 2026-10 is not part of the demand" in parsed.inputs.notes


def test_a_part_of_a_month_is_scaled_by_its_days_and_a_few_days_are_refused() -> None:
    ten_days = [(moment("2026-09-03"), 10 * 86_400, 4, "COMPLETED")]
    (workload,) = read(print_jobs(ten_days), "jobs", SheetOptions(catalog=CATALOG)).document["workloads"]
    assert workload["demand"]["accelerator_hours_per_month"] == pytest.approx(4 * 730)
    three_days = [(moment("2026-09-03"), 3 * 86_400, 4, "COMPLETED")]
    (complaint,) = read(print_jobs(three_days), "jobs", SheetOptions(catalog=CATALOG)).complaints
    assert "no 7 days of a month are covered: 2026-09-03 to 2026-09-05" in str(complaint)


def test_an_accelerator_that_is_not_named_is_answered() -> None:
    data = (FOLDER / "12-no-type.txt").read_bytes()
    (complaint,) = read(data, "x", SheetOptions(catalog=CATALOG)).complaints
    assert "its accelerators are not named" in str(complaint)
    parsed = read(data, "x", SheetOptions(catalog=CATALOG, answers={"accelerator": "A100-80GB"}))
    (workload,) = parsed.document["workloads"]
    assert workload["demand"]["accelerator"] == "A100-80GB-SXM"
    assert workload["demand"]["accelerator_hours_per_month"] == pytest.approx(4 * 730)


@given(st.text(max_size=200))
def test_no_text_raises_anything_else(text: str) -> None:
    data = f"JobID|Account|State|Start|Elapsed|AllocTRES\n{text}".encode()
    parsed = read(data, "x", SheetOptions(catalog=CATALOG))
    assert parsed.complaints
