"""A cloud of one's own at every door: it is there, it is planned with, and its faults are told; `planner cloud`."""

from __future__ import annotations

import json
import shutil
import threading
import time
from pathlib import Path

import httpx
import pytest
import uvicorn

from planner.service import ServiceLimits
from planner.service.app import create

EXAMPLE = Path(__file__).parents[2] / "examples/own-cloud/lambda"
GH200 = {
    "as_of": "2026-11-21",
    "months": 2,
    "strategies": ["cloud"],
    "workloads": [
        {
            "name": "job",
            "providers": ["lambda"],
            "demand": {"accelerator_hours_per_month": 2190, "accelerator": "GH200-96GB"},
        }
    ],
}


@pytest.fixture(autouse=True)
def data(tmp_path, monkeypatch) -> Path:
    """A data folder of this test alone."""
    monkeypatch.setenv("GPU_PLANNER_DATA", str(tmp_path / "data"))
    return tmp_path / "data"


@pytest.fixture
def own(data) -> Path:
    """The example, in use."""
    return Path(shutil.copytree(EXAMPLE, data / "providers/lambda"))


@pytest.fixture
def faulty(own) -> Path:
    table = own / "prices.csv"
    table.write_text(table.read_text().replace("on_demand", "by_demand", 1).replace("2026-05-07", "May", 2))
    return own


@pytest.fixture
def service():
    """A client of a service that was started with the data folder of this test."""
    server = uvicorn.Server(
        uvicorn.Config(create(ServiceLimits(workers=0, seconds=600)), port=0, log_config=None, ws="none")
    )
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started and thread.is_alive():
        time.sleep(0.01)
    with httpx.Client(
        base_url=f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}", timeout=600
    ) as client:
        yield client
    server.should_exit = True
    thread.join()


@pytest.mark.usefixtures("own")
def test_it_is_offered_and_told_of(planner):
    ran = planner("offers", "--provider", "Lambda", "--accelerator", "B200", "--count", "8", "--json")
    assert {row["price_per_hour"] for row in json.loads(ran.out)["rows"]} == {53.52}
    (used,) = json.loads(planner("prices", "status", "--provider", "lambda", "--json").out)["in_use"]
    assert (used["snapshot"], used["prices"], used["newest"]) == ("own", 272, "2026-05-07")
    assert "lambda" in planner("doctor").out or planner("doctor").code == 0


@pytest.mark.usefixtures("own")
def test_it_is_planned_with_and_the_terraform_says_what_it_leaves_out(planner, tmp_path):
    (tmp_path / "job.json").write_text(json.dumps(GH200))
    ran = planner("estimate", "job.json", "-o", "plan.json", "-o", "terraform/")
    assert ran.code == 0, ran.err
    plan = json.loads((tmp_path / "plan.json").read_text())
    # 2,190 hours a month on gpu_1x_gh200 at 2.29 for two months: 3 nodes, 2 x 2,190 x 2.29 = 10,030.20.
    assert plan["strategies"][0]["total_cost"] == pytest.approx(10_030.20)
    sources = {price["source_id"] for price in plan["prices"] if price["instance_type"] == "gpu_1x_gh200"}
    assert sources == {"skypilot-lambda-v8"}
    readme = (tmp_path / "terraform/README.md").read_text()
    assert "there are no modules for lambda" in readme
    assert not list((tmp_path / "terraform").rglob("*.tf"))


@pytest.mark.slow
@pytest.mark.usefixtures("own")
def test_it_is_served(service):
    rows = service.get("/offers", params={"provider": "lambda", "accelerator": "GH200"}).json()["rows"]
    assert len(rows) == 17
    covered = service.get("/catalog").json()["coverage"]
    assert "lambda" in {line["provider"] for line in covered}
    answer = service.post("/plan", json=GH200)
    assert answer.status_code == 200, answer.text
    assert answer.json()["strategies"][0]["total_cost"] == pytest.approx(10_030.20)


FAULTS = [
    "lambda/prices.csv:2: purchase_option 'by_demand' is none that can be read",
    "lambda/prices.csv:3: as_of is 'May', expected a date such as 2026-07-20",
]


@pytest.mark.one_in(7)
@pytest.mark.usefixtures("faulty")
@pytest.mark.parametrize(
    "command",
    [
        ("offers",),
        ("prices", "status"),
        ("prices", "diff", "embedded", "current"),
        ("quota", "--provider", "aws"),
        ("serve", "--port", "0"),
        ("cloud", "check"),
        ("estimate", "job.json"),
    ],
    ids=" ".join,
)
def test_its_faults_end_every_command_and_say_how_to_go_on(planner, tmp_path, data, command):
    (tmp_path / "job.json").write_text(json.dumps(GH200))
    ran = planner(*command)
    assert ran.code == 2
    lines = ran.err.splitlines()
    assert [line.strip() for line in lines if "prices.csv:" in line] == FAULTS
    assert lines[-1] == f"  to continue without lambda: mv '{data}/providers/lambda' '{data}/lambda.aside'"
    assert "Traceback" not in ran.err


def test_to_set_it_aside_is_enough(planner, faulty, data):
    assert planner("offers", "--limit", "1").code == 2
    faulty.rename(data / "lambda.aside")
    assert planner("offers", "--limit", "1").code == 0


