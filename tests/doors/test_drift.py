"""`planner drift` as a user runs it: a plan, then a bill or measured use of the same months."""

from __future__ import annotations

import csv
import io
import json
import re
from decimal import Decimal

import pytest

from planner.reports._content.number_format import format_signed

REQUEST = {
    "as_of": "2026-11-21",
    "start": "2026-12",
    "months": 3,
    "strategies": ["cloud"],
    "providers": ["gcp"],
    "regions": ["us-central1"],
    "workloads": [
        {"name": "chat", "kind": "inference", "demand": {"accelerator_hours_per_month": 730, "accelerator": "L4"}},
        {"name": "train", "demand": {"accelerator_hours_per_month": 100, "accelerator": "L4"}},
    ],
}
AMOUNT = re.compile(r"[+-]?[\d,]+\.\d\d|(?<=\s)-(?=\s|$)")


@pytest.fixture
def plan(planner, tmp_path) -> str:
    (tmp_path / "request.json").write_text(json.dumps(REQUEST))
    ran = planner("estimate", "request.json", "-o", "plan.json")
    assert ran.code == 0, ran.err
    return "plan.json"


@pytest.fixture
def jobs(tmp_path):
    """Writes sacct output: (workload, day of December, hours, GPUs) of each job."""

    def write(name: str, *rows: tuple[str, int, int, int], kind: str = "l4") -> str:
        lines = ["JobID|Account|State|Start|ElapsedRaw|AllocTRES"] + [
            f"{n}|{who}|COMPLETED|2026-12-{day:02d}T00:00:00|{hours * 3600}|gres/gpu:{kind}={gpus}"
            for n, (who, day, hours, gpus) in enumerate(rows)
        ]
        (tmp_path / name).write_text("\n".join(lines))
        return name

    return write


AS_PLANNED = (("chat", 1, 744, 1), ("train", 10, 100, 1))


def document(ran) -> dict:
    return json.loads(ran.out)


def test_measured_use_as_planned_is_no_drift(planner, plan, jobs):
    """A month of the plan is brought to the 31 days of December: 744 hours of chat, 101.92 of train."""
    found = document(planner("drift", "--json", plan, jobs("sacct.txt", *AS_PLANNED)))
    assert found["months"] == ["2026-12"]
    assert found["planned_hours"] == pytest.approx(744 + 100 * 744 / 730)
    assert found["actual_hours"] == 844
    volume = next(each for each in found["causes"] if each["cause"] == "volume")
    assert {part["workload"]: part["hours"] for part in volume["parts"]} == pytest.approx(
        {"chat": 0, "train": 100 - 100 * 744 / 730}
    )
    assert abs(found["share"]) < 0.01


def test_the_gate_is_on_either_side_of_the_plan(planner, plan, jobs):
    twice = jobs("twice.txt", ("chat", 1, 744, 2), ("train", 10, 100, 1))
    ran = planner("drift", "--max-drift", "10%", plan, twice)
    assert ran.code == 5
    assert "more than 10.0%" in ran.err
    assert "volume" in ran.out
    assert planner("drift", "--max-drift", "200%", plan, twice).code == 0
    half = jobs("half.txt", ("chat", 1, 744, 1))
    assert planner("drift", "--max-drift", "0.01", plan, half).code == 5
    assert document(planner("drift", "--json", "--max-drift", "10%", plan, twice))["passed"] is False


def test_a_gate_that_cannot_be_evaluated_fails(planner, plan, jobs):
    other = jobs("other.txt", ("someone", 1, 744, 8), kind="h100")
    ran = planner("drift", "--max-drift", "1000%", plan, other)
    assert ran.code == 5
    assert "the cost of someone is not known" in ran.err
    assert "someone: 5,952.00 hours on accelerators without a rate in the plan" in ran.out


