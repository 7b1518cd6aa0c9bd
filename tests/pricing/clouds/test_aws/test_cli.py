"""`planner prices refresh`, as its user meets it: what lands, what is told, what stays when something goes wrong."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from threading import Event
from types import SimpleNamespace

import pytest

from planner.cli._exit_codes import run
from pricing.catalog.price_catalog import Catalog

REGION = "us-east-1"
P5 = ("aws", REGION, "p5.48xlarge", "on_demand")


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GPU_PLANNER_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "data"


@pytest.fixture
def planner(capfd) -> Callable[..., SimpleNamespace]:
    def invoke(*arguments: str) -> SimpleNamespace:
        code = run(arguments)
        sys.stdout.flush()
        out, err = capfd.readouterr()
        return SimpleNamespace(code=code, out=out, err=err)

    return invoke


def in_use(key: tuple[str, str, str, str] = P5) -> float:
    return next(q.price.price_per_hour for q in Catalog.current().quotes(instance_types=[key[2]]) if q.price.key == key)


def cheaper(account, amount: str = "50.00") -> None:
    account.products = [[text.replace("55.0400000000", amount) for text in account.products[0]]]


def test_a_refresh_lands_and_every_command_uses_it(planner, refresh, aws, account):
    cheaper(account)
    url = aws().cloud.url
    done = planner(*refresh(url))
    assert done.code == 0, done.err
    assert re.search(r"^aws: \d{4}-\d\d-\d\d-001, ", done.out)
    assert "2 prices read: 0 new, 1 moved" in done.out
    assert in_use() == 50.0
    offers = planner("offers", "--type", "p5.48xlarge", "--region", REGION, "--option", "on_demand")
    assert "50.0000" in offers.out
    assert "aws-price-list." in offers.out, "the source, with the day it was read"
    told = planner("prices", "diff", "embedded", "current", "--provider", "aws")
    assert told.code == 0
    assert "p5.48xlarge" in told.out
    assert "planner prices refresh" in planner("prices", "status").out
    assert "55.04" in planner("prices", "history", "p5.48xlarge", "--region", REGION, "--option", "on_demand").out
    again = planner(*refresh(url))
    assert (again.code, "unchanged" in again.out) == (0, True)


@pytest.mark.slow
def test_what_vanished_from_a_thin_answer_is_kept_and_told(planner, refresh, aws):
    """The replayed list has two types of the twenty families known: most rows would vanish, so none does."""
    before = len(Catalog.embedded().quotes())
    done = planner(*refresh(aws().cloud.url))
    assert "in quarantine, their previous prices stay in use" in done.out
    assert "the old ones stay" in done.out
    assert len(Catalog.current().quotes()) >= before


@pytest.mark.slow
def test_what_the_cloud_tells_of_sale_is_in_offers_with_its_date(planner, refresh, aws, account):
    """The tables say that P4d is sold as spot everywhere, and in blocks in three regions of the United States."""
    account.classes = ["on-demand"]
    done = planner(*refresh(aws().cloud.url))
    assert done.code == 0, done.err
    assert "terms of sale that differ from the tables, as the provider tells them" in done.out
    words = ("offers", "--provider", "aws", "--type", "p4d.24xlarge", "--region", REGION, "--json")
    told = {row["purchase_option"]: row for row in json.loads(planner(*words).out)["rows"]}
    assert {told[option]["sale"] for option in ("spot", "capacity_block")} == {"not_sold"}
    assert re.fullmatch(
        r"EC2 DescribeInstanceTypes, SupportedUsageClasses, \d{4}-\d\d-\d\d", told["spot"]["sale_source"]
    )
    account.classes = ["on-demand", "spot", "capacity-block"]
    assert planner(*refresh(aws().cloud.url)).code == 0
    told = {row["purchase_option"]: row for row in json.loads(planner(*words).out)["rows"]}
    assert told["spot"]["sale"] == "confirmed", "as the tables have it: nothing is told against it any more"


@pytest.mark.slow
def test_a_part_that_is_denied_is_named_and_the_rest_lands(planner, refresh, aws, account, kit):
    cheaper(account)
    running = aws()
    answer = kit.Answer(
        "<Response><Errors><Error><Code>UnauthorizedOperation</Code><Message>You are not authorized</Message></Error>"
        "</Errors></Response>",
        403,
        {"Content-Type": "text/xml"},
    )
    running.cloud.faults.append(kit.Fault(answer, times=99, where=lambda r: b"DescribeSpotPriceHistory" in r.body))
    done = planner(*refresh(running.cloud.url))
    assert done.code == 4
    assert "spot in us-east-1: denied: ec2 describe_spot_price_history of us-east-1: UnauthorizedOperation" in done.err
    assert "docs/guides/access-aws.md" in done.err
    assert in_use() == 50.0
    assert in_use((*P5[:3], "spot")) == 19.2531, "the old level, of its own date"


@pytest.mark.slow
def test_another_provider_that_cannot_be_reached_costs_this_one_nothing(planner, refresh, aws, account):
    cheaper(account)
    words = refresh(aws().cloud.url)
    words[words.index("aws")] = "aws,gcp"
    words[words.index(REGION)] = f"{REGION},us-central1"
    dead = [w for s in ("cloudbilling", "compute", "tpu") for w in ("--endpoint", f"gcp.{s}=http://127.0.0.1:9")]
    done = planner(*words, *dead, "--time-limit", "3")
    assert done.code == 4
    assert "gcp: not refreshed, the last good snapshot stays in use" in done.out
    assert "planner: gcp:" in done.err
    assert "Traceback" not in done.err
    assert in_use() == 50.0


def test_an_expired_credential_changes_nothing(planner, refresh, aws, account, kit):
    cheaper(account)
    running = aws()
    expired = kit.Answer('{"__type":"ExpiredTokenException","message":"expired"}', 400)
    running.cloud.faults.append(kit.Fault(expired, times=999))
    done = planner(*refresh(running.cloud.url, "--time-limit", "2"))
    assert done.code == 4
    assert "no credentials" in done.err
    assert in_use() == 55.04


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--provider", "ibm"], "unknown provider"),
        (["--regions", "us-eest-1"], "unknown region"),
        (["--endpoint", "aws.s3=https://x"], "no service of aws"),
        (["--endpoint", "nonsense"], "no address"),
        (["--accept", "p5*"], "a pattern needs a reason"),
        (["--time-limit", "0"], "time-limit"),
    ],
)
def test_asked_wrongly(planner, words, said):
    done = planner("prices", "refresh", *words)
    assert done.code == 2
    assert said in done.err


def is_spot(request) -> bool:
    return b"DescribeSpotPriceHistory" in request.body


def slow(aws, kit) -> SimpleNamespace:
    """An account whose spot prices come once `may_answer` is set."""
    running = aws()
    running.may_answer = Event()
    running.cloud.faults.append(kit.Fault(until=running.may_answer, times=1, where=is_spot))
    return running


def wait_for(condition: Callable[[], bool]) -> None:
    for _ in range(6000):
        if condition():
            return
        time.sleep(0.05)
    pytest.fail("it did not begin within 300 s")


@pytest.mark.one_in(2)
@pytest.mark.parametrize(("sent", "code"), [(signal.SIGKILL, -signal.SIGKILL), (signal.SIGINT, 130)])
def test_a_refresh_that_is_ended_in_the_middle_leaves_the_last_good_snapshot(
    refresh, aws, account, kit, data, sent, code
):
    cheaper(account)
    running = slow(aws, kit)
    command = [Path(sys.executable).with_name("planner"), *refresh(running.cloud.url)]
    process = subprocess.Popen(  # the signal may be ignored where this runs in the background
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # noqa: PLW1509
    )
    wait_for(lambda: any(map(is_spot, running.cloud.seen)))
    process.send_signal(sent)
    running.may_answer.set()  # too late: what the process hears first is the signal
    _, err = process.communicate(timeout=300)
    assert process.returncode == code, err.decode()
    assert b"Traceback" not in err
    assert in_use() == 55.04
    assert not list((data / "snapshots" / "aws").glob("20*"))


@pytest.mark.slow
def test_two_refreshes_at_once(planner, refresh, aws, account, kit):
    cheaper(account)
    running = slow(aws, kit)
    command = [Path(sys.executable).with_name("planner"), *refresh(running.cloud.url)]
    first = subprocess.Popen(command, stdout=subprocess.PIPE)
    wait_for(lambda: any(map(is_spot, running.cloud.seen)))
    second = planner(*refresh(running.cloud.url))
    assert second.code == 4
    assert "busy: another refresh or import of aws is at work" in second.err
    running.may_answer.set()
    first.communicate(timeout=300)
    assert first.returncode == 0
    assert in_use() == 50.0
