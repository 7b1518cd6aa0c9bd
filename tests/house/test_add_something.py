"""docs/guides/add-something.md, followed to the letter in a copy of the repository."""

from __future__ import annotations

import csv
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
GUIDE = ROOT / "docs" / "guides" / "add-something.md"
COPIED = ("planner", "pricing", "terraform", "openapi", "tests", "tools", "examples", "docs")
JOB = "name: scoring\ndemand: {accelerator_hours_per_month: 730, accelerator: L4}\n"


@pytest.fixture(scope="module")
def copy(tmp_path_factory) -> Path:
    """The repository with every file of the guide written, and its commands run."""
    folder = tmp_path_factory.mktemp("copy")
    for name in COPIED:
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", folder)
    guide = GUIDE.read_text(encoding="utf-8")
    for path, code in re.findall(r"```(?:python|csv) (\S+)\n(.*?)```", guide, re.DOTALL):
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).write_text(code, encoding="utf-8")
    for commands in re.findall(r"```sh\n(.*?)```", guide, re.DOTALL):
        subprocess.run(["bash", "-e"], input=commands, cwd=folder, text=True, check=True)
    (folder / "job.yaml").write_text(JOB, encoding="utf-8")
    return folder


def run(folder: Path, *arguments: str) -> str:
    """What Python prints, run on the copy; its errors fail the test."""
    environment = os.environ | {"PYTHONPATH": str(folder), "GPU_PLANNER_DATA": str(folder / "tried")}
    command = [sys.executable, *arguments]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def planner(folder: Path, *arguments: str) -> str:
    return run(folder, "-c", "from planner.cli import main; main()", *arguments)


def test_the_purchase_option_is_found(copy):
    code = "from planner.supply.purchase_options import load_purchase_options as f; print(f()['queued'].TITLE)"
    assert run(copy, "-c", code) == "queued capacity\n"


@pytest.mark.slow
def test_the_format_is_written(copy):
    printed = planner(copy, "estimate", "--as-of", "2026-11-21", "--months", "1", "--format", "tsv", "job.yaml")
    assert printed.splitlines()[0] == "strategy\tmonth\tcategory\tamount"
    assert re.search(r"^cloud\t1\ton_demand\t\d+\.\d\d$", printed, re.MULTILINE)


def test_the_command_runs(copy):
    assert "us-east-1" in planner(copy, "regions", "aws").splitlines()
    assert "List the regions of a provider." in planner(copy, "--help")


@pytest.mark.slow
def test_the_shared_tests_pass(copy):
    files = ("tests/house/test_walks.py", "tests/planner/test_every_option.py", "tests/reports/test_every_format.py")
    run(copy, "-m", "pytest", "-q", "-n", "0", "-m", "not slow", "-k", "queued or tsv or walk or kind", *files)


@pytest.mark.slow
def test_the_purchase_option_is_planned_and_billed_by_the_hour(copy):
    """8 H100 for one month, 730 hours at 20 USD queued instead of 31.20 on demand: 14,600 USD, as used."""
    planner(copy, "prices", "import", "tried/list.csv", "--provider", "crusoe", "--as-of", "2026-11-20")
    (prices,) = copy.glob("tried/snapshots/crusoe/20*/prices.csv")
    (listed,) = [line for line in prices.read_text().splitlines() if "h100" in line and "on_demand" in line]
    queued = listed.replace("on_demand", "queued").replace("31.2", "20")
    prices.write_text(prices.read_text() + queued + "\n")
    (copy / "h100.yaml").write_text(JOB.replace("730", "5840").replace("L4", "H100"), encoding="utf-8")
    only = ("--providers", "crusoe", "--strategies", "cloud", "--as-of", "2026-11-21", "--months", "1")
    (charge,) = csv.DictReader(planner(copy, "estimate", *only, "--format", "focus", "h100.yaml").splitlines())
    assert (float(charge["BilledCost"]), float(charge["ConsumedQuantity"])) == (14_600, 730)
    assert (charge["ChargeFrequency"], charge["PricingCategory"]) == ("Usage-Based", "Standard")
    shutil.rmtree(copy / "tried/snapshots")
    shutil.rmtree(copy / "tried/providers")


@pytest.fixture(scope="module")
def shipped(copy) -> Path:
    """The copy with the guide's cloud in it."""
    (commands,) = re.findall(r"```console\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
    for command in commands.splitlines():
        line = command.removeprefix("$ ")
        if line.startswith("planner "):
            assert "0 rejected" in planner(copy, *line.split()[1:])
        else:
            subprocess.run(["bash", "-ec", line], cwd=copy, check=True)
    shutil.rmtree(copy / "tried")
    return copy


@pytest.mark.slow
def test_a_cloud_is_made_of_its_price_list_and_shipped(shipped):
    assert "crusoe" in planner(shipped, "offers", "--provider", "crusoe", "--accelerator", "H100")
    listed = planner(shipped, "cloud", "list")
    assert re.search(r"^crusoe +crusoe +embedded, on request", listed, re.MULTILINE)


@pytest.mark.slow
def test_the_shared_tests_of_providers_pass_with_it(shipped):
    files = ("tests/pricing/test_providers.py", "tests/house/test_walks.py")
    run(shipped, "-m", "pytest", "-q", "-n", "0", "-k", "crusoe", *files)
