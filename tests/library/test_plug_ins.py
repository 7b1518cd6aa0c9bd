"""Plug-ins by entry points: the example package built and installed, and packages that fail."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import planner
from tests.library.conftest import ROOT, SCORING, SHORT

EXAMPLE = ROOT / "examples" / "plug-in"
MEASURED = {
    "name": "train",
    "unit": "samples",
    "demand": {"units_per_month": 2e7},
    "measurements": [{"accelerator": "A100-80GB-SXM", "count": 1, "units_per_second": 10, "per": "job"}],
    "accelerators": ["H100-80GB-SXM"],
}
"""A job that was measured on one accelerator and may run on another alone."""


@pytest.fixture(scope="session")
def installed(tmp_path_factory) -> Path:
    """A folder for PYTHONPATH with the wheel of the example package in it, its metadata included."""
    folder = tmp_path_factory.mktemp("plug-in")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=EXAMPLE, check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "site")
    return folder / "site"


def run(site: Path, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    code = "import sys; from planner.cli import main; sys.argv[0] = 'planner'; main()"
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(site), str(ROOT)])}
    environment["GPU_PLANNER_DATA"] = str(folder / "data")
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def install(folder: Path, group: str, name: str, module: str) -> Path:
    """A distribution `broken` 0.1 with one entry point, whose module has this text."""
    site = folder / "site"
    (site / "broken-0.1.dist-info").mkdir(parents=True)
    (site / "broken-0.1.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 0.1\n")
    (site / "broken-0.1.dist-info" / "entry_points.txt").write_text(f"[gpu_planner.{group}]\n{name} = broken_part\n")
    (site / "broken_part.py").write_text(module)
    return site


def bandwidth(name: str) -> float:
    found = planner.Catalog.embedded().names.by_name[name].memory_bandwidth_gbs
    assert found is not None
    return found


def test_a_throughput_model_takes_part_and_the_plan_names_it(installed, tmp_path):
    """36,000 samples an hour on an A100 are 36,000 x the ratio of the bandwidths on an H100, -25 % to +25 %."""
    (tmp_path / "job.json").write_text(json.dumps({**SHORT, "workloads": [MEASURED]}))
    done = run(installed, tmp_path, "estimate", "job.json", "--format", "json")
    assert done.returncode == 0, done.stderr
    plan = json.loads(done.stdout)
    (rate,) = plan["throughput"]
    expected = 36_000 * bandwidth("H100-80GB-SXM") / bandwidth("A100-80GB-SXM")
    assert math.isclose(rate["units_per_hour"], expected, rel_tol=1e-12)
    assert math.isclose(rate["low"], 0.75 * expected)
    assert math.isclose(rate["high"], 1.25 * expected)
    assert rate["basis"] == "predicted_by_plug_in"
    named = [each["text"] for each in plan["conventions"] if each["code"] == "plug_in_took_part"]
    assert named == ["Made with the plug-in roofline (acme-gpu 1.0.0) of gpu_planner.throughput_models."]
    without = planner.plan({**SHORT, "workloads": [MEASURED]})
    assert without.plan_id != plan["plan_id"], "another installation is another question"
    assert [row["basis"] for row in without.rows("throughput")] == ["predicted_across_architectures"]


@pytest.mark.slow
def test_what_was_measured_is_not_asked_of_a_model(installed, tmp_path):
    job = {**MEASURED, "accelerators": ["A100-80GB-SXM"]}
    (tmp_path / "job.json").write_text(json.dumps({**SHORT, "workloads": [job]}))
    plan = json.loads(run(installed, tmp_path, "estimate", "job.json", "--format", "json").stdout)
    assert {rate["basis"] for rate in plan["throughput"] if rate["gang"] == 1} == {"measured"}
    assert "plug_in_took_part" not in {each["code"] for each in plan["conventions"]}


@pytest.mark.slow
def test_a_report_is_a_format_like_the_others(installed, tmp_path):
    """An inference job of a whole year buys a commitment: one line for each purchase of the plan as JSON."""
    (tmp_path / "job.json").write_text(json.dumps({**SHORT, "months": 12, "workloads": [SCORING]}))
    outputs = ("-o", "plan.json", "-o", "buy.orders")
    done = run(installed, tmp_path, "estimate", "job.json", *outputs)
    assert done.returncode == 0, done.stderr
    (strategy,) = planner.load(tmp_path / "plan.json").plan.strategies
    lines = [line.split("\t") for line in (tmp_path / "buy.orders").read_text().splitlines()]
    assert [(line[1], line[2], line[3]) for line in lines] == [
        (str(each.count), each.name, each.purchase_option) for each in strategy.purchases
    ]
    assert lines
    printed = run(installed, tmp_path, "estimate", "job.json", "--format", "orders").stdout
    assert printed == (tmp_path / "buy.orders").read_text()


@pytest.mark.slow
def test_a_way_of_paying_is_planned_at_prices_of_its_kind(installed, tmp_path):
    """8 H100 for a month: 730 hours at 20 USD in credits instead of 31.20 on demand, 14,600 USD."""
    (tmp_path / "list.csv").write_text(
        "type,gpu,gpu_count,vcpus,memory_gib,region,price_per_hour\nh100.8x,H100 SXM5,8,176,960,us-east1-a,31.20\n"
    )
    options = ("--provider", "crusoe", "--as-of", "2026-11-20", "--source", "crusoe.ai/pricing")
    run(installed, tmp_path, "prices", "import", "list.csv", *options)
    folder = tmp_path / "data" / "providers" / "crusoe"
    with (folder / "regions.csv").open("a") as regions:
        regions.write("us-east1-a,US East,US,,page\n")
    with (folder / "sources.csv").open("a") as sources:
        sources.write("page,crusoe.ai/pricing,2026-11-20,regions\n")
    imported = run(installed, tmp_path, "prices", "import", "list.csv", *options)
    assert "0 rejected" in imported.stdout + imported.stderr
    prices = max(tmp_path.glob("data/snapshots/crusoe/20*/prices.csv"))
    (listed,) = [line for line in prices.read_text().splitlines() if "on_demand" in line]
    prices.write_text(prices.read_text() + listed.replace("on_demand", "credits").replace("31.2", "20") + "\n")
    hours = {"accelerator_hours_per_month": 5840, "accelerator": "H100"}
    request = {**SHORT, "months": 1, "providers": ["crusoe"], "workloads": [{"name": "job", "demand": hours}]}
    (tmp_path / "job.json").write_text(json.dumps(request))
    done = run(installed, tmp_path, "estimate", "job.json", "-o", "plan.json")
    assert done.returncode == 0, done.stderr
    plan = planner.load(tmp_path / "plan.json").plan
    assert plan.strategies[0].total_cost == pytest.approx(14_600)
    assert {use.purchase_option for use in plan.strategies[0].uses} == {"credits"}
    assert any("credits (acme-gpu 1.0.0)" in each.text for each in plan.conventions)
    only = {**request, "limits": {"purchase_options": ["on_demand"]}}
    (tmp_path / "job.json").write_text(json.dumps(only))
    run(installed, tmp_path, "estimate", "job.json", "-o", "plan.json")
    assert planner.load(tmp_path / "plan.json").plan.strategies[0].total_cost == pytest.approx(22_776)
    (tmp_path / "job.json").write_text(json.dumps({**request, "limits": {"purchase_options": ["credits"]}}))
    assert run(installed, tmp_path, "estimate", "job.json", "-o", "plan.json").returncode == 0
    without = run(tmp_path / "nothing", tmp_path, "estimate", "job.json")
    assert (without.returncode, "credits" in without.stderr) == (2, True)


@pytest.mark.slow
def test_doctor_lists_plug_ins(installed, tmp_path):
    done = run(installed, tmp_path, "doctor")
    assert "roofline (acme-gpu 1.0.0, gpu_planner.throughput_models)" in done.stdout
    assert "credits (acme-gpu 1.0.0" in done.stdout


PREDICT = "TITLE = 'x'\ndef predict(workload, accelerator, gang, names):\n    "
FAILING = {
    "no import": ("throughput_models", "import nothing_of_this_name", "ModuleNotFoundError"),
    "no code": ("throughput_models", "def", "SyntaxError"),
    "lacks a part": ("throughput_models", "TITLE = 'x'", "predict(workload, accelerator, gang, names) is missing"),
    "other parameters": ("throughput_models", "TITLE = 'x'\ndef predict(job): ...", "cannot be called as"),
    "raises": ("throughput_models", f"{PREDICT}return 1 / 0", "predict fails: ZeroDivisionError: division by zero"),
    "no interval": ("throughput_models", f"{PREDICT}return 5", "predict gives 5"),
    "not finite": ("throughput_models", f"{PREDICT}return (float('nan'),) * 3", "predict gives (nan"),
    "a way of paying": ("purchase_options", "TITLE = 'x'", "COMMITS is missing"),
    "a report": ("reports", "SUFFIX = '.x'", "MEDIA_TYPE is missing"),
}


@pytest.mark.one_in(9)
@pytest.mark.parametrize(("group", "module", "message"), FAILING.values(), ids=FAILING)
def test_a_plug_in_that_fails_is_named_and_nothing_is_planned(tmp_path, group, module, message):
    site = install(tmp_path, group, "odd", module)
    (tmp_path / "job.json").write_text(json.dumps({**SHORT, "workloads": [MEASURED]}))
    done = run(site, tmp_path, "estimate", "job.json", "-o", "plan.json")
    assert done.returncode == 2
    assert "odd" in done.stderr
    assert "broken 0.1" in done.stderr
    assert message in done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    assert not (tmp_path / "plan.json").exists()
    if "predict" not in module or message.startswith("cannot"):
        doctor = run(site, tmp_path, "doctor")
        assert (doctor.returncode, "odd" in doctor.stderr) == (1, True)


@pytest.mark.slow
@pytest.mark.parametrize(("group", "name"), [("purchase_options", "spot"), ("reports", "json")])
def test_a_name_of_the_package_cannot_be_taken(tmp_path, group, name):
    site = install(tmp_path, group, name, "")
    (tmp_path / "job.json").write_text(json.dumps({**SHORT, "workloads": [SCORING]}))
    done = run(site, tmp_path, "estimate", "job.json", "-o", "plan.json")
    assert (done.returncode, "the package has one of this name" in done.stderr) == (2, True)


@pytest.mark.slow
def test_two_packages_with_one_name_are_both_named(tmp_path):
    site = install(tmp_path, "throughput_models", "odd", "TITLE = 'x'")
    other = site / "second-2.dist-info"
    other.mkdir()
    (other / "METADATA").write_text("Metadata-Version: 2.1\nName: second\nVersion: 2\n")
    (other / "entry_points.txt").write_text("[gpu_planner.throughput_models]\nodd = elsewhere\n")
    (tmp_path / "job.json").write_text(json.dumps({**SHORT, "workloads": [SCORING]}))
    done = run(site, tmp_path, "estimate", "job.json")
    assert done.returncode == 2
    assert "broken 0.1" in done.stderr
    assert "second 2" in done.stderr


class Doubled:
    TITLE = "twice our own"

    def predict(self, *facts):
        _, _, gang, _ = facts
        return (72_000.0 * gang, 60_000.0 * gang, 80_000.0 * gang)


def test_an_object_is_registered_for_a_session_and_taken_out_again():
    before = planner.plan([MEASURED], **SHORT)
    planner.register_plugin("throughput_models", "doubled", Doubled())
    try:
        during = planner.plan([MEASURED], **SHORT)
    finally:
        planner.unregister_plugin("throughput_models", "doubled")
    after = planner.plan([MEASURED], **SHORT)
    assert {row["units_per_hour"] / row["gang"] for row in during.rows("throughput")} == {72_000}
    assert before.plan == after.plan
    assert during.plan_id != before.plan_id
    assert any("doubled (registered in Python)" in each.text for each in during.plan.conventions)


def test_what_cannot_be_registered_is_refused_by_name():
    with pytest.raises(planner.InvalidPlugin, match="predict"):
        planner.register_plugin("throughput_models", "odd", object())
    with pytest.raises(planner.InvalidPlugin, match="one of this name"):
        planner.register_plugin("reports", "json", object())
    with pytest.raises(planner.UnknownName, match="throughput_models"):
        planner.register_plugin("throughput_model", "odd", Doubled())
    with pytest.raises(planner.UnknownName, match="odd"):
        planner.unregister_plugin("throughput_models", "odd")


def test_a_registered_report_is_written_by_its_suffix(tmp_path):
    class Names:
        MEDIA_TYPE = "text/x-names"
        SUFFIX = ".names"

        def render(self, plan):
            return "\n".join(each.name for each in plan.workloads).encode()

    class NoBytes(Names):
        def render(self, plan):
            return str(plan)

    result = planner.plan(SCORING, **SHORT)
    planner.register_plugin("reports", "names", Names())
    try:
        assert result.render("names") == b"scoring"
        assert result.write(tmp_path / "plan.names").read_bytes() == b"scoring"
        planner.register_plugin("reports", "names", NoBytes())
        with pytest.raises(planner.InvalidPlugin, match="render gives str: expected bytes"):
            result.render("names")
    finally:
        planner.unregister_plugin("reports", "names")
    with pytest.raises(KeyError):
        result.render("names")


def test_the_service_names_a_plug_in_that_fails():
    class Failing:
        TITLE = "none"

        def predict(self, *_):
            raise OSError("no table")

    from planner.service.plan_jobs import FailedPlugin, run_plan_job
    from planner.service.uploads import Upload

    planner.register_plugin("throughput_models", "failing", Failing())
    try:
        body = json.dumps({**SHORT, "workloads": [MEASURED]}).encode()
        answer = run_plan_job(Upload(body), {}, "json")
    finally:
        planner.unregister_plugin("throughput_models", "failing")
    assert isinstance(answer, FailedPlugin)
    assert answer.reason == "failing (registered in Python) is no throughput model: predict fails: OSError: no table"
