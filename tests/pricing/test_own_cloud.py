"""A cloud of one's own: a folder of tables, or an installed plug-in, is part of the catalogue with no code changed."""

from __future__ import annotations

import csv
import json
import os
import shutil
import subprocess
import sys
from datetime import date
from pathlib import Path

import pytest

from pricing.catalog import data_folder
from pricing.catalog.adjusted_prices import select_for_plan
from pricing.catalog.price_catalog import EMBEDDED_LAYOUT, Catalog
from pricing.catalog.snapshot_tables import (
    OFFERING_COLUMNS,
    PRICE_COLUMNS,
    REGION_COLUMNS,
    SOURCE_COLUMNS,
    TIER_COLUMNS,
    read_snapshot,
)
from pricing.errors import InvalidSnapshot
from pricing.providers import PROVIDER_TABLES, CatalogLayout

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples/own-cloud/lambda"
COLUMNS = {
    "offerings.csv": OFFERING_COLUMNS,
    "prices.csv": PRICE_COLUMNS,
    "regions.csv": REGION_COLUMNS,
    "sources.csv": SOURCE_COLUMNS,
    "tiers.csv": TIER_COLUMNS,
}
SEEN = """\
import json, sys
from pricing.catalog.price_catalog import Catalog
catalog = Catalog.current()
quotes = catalog.quotes(providers=["lambda"], instance_types=["gpu_8x_h100_sxm5"], regions=["us-west-1"])
folder = dict(catalog.layout.folders)["lambda"].name
print(json.dumps([catalog.providers, folder, [q.price.price_per_hour for q in quotes]]))
assert "gpu_planner_lambda" not in sys.modules, "a plug-in is found, not imported"
"""


@pytest.fixture
def data(tmp_path, monkeypatch) -> Path:
    """A data folder with the example in it."""
    monkeypatch.setenv("GPU_PLANNER_DATA", str(tmp_path / "data"))
    shutil.copytree(EXAMPLE, tmp_path / "data/providers/lambda")
    return tmp_path / "data"


def rows(name: str) -> list[list[str]]:
    return list(csv.reader((EXAMPLE / name).read_text(encoding="utf-8").splitlines()))


@pytest.mark.parametrize("name", sorted(COLUMNS))
def test_the_example_is_written_as_ours_are(name):
    head, *body = rows(name)
    assert tuple(head) == COLUMNS[name]
    assert body == sorted(body)


def test_the_example_holds_what_its_source_lists():
    found = read_snapshot(CatalogLayout(EMBEDDED_LAYOUT.data, (("lambda", EXAMPLE),)))
    # 16 of the file's 22 types with accelerators, each at one price in the 17 regions: 16 x 17 = 272 rows.
    assert (len(found.regions), len(found.offerings), len(found.prices), len(found.tiers)) == (17, 16, 272, 0)
    prices = {(p.instance_type, p.region): p for p in found.prices}
    assert len(prices) == 272
    hopper = prices["gpu_8x_h100_sxm5", "us-west-1"]
    assert (hopper.price_per_hour, hopper.currency, hopper.as_of) == (31.92, "USD", date(2026, 5, 7))
    assert prices["gpu_1x_gh200", "me-west-1"].price_per_hour == 2.29
    (node,) = [o for o in found.offerings if o.instance_type == "gpu_8x_b200_sxm6"]
    assert (node.accelerator, node.accelerator_count, node.vcpus, node.memory_gib) == ("B200-180GB-SXM", 8, 208, 2900)
    assert {p.source_id for p in found.prices} == {"skypilot-lambda-v8"}
    (source,) = [s for s in found.sources if s.source_id == "skypilot-lambda-v8"]
    assert "0f4070387edc953d7004cff197940e1918a1d6aa" in source.reference
    assert {(r.country, r.region[:2]) for r in found.regions if r.country} == {("US", "us"), ("AU", "au")}


