"""`planner usage` on bills, and `planner estimate` on from them: what is printed, and what is refused."""

from __future__ import annotations

import csv
import io
import json
import shutil

import pytest

BILL = "bill-focus.csv"


@pytest.fixture
def bill(repository, tmp_path):
    shutil.copy(repository / "examples" / BILL, tmp_path / BILL)
    return BILL


def test_the_baseline_adds_up_in_every_table(planner, bill):
    ran = planner("usage", bill)
    assert (ran.code, ran.err) == (0, "")
    # 32 rows of the file: 10 of p4d.24xlarge, 6 of g5.xlarge, 3 of g6.xlarge; 13 of all else
    assert "32 rows = 19 of accelerators + 13 of other spend + 0 rejected" in ran.out
    totals = [line.split() for line in ran.out.splitlines() if line.strip().startswith("total ")]
    # 60,000 upfront + 2,208 h x 6.85 of fees + 4,536 h x 1.006 + 900 h x 0.39; amortised 2,208 h x 13.699315 + the same
    assert [line[1:] for line in totals] == [["19", "18,956.00", "4,144.00", "80,039.02", "35,162.30"]] * 7
    assert "embeddings" in ran.out
    assert "reserved_1y_partial_upfront" in ran.out
    assert "2026-08, 2026-09, 2026-10" in ran.out


def test_json_has_the_same_unrounded(planner, bill):
    found = json.loads(planner("usage", "--json", bill).out)
    (view,) = found["accelerators"]
    assert (view["currency"], view["total"]["hours_used"], view["total"]["hours_paid"]) == ("USD", 18956, 23100)
    assert sum(each["billed"] for each in view["by"]["type"].values()) == pytest.approx(view["total"]["billed"])
    (file,) = found["bills"]
    apart = sum(each["billed"] for each in file["apart"])
    assert apart + view["total"]["billed"] == pytest.approx(file["totals"][0]["billed"])
    assert found["commitments"][0]["ends"] == "2027-07"


def test_csv_is_one_row_for_each_month_and_kind_and_safe_to_open(planner, tmp_path, bill):
    text = (tmp_path / bill).read_text().replace('""embeddings""', '""=cmd()""')
    (tmp_path / bill).write_text(text)
    rows = list(csv.DictReader(io.StringIO(planner("usage", "--csv", bill).out)))
    assert {row["workload"] for row in rows} == {
        "'=cmd()", "(no workload)", "nightly-eval", "pretraining", "(commitment ri-0a1b2c3d)"
    }  # fmt: skip
    assert sum(float(row["hours_used"]) for row in rows) == pytest.approx(18956)


@pytest.mark.slow
def test_a_tag_of_ones_own(planner, bill):
    ran = planner("usage", "--tag", "TEAM", bill)
    assert "workload (team; as requested)" in ran.out
    assert "research" in ran.out


def test_every_fault_at_once(planner, tmp_path, bill):
    (tmp_path / "sheet.csv").write_text("name,gpus,hours,type,x\na,1,2,L4,3\n")
    ran = planner("usage", "sheet.csv", "missing.csv", bill, bill)
    assert ran.code == 2
    assert ran.out == ""
    assert "3 problems" in ran.err
    assert "sheet.csv: no bill" in ran.err
    assert "missing.csv: cannot be read" in ran.err
    assert "named twice" in ran.err
    assert planner("usage", "--tag", "nothing", bill).err.count("one of team, workload") == 1
    assert "two formats" in planner("usage", "--json", "--csv", bill).err


@pytest.mark.slow
def test_texts_of_a_bill_are_no_escape_sequences(planner, tmp_path, bill):
    text = (tmp_path / bill).read_text().replace('""embeddings""', '""\\u001b[31mred""')
    (tmp_path / bill).write_text(text)
    assert "\x1b" not in planner("usage", bill).out


@pytest.mark.slow
def test_two_months_in_two_files_are_one_baseline(planner, tmp_path, bill):
    head, *rows = (tmp_path / bill).read_text().splitlines(keepends=True)
    for month in ("08", "09", "10"):
        own = [row for row in rows if f"INV-2026{month}" in row]
        (tmp_path / f"{month}.csv").write_text(head + "".join(own))
    whole, parts = (
        json.loads(planner("usage", "--json", *files).out) for files in ([bill], ["08.csv", "09.csv", "10.csv"])
    )
    assert whole["full_months"] == parts["full_months"] == ["2026-08", "2026-09", "2026-10"]
    assert whole["accelerators"][0]["by"].keys() == parts["accelerators"][0]["by"].keys()
    for key in ("rows", "hours_used", "hours_unused"):
        assert parts["accelerators"][0]["total"][key] == pytest.approx(whole["accelerators"][0]["total"][key])


def test_a_plan_goes_on_from_the_bill(planner, bill):
    ran = planner(
        "estimate", "--as-of", "2026-11-21", "--months", "2", "--growth", "3%", "--strategies", "cloud",
        "--providers", "aws", "--format", "json", bill,
    )  # fmt: skip
    assert ran.code == 0, ran.err
    plan = json.loads(ran.out)
    demand = {each["name"]: each["demand"] for each in plan["workloads"]}
    # 13,520 A100-hours in three months: a month of 730 hours has 13520 / 2208 x 730, the next 3 % more
    assert demand["pretraining"][0] == pytest.approx(13520 / 2208 * 730)
    assert demand["pretraining"][1] == pytest.approx(13520 / 2208 * 730 * 1.03)
    notes = plan["inputs"]["notes"]
    assert any(note.startswith("commitment ri-0a1b2c3d is taken over: 1 x p4d.24xlarge us-east-1") for note in notes)
    assert notes[-1].startswith("present spend against plan, over 2 months in USD")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "words"),
    [(["--growth", "lots"], "not a monthly growth rate"), (["--growth", "300%"], "not a monthly growth rate"),
     (["--tag", "nothing"], "no row of accelerators has this tag")],
)  # fmt: skip
def test_options_of_a_bill_are_judged(planner, bill, written, options, words):
    ran = planner("estimate", *options, bill, "-o", "plan.json")
    assert ran.code == 2
    assert words in ran.err
    assert "plan.json" not in written()


def test_options_of_a_bill_are_for_bills(planner, job):
    ran = planner("estimate", "--growth", "0.03", "--tag", "team", "--substitution", str(job))
    assert ran.code == 2
    assert ran.err.count("is not a billing export") == 3