def test_the_table_adds_up_to_the_cent(planner, plan, jobs):
    ran = planner("drift", plan, jobs("mix.txt", ("chat", 1, 744, 1), ("train", 5, 333, 1), ("demo", 3, 77, 2)))
    lines = [line for line in ran.out.splitlines() if line.startswith("  ")]
    money = {}
    for line in lines[1:9]:
        found = AMOUNT.findall(line)
        money[re.split(r"\s{2,}", line.strip())[0]] = (
            Decimal(found[-1].replace(",", "")) if found[-1] != "-" else Decimal()
        )
    causes = ("unplanned workloads", "volume", "ways of paying", "place", "price", "unused commitments")
    assert money["planned"] + sum(money[cause] for cause in causes) == money["actual"]
    assert money["unplanned workloads"] > 0
    assert money["volume"] > 0


def test_the_bill_of_the_plan_itself_is_no_drift(planner, plan):
    """The plan's own forecast of its bill (FOCUS) is held against it: each month as planned, to a month's calendar."""
    assert planner("estimate", "request.json", "-o", "plan.focus.csv").code == 0
    ran = planner("drift", "--json", "--tag", "workload", plan, "plan.focus.csv")
    assert ran.code == 0, ran.err
    found = document(ran)
    causes = {each["cause"]: each["amount"] for each in found["causes"]}
    assert found["months"] == ["2026-12", "2027-01", "2027-02"]
    # 2,190 hours of three months of the plan against the 2,160 of the calendar: the plan is valued for 90 days
    assert causes["volume"] == pytest.approx(found["planned"] * (2190 / 2160 - 1), rel=1e-6)
    assert [causes[name] for name in ("unplanned workloads", "place", "price", "ways of paying")] == pytest.approx(
        [0, 0, 0, 0], abs=1e-6
    )


def test_a_dearer_bill_is_price_and_a_new_tag_is_unplanned(planner, plan, tmp_path):
    assert planner("estimate", "request.json", "-o", "plan.focus.csv").code == 0
    rows = list(csv.DictReader(io.StringIO((tmp_path / "plan.focus.csv").read_text())))
    use = [row for row in rows if "chat" in row["Tags"] and row["ChargeCategory"] == "Usage"]
    for row in use:
        row["EffectiveCost"] = row["BilledCost"] = str(float(row["EffectiveCost"]) * 1.1)
    stranger = {**use[0], "Tags": '{"workload": "stranger"}'}
    with (tmp_path / "dear.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys())
        writer.writeheader()
        writer.writerows([*rows, stranger])
    found = document(planner("drift", "--json", "--tag", "workload", plan, "dear.csv"))
    causes = {each["cause"]: each["amount"] for each in found["causes"]}
    of_chat = sum(float(row["EffectiveCost"]) for row in use)
    assert causes["price"] == pytest.approx(of_chat * 0.1 / 1.1)
    assert causes["unplanned workloads"] == pytest.approx(float(stranger["EffectiveCost"]))


def test_every_fault_at_once(planner, plan, jobs, tmp_path):
    (tmp_path / "note.txt").write_text("nothing\n")
    ran = planner("drift", "--max-drift", "much", "--strategy", "onprem", plan, "gone.csv", "note.txt")
    assert ran.code == 2
    for words in (
        "--max-drift: no share; read much",
        "--strategy: not a strategy",
        "gone.csv: cannot be read",
        "note.txt",
    ):
        assert words in ran.err
    mixed = planner("drift", plan, jobs("s.txt", *AS_PLANNED), "note.txt")
    assert "bills or measured use, not both" in mixed.err
    assert planner("drift", "note.txt", jobs("s.txt", *AS_PLANNED)).code == 2


def test_other_months_are_not_compared(planner, plan, tmp_path):
    (tmp_path / "s.txt").write_text(
        "JobID|Account|Start|ElapsedRaw|AllocTRES\n1|chat|2026-06-01T00:00:00|2592000|gres/gpu:l4=1\n"
    )
    ran = planner("drift", plan, "s.txt")
    assert ran.code == 2
    assert "expected use from 2026-12 to 2027-02" in ran.err


def test_signs_are_written_as_in_other_tables():
    assert format_signed(-1234.5, 2) == "-1,234.50"