def test_a_folder_in_the_data_folder_is_part_of_the_catalogue(data):
    catalog = Catalog.current()
    assert catalog.providers == Catalog.embedded().providers, "in place of what is shipped"
    assert "lambda" in select_for_plan(catalog, ()).providers, "a cloud of one's own needs no request"
    assert len(catalog.quotes(providers=["lambda"])) == 272
    assert catalog.check_provider("Lambda") == "lambda"
    assert catalog.digest != Catalog.embedded().digest
    shutil.rmtree(data / "providers/lambda")
    assert Catalog.current().digest == Catalog.embedded().digest


def test_a_folder_may_bring_accelerators_and_sources_of_its_own(data):
    folder = data / "providers/lambda"
    head = (EMBEDDED_LAYOUT.data / "accelerators.csv").read_text().splitlines()[0]
    blank = dict.fromkeys(head.split(","), "")
    row = {
        **blank,
        "name": "Z1-64GB",
        "model": "Z1",
        "vendor": "Acme",
        "memory_gib": "64",
        "device_class": "datacenter",
    }
    row |= {"counted_as": "device", "source": "a quote"}
    (folder / "accelerators.csv").write_text(f"{head}\n{','.join(row.values())}\n")
    node = "Z,z.large,Z1-64GB,2,64,,,,,,current,,skypilot-lambda-v8,no\n"
    with (folder / "offerings.csv").open("a") as file:
        file.write(node)
    catalog = Catalog.current()
    assert catalog.names.by_name["Z1-64GB"].memory_gib == 64
    assert ("lambda", "z.large") in {offering.key for offering in catalog.unpriced()}


def test_every_fault_of_a_folder_is_told_with_its_line(data):
    folder = data / "providers/lambda"
    (folder / "tiers.csv").unlink()
    offerings = (folder / "offerings.csv").read_text().replace("current", "young", 1).replace("A10-24GB", "A10", 1)
    (folder / "offerings.csv").write_text(offerings)
    prices = (folder / "prices.csv").read_text().replace("1.09", "0", 1).replace("us-west-3", "us-west-9", 1)
    (folder / "prices.csv").write_text(prices + "\nshort,row\n")
    with pytest.raises(InvalidSnapshot) as raised:
        Catalog.current()
    told = "\n".join(raised.value.faults)
    for fault in (
        "lambda/tiers.csv: the file is missing",
        "accelerator 'A10' is not in accelerators.csv",
        "status is 'young', expected one of current, legacy, retired",
        "price_per_hour is '0', expected a number above 0",
        "region 'us-west-9' is not in regions.csv",
        "lambda/prices.csv:275: 2 cells, expected 9",
    ):
        assert fault in told
    assert all(fault.startswith("lambda/") for fault in raised.value.faults)


def test_an_own_folder_stands_in_for_an_embedded_provider_of_its_name(data):
    shutil.copytree(
        dict(EMBEDDED_LAYOUT.folders)["gcp"], data / "providers/gcp", ignore=shutil.ignore_patterns("*.py", "testdata")
    )
    kept = (data / "providers/gcp/prices.csv").read_text().splitlines(keepends=True)
    (data / "providers/gcp/prices.csv").write_text("".join(kept[:2]))
    assert len(Catalog.current().quotes(providers=["gcp"], include_retired=True, include_parts=True)) == 1
    assert dict(data_folder.base_layout(EMBEDDED_LAYOUT, data).folders)["gcp"] == data / "providers/gcp"


# a plug-in


@pytest.fixture(scope="module")
def plug_in(tmp_path_factory) -> Path:
    """A folder into which a distribution made of the example was installed, as pip does it."""
    project = tmp_path_factory.mktemp("plug-in")
    package = project / "gpu_planner_lambda"
    shutil.copytree(EXAMPLE, package)
    (package / "__init__.py").touch()
    (project / "pyproject.toml").write_text("""\
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "gpu-planner-lambda"
version = "1"

[project.entry-points."gpu_planner.providers"]
lambda = "gpu_planner_lambda"
""")
    target = tmp_path_factory.mktemp("installed")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--no-build-isolation",
               "--disable-pip-version-check", "--target", str(target), str(project)]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return target


