"""`planner throughput` as a user meets it."""

from __future__ import annotations

import csv
import io
import json

import pytest

REQUEST = """
as_of: 2026-11-21
workloads:
  - name: train
    unit: samples
    kind: training
    gang: 8
    demand: {units_per_month: 5.0e9}
    measurements:
      - {accelerator: A100-80GB, count: 8, units_per_second: 4000, per: job}
  - name: hours
    demand: {accelerator_hours_per_month: 1000, accelerator: T4}
"""


@pytest.fixture
def job(tmp_path):
    path = tmp_path / "job.yaml"
    path.write_text(REQUEST)
    return str(path)


def test_a_table_for_each_workload_and_what_to_measure_next(planner, job):
    ran = planner("throughput", job)
    assert ran.code == 0, ran.err
    first, second = ran.out.split("\nhours, in ")
    assert first.startswith("train, in samples\n")
    line = next(line for line in first.splitlines() if " A100-80GB-SXM " in line)
    assert "4,000" in line
    assert "measured" in line
    assert "for an hour" in first.split("measure next")[1]
    assert "more cannot be rented or used" in first
    assert "only hours are given, no measurement" in second
    assert "definition" in second
    assert "none: no measurement" in second


def test_all_names_the_reason_of_every_other(planner, job):
    ran = planner("throughput", "--all", "--workload", "train", job)
    for name, reason in (
        ("K80-12GB-die", "sold nowhere"),
        ("GTX-1080-8GB", "sold nowhere"),
        ("MI300X-192GB", "another vendor's"),
    ):
        line = next(line for line in ran.out.splitlines() if line.lstrip().startswith(name))
        assert reason in line
    assert "no bf16 peak rate is known for K520-4GB" in ran.out
    assert "hours, in" not in ran.out


def test_counts_and_accelerators_narrow_it(planner, job):
    ran = planner(
        "throughput", "--workload", "train", "--count", "8,64", "--accelerator", "H100,H200", "--format", "json", job
    )
    [told] = json.loads(ran.out)
    assert {row["gang"] for row in told["accelerators"]} == {8, 64}
    assert all(row["accelerator"].startswith(("H100", "H200")) for row in told["accelerators"])
    usable = [row for row in told["accelerators"] if row["usable"]]
    assert all(
        row["cost_per_unit"]["low"] < row["cost_per_unit"]["expected"] < row["cost_per_unit"]["high"] for row in usable
    )
    eight, more = (next(r for r in usable if r["gang"] == g and r["accelerator"] == "H100-80GB-SXM") for g in (8, 64))
    assert 7 < more["rate"]["units_per_hour"] / eight["rate"]["units_per_hour"] < 8


def test_counts_come_besides_the_gang_and_each_is_judged_by_itself(planner, job):
    """The rival of 64 is another accelerator in gangs of 64, never the same one in a gang of 8."""
    ran = planner("throughput", "--workload", "train", "--count", "64", "--format", "json", job)
    [told] = json.loads(ran.out)
    assert {row["gang"] for row in told["accelerators"]} == {8, 64}
    assert {one["row"]["gang"] for one in told["measure_next"]} == {8, 64}
    assert all(one["row"]["accelerator"] != one["instead_of"] for one in told["measure_next"])


def test_what_is_named_narrows_what_is_told_and_not_the_choice(planner, job):
    arguments = ("throughput", "--workload", "train,train", "--format", "json")
    [every] = json.loads(planner(*arguments, job).out)
    [one] = json.loads(planner(*arguments, "--accelerator", "B200", job).out)
    assert [row["accelerator"] for row in one["accelerators"]] == ["B200-180GB-SXM"]
    wanted = [each for each in every["measure_next"] if each["row"]["accelerator"] == "B200-180GB-SXM"]
    assert one["measure_next"] == wanted
    assert len(wanted) == 1


def test_csv_has_a_line_for_every_accelerator_with_its_measurement(planner, job):
    lines = list(csv.DictReader(io.StringIO(planner("throughput", "--format", "csv", job).out)))
    [told, _] = json.loads(planner("throughput", "--format", "json", job).out)
    train = [line for line in lines if line["workload"] == "train"]
    assert [line["accelerator"] for line in train] == [row["accelerator"] for row in told["accelerators"]]
    for line, row in zip(train, told["accelerators"], strict=True):
        assert line["reason"] == (row["reason"]["text"] if row["reason"] else "")
        assert (line["usable"] == "True") == row["usable"]
        assert (line["units_per_hour"] == "") == (row["rate"] is None)
    first = told["measure_next"][0]
    line = next(line for line in train if line["accelerator"] == first["row"]["accelerator"])
    assert float(line["measure_saving"]) == first["saving"]
    assert float(line["units_per_second"]) * 3600 == pytest.approx(float(line["units_per_hour"]))
    own = next(line for line in train if line["basis"] == "measured")
    # 8 accelerators: price of one hour of one x 8 / 14.4 million an hour.
    per_million = float(own["price_per_accelerator_hour"]) * 8 / 14.4
    assert float(own["cost_per_million_units"]) == pytest.approx(per_million)
    assert own["measure_cost"] == ""


def test_another_currency_is_named_and_names_are_left_alone(planner, tmp_path):
    rates = tmp_path / "rates.csv"
    rates.write_text("from,to,rate,date,source\nUSD,EUR,0.5,2026-11-01,test\n")
    path = tmp_path / "job.yaml"
    path.write_text("currency: EUR\n" + REQUEST.replace("name: train", "name: USD-job"))
    ran = planner("throughput", "--exchange-rates", str(rates), "--workload", "USD-job", str(path))
    assert ran.code == 0, ran.err
    assert ran.out.startswith("USD-job, in samples\n")
    assert "EUR per accelerator-hour" in ran.out
    assert ran.out.count("USD") == 1


def test_every_fault_is_named(planner, job):
    ran = planner("throughput", "--count", "none", "--accelerator", "H1OO", "--workload", "nobody", job)
    assert ran.code == 2
    for text in ("--count", "read none", "--accelerator", "H1OO", "--workload", "nobody"):
        assert text in ran.err
    assert planner("throughput").code == 2
    assert "cannot be read" in planner("throughput", "nothing.yaml").err