@pytest.mark.slow
def test_faults_that_come_while_it_is_served_are_no_bug(service, own):
    assert service.get("/offers", params={"provider": "lambda", "limit": 1}).status_code == 200
    shutil.copytree(own, own.with_name("copy"))  # two folders of one name in provider.toml
    for answer in (service.get("/catalog"), service.post("/plan", json=GH200)):
        assert answer.status_code == 503
        assert answer.json()["type"] == "urn:gpu-planner:problem:unreadable-prices"
        assert answer.json()["errors"][0]["message"] == "name is 'lambda', expected 'copy', the folder's"
    shutil.rmtree(own.with_name("copy"))
    assert service.post("/plan", json=GH200).status_code == 200


# planner cloud


@pytest.mark.slow
def test_a_new_cloud_is_an_empty_folder_that_is_right(planner, data):
    ran = planner("cloud", "new", "acme", "--title", 'Acme "A"', "--currency", "EUR")
    assert ran.code == 0, ran.err
    folder = data / "providers/acme"
    assert sorted(path.name for path in folder.iterdir()) == [
        "README.md", "offerings.csv", "prices.csv", "provider.toml", "regions.csv", "sources.csv", "tiers.csv",
    ]  # fmt: skip
    readme = (folder / "README.md").read_text()
    for table in folder.glob("*.csv"):
        assert table.name in readme
        assert ", ".join(table.read_text().strip().split(",")) in readme
    assert sorted(path.name for path in data.iterdir()) == ["providers"]
    checked = planner("cloud", "check", "acme")
    assert checked.code == 0, checked.err
    assert checked.out.startswith(f'acme: Acme "A", {folder}\n  0 regions\n')
    assert planner("offers", "--limit", "1").code == 0


def test_nothing_is_overwritten(planner, own):
    before = {path: path.read_bytes() for path in own.iterdir()}
    for name in ("lambda", "aws", "../acme", "Acme"):
        ran = planner("cloud", "new", name, "--currency", "euro")
        assert ran.code == 2
        assert len(ran.err.splitlines()) == 3, "the name and the currency, both told"
    assert {path: path.read_bytes() for path in own.iterdir()} == before


@pytest.mark.usefixtures("own")
def test_a_check_tells_what_is_there_and_what_is_not(planner, data):
    for ran in (planner("cloud", "check"), planner("cloud", "check", "lambda")):
        assert ran.code == 0, ran.err
        assert ran.out.splitlines() == [
            f"lambda: Lambda, {data}/providers/lambda",
            "  17 regions; 6 without a country, which residency rules exclude",
            "  16 types with 9 accelerators",
            "  272 prices: on_demand 272, of 2026-05-07",
            "  no price of block_storage, egress_internet, object_storage, transfer_inter_region",
            "  valid, and in use by every command",
        ]
    unknown = planner("cloud", "check", "lamda")
    assert unknown.code == 2
    assert unknown.err.rstrip().endswith("expected nearest: lambda")


def test_a_folder_elsewhere_can_be_checked(planner, data):
    ran = planner("cloud", "check", str(EXAMPLE))
    assert ran.code == 0, ran.err
    assert ran.out.splitlines()[-1] == f"  valid; to use it, copy it to {data}/providers/lambda"
    assert planner("cloud", "check").out.startswith("no cloud of your own in ")


def test_a_folder_that_no_command_takes_for_a_provider_is_told(planner, own, data):
    (own / "provider.toml").unlink()
    (data / "providers/notes.txt").touch()
    (data / "providers/.hidden").mkdir()
    assert planner("offers", "--limit", "1").code == 0
    ran = planner("cloud", "check")
    assert ran.code == 2
    (fault,) = ran.err.splitlines()[1:]
    assert fault == "  lambda/provider.toml: the file is missing, so every command ignores the folder"
    by_name = planner("cloud", "check", "lambda")
    assert by_name.code == 2
    assert "lambda/provider.toml: cannot be read" in by_name.err


def test_what_is_shipped_can_be_checked(planner):
    ran = planner("cloud", "check", "gcp")
    assert ran.code == 0, ran.err
    assert ran.out.startswith("gcp: Google Cloud, ")
    assert ran.out.endswith("valid, and in use by every command\n")
    assert planner("cloud", "check", "").code == 2


def test_two_sources_of_one_name_are_a_fault(planner, own, data):
    other = Path(shutil.copytree(own, data / "providers/other"))
    for name, before, after in (("provider.toml", '"lambda"', '"other"'), ("sources.csv", "vms.csv", "others.csv")):
        (other / name).write_text((other / name).read_text().replace(before, after))
    ran = planner("cloud", "check", "other")
    assert ran.code == 2
    assert "other/sources.csv: 'skypilot-lambda-v8' is another elsewhere" in ran.err


@pytest.mark.usefixtures("own")
def test_the_list_says_where_each_comes_from(planner, data):
    head, *lines = planner("cloud", "list").out.splitlines()
    assert head.split()[:3] == ["provider", "title", "origin"]
    assert [line.split()[0] for line in lines] == ["aws", "azure", "gcp", "hyperstack", "lambda", "nebius", "verda"]
    assert [line.split()[0] for line in lines if "embedded, on request" in line] == ["hyperstack", "nebius", "verda"]
    (lambda_,) = [line for line in lines if line.startswith("lambda")]
    assert lambda_.split() == ["lambda", "Lambda", "own", "-", "import", "only", f"{data}/providers/lambda"]