def with_plug_in(plug_in: Path, data: Path, *arguments: str, code: int = 0) -> str:
    """What a command prints, with the distributions in the folder `plug_in` installed; what it complains of, where it
    ends with another code than 0."""
    environment = {**os.environ, "PYTHONPATH": str(plug_in), "GPU_PLANNER_DATA": str(data)}
    done = subprocess.run([sys.executable, *arguments], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stderr
    return done.stderr if code else done.stdout


@pytest.mark.slow
def test_a_plug_in_holds_the_whole_folder(plug_in):
    for name in (*PROVIDER_TABLES, "sources.csv"):
        assert (plug_in / "gpu_planner_lambda" / name).read_bytes() == (EXAMPLE / name).read_bytes()


@pytest.mark.slow
def test_an_installed_plug_in_is_part_of_the_catalogue(plug_in, tmp_path):
    providers, folder, prices = json.loads(with_plug_in(plug_in, tmp_path, "-c", SEEN))
    assert (providers, folder, prices) == ([*Catalog.embedded().providers], "gpu_planner_lambda", [31.92])


@pytest.mark.slow
def test_an_own_folder_goes_before_a_plug_in(plug_in, data):
    prices = (data / "providers/lambda/prices.csv").read_text()
    (data / "providers/lambda/prices.csv").write_text(prices.replace("31.92", "30"))
    assert json.loads(with_plug_in(plug_in, data, "-c", SEEN))[1:] == ["lambda", [30.0]]


def test_a_plug_in_without_its_package_is_told(tmp_path):
    told = tmp_path / "installed/half-1.dist-info"
    told.mkdir(parents=True)
    (told / "METADATA").write_text("Metadata-Version: 2.1\nName: half\nVersion: 1\n")
    (told / "entry_points.txt").write_text("[gpu_planner.providers]\nacme = acme_prices\n")

    def planner(*arguments: str, code: int = 0) -> str:
        installed, main = tmp_path / "installed", "from planner.cli import main; main()"
        return with_plug_in(installed, tmp_path / "data", "-c", main, *arguments, code=code)

    assert "acme: the plug-in refers to the package acme_prices, which is not installed" in planner(
        "cloud", "check", code=2
    )
    (line,) = [line.split(maxsplit=5) for line in planner("cloud", "list").splitlines() if line.startswith("acme")]
    assert line == ["acme", "?", "plug-in", "-", "no", "the package acme_prices is not installed"]


@pytest.mark.slow
def test_the_commands_know_a_plug_in(plug_in, tmp_path):
    def planner(*arguments: str) -> str:
        return with_plug_in(plug_in, tmp_path, "-c", "from planner.cli import main; main()", *arguments)

    listed = planner("cloud", "list").splitlines()
    assert [line.split()[:3] for line in listed if line.startswith("lambda")] == [["lambda", "Lambda", "plug-in"]]
    for checked in (planner("cloud", "check"), planner("cloud", "check", "lambda")):
        assert checked.splitlines()[-1] == "  valid, and in use by every command"
    status = json.loads(planner("prices", "status", "--provider", "lambda", "--json"))
    assert [(each["snapshot"], each["types"], each["prices"]) for each in status["in_use"]] == [("plug-in", 16, 272)]
    offers = json.loads(planner("offers", "--provider", "lambda", "--accelerator", "GH200", "--json"))
    assert {row["price_per_hour"] for row in offers["rows"]} == {2.29}
    request = tmp_path / "job.json"
    hours = {"accelerator_hours_per_month": 730, "accelerator": "GH200-96GB"}
    workload = {"name": "job", "providers": ["lambda"], "demand": hours}
    request.write_text(
        json.dumps({"as_of": "2026-11-21", "months": 1, "strategies": ["cloud"], "workloads": [workload]})
    )
    plan = json.loads(planner("estimate", str(request), "--format", "json"))
    # 730 hours on one gpu_1x_gh200 at 2.29.
    assert plan["strategies"][0]["total_cost"] == pytest.approx(730 * 2.29)
