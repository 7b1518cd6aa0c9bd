"""What AWS does when it does not answer as hoped, through the real clients; and the rights that the guide asks for."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path

import pytest

from pricing.errors import ProviderFailure
from pricing.offering import Offering
from pricing.price import Price
from pricing.providers.aws import fetch
from pricing.providers.aws.clients import call_limit_s

REGION = "us-east-1"
GUIDE = Path(__file__).parents[4] / "docs" / "guides" / "access-aws.md"
ERROR = (
    "<Response><Errors><Error><Code>{}</Code><Message>{}</Message></Error></Errors><RequestID>1</RequestID></Response>"
)


BLOCK = {
    "instanceType": "p5.48xlarge",
    "capacityBlockDurationHours": 24,
    "instanceCount": 1,
    "upfrontFee": "996.672",  # 24 x 41.528
    "currencyCode": "USD",
    "availabilityZone": "us-east-1a",
}
LONG_WAIT = {"Retry-After": "3600"}
"""Longer than the time that is left: the failure is told at once, however slow this machine is."""


def failure(kit, code: str, status: int, message: str = "no", **headers: str):
    return kit.Answer(ERROR.format(code, message), status, {"Content-Type": "text/xml", **headers})


def json_failure(kit, code: str, status: int):
    body = json.dumps({"__type": code, "message": "no"})
    return kit.Answer(body, status, {"Content-Type": "application/x-amz-json-1.1", **LONG_WAIT})


def is_types(request) -> bool:
    return b"Action=DescribeInstanceTypes&" in request.body


def read_failed(running, name: str = "types") -> ProviderFailure:
    with pytest.raises(ProviderFailure) as caught:
        running.read(name)
    return caught.value


@pytest.mark.one_in(6)
@pytest.mark.parametrize("times", [1, 3])
@pytest.mark.parametrize(
    ("code", "status"), [("RequestLimitExceeded", 503), ("Throttling", 400), ("InternalError", 500)]
)
def test_what_passes_is_waited_out(aws, kit, code, status, times):
    running = aws()
    running.cloud.faults.append(kit.Fault(failure(kit, code, status), times=times, where=is_types))
    assert running.read("types")
    assert sum(map(is_types, running.cloud.seen)) == times + 1, "the SDK itself does not try again"


@pytest.mark.one_in(5)
@pytest.mark.parametrize(
    ("code", "status", "kind"),
    [
        ("RequestLimitExceeded", 503, "throttled"),
        ("Throttling", 400, "throttled"),
        ("InternalError", 500, "server_error"),
        ("Unavailable", 503, "server_error"),
        ("UnauthorizedOperation", 403, "denied"),
        ("AuthFailure", 401, "no_credentials"),
        ("RequestExpired", 400, "no_credentials"),
        ("ExpiredToken", 400, "no_credentials"),
        ("OptInRequired", 403, "denied"),
        ("InvalidParameterValue", 400, "changed_format"),
    ],
)
def test_what_does_not_pass_is_told_with_the_clouds_own_words(aws, kit, code, status, kind):
    running = aws()
    answer = failure(kit, code, status, "not today", **LONG_WAIT)
    running.cloud.faults.append(kit.Fault(answer, times=999, where=is_types))
    failed = read_failed(running)
    assert failed.kind == kind
    assert failed.detail == f"ec2 describe_instance_types of us-east-1: {code} not today"


def test_a_wait_that_the_server_asks_for_is_kept_to(aws, kit):
    running = aws()
    fault = failure(kit, "RequestLimitExceeded", 503, "slow", **{"Retry-After": "1"})
    running.cloud.faults.append(kit.Fault(fault, where=is_types))
    begun = time.monotonic()
    assert running.read("types")
    assert time.monotonic() - begun >= 1


def test_json_services_mean_the_same(aws, kit):
    for code, status, kind in (
        ("AccessDeniedException", 400, "denied"),
        ("ThrottlingException", 400, "throttled"),
        ("ExpiredTokenException", 400, "no_credentials"),
        ("UnrecognizedClientException", 400, "no_credentials"),
    ):
        running = aws()
        running.cloud.faults.append(kit.Fault(json_failure(kit, code, status), times=999))
        with pytest.raises(ProviderFailure) as caught:
            list(running.clients.pages("pricing", "get_products", REGION, "PriceList", ServiceCode="AmazonEC2"))
        assert caught.value.kind == kind, code


def test_half_a_page_is_read_again_and_never_taken_for_a_whole_one(aws, kit):
    running = aws()
    running.cloud.faults.append(kit.Fault(half=True, times=2, where=is_types))
    assert len([r for r in running.read("types") if isinstance(r, Offering)]) == 2
    running = aws(again=False)
    running.cloud.faults.append(kit.Fault(half=True, times=999))
    assert read_failed(running).kind in {"unreachable", "server_error"}


def test_half_of_a_later_page_drops_the_whole_task(aws, account, kit):
    account.products = [account.products[0], account.products[0]]
    running = aws(again=False)
    second = kit.Fault(half=True, times=999, where=lambda r: b'"NextToken"' in r.body)
    running.cloud.faults.append(second)
    assert read_failed(running, "list prices").kind in {"unreachable", "server_error"}


def test_an_answer_that_is_no_answer(aws, kit):
    running = aws(again=False)
    running.cloud.faults.append(
        kit.Fault(kit.Answer("<html>busy</html>", 500, {"Content-Type": "text/html"}), times=999)
    )
    assert read_failed(running).kind == "server_error"


def test_a_field_of_another_name_is_told(aws, account):
    account.products = [[text.replace('"usagetype"', '"usageType"') for text in account.products[0]]]
    failed = read_failed(aws(), "list prices")
    assert failed.kind == "changed_format"
    assert "a product without 'usagetype'" in failed.detail


def test_the_same_page_for_ever_is_told(aws, kit):
    running = aws()
    page = json.dumps({"FormatVersion": "aws_v1", "PriceList": [], "NextToken": "x"})
    answer = kit.Answer(page, headers={"Content-Type": "application/x-amz-json-1.1"})
    running.cloud.faults.append(kit.Fault(answer, times=999))
    assert "the same NextToken came twice" in read_failed(running, "list prices").detail


def test_a_call_that_takes_too_long_and_a_limit_for_all(aws, kit):
    running = aws(seconds=0.6)
    running.cloud.faults.append(kit.Fault(wait_s=900, times=999, where=is_types))
    begun = time.monotonic()
    assert read_failed(running).kind in {"unreachable", "timed_out"}
    assert time.monotonic() - begun < 600


def test_no_call_may_take_longer_than_is_left():
    for tenths in range(2, 6000):
        assert 0.1 <= call_limit_s(tenths / 10) <= tenths / 10
    assert call_limit_s(600) == 30
    assert call_limit_s(29) == 15, "one client serves many calls: its limit is a step, not the time to the moment"
    assert 0 < call_limit_s(0) <= 0.1


def test_the_limit_of_a_call_follows_the_time_that_is_left(aws, kit):
    """The first answer takes 2 of 4 seconds; the second takes 900, and is waited for no longer than was left."""
    running = aws(seconds=4)
    first = kit.Fault(wait_s=2, where=lambda r: b"DescribeInstanceTypeOfferings" in r.body)
    never = kit.Fault(wait_s=900, times=9, where=is_types)
    running.cloud.faults += [first, never]
    begun = time.monotonic()
    assert read_failed(running).kind in {"unreachable", "timed_out"}
    assert time.monotonic() - begun < 600


def test_an_interruption_ends_every_wait(aws):
    running = aws()
    running.ask.patience.stop.set()
    assert read_failed(running).kind == "interrupted"
    assert running.cloud.seen == []


def test_nobody_there(ask):
    made = ask("aws", {"ec2": "http://127.0.0.1:9"}, (REGION,), again=False)
    with pytest.raises(ProviderFailure) as caught:
        next(iter(fetch.tasks(made))).read().__next__()
    assert caught.value.kind == "unreachable"


def test_plain_http_is_for_this_machine_only(ask):
    made = ask("aws", {"ec2": "http://prices.example"}, (REGION,))
    with pytest.raises(ProviderFailure, match=r"plain http is only allowed to this machine, not to prices\.example"):
        next(iter(fetch.tasks(made))).read().__next__()


def test_no_key_of_the_reader_goes_to_an_address_of_plain_http(aws, monkeypatch):
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "the-readers-own")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    monkeypatch.setenv("AWS_SESSION_TOKEN", "token-of-the-reader")
    running = aws()
    assert running.read("types")
    sent = [str(r.headers) + r.body.decode() for r in running.cloud.seen]
    assert sent
    assert not [text for text in sent if "the-readers-own" in text or "token-of-the-reader" in text]


def test_without_credentials_it_says_so(ask):
    """Over https, which signs with the reader's keys: there are none here, and nothing is connected."""
    made = ask("aws", {"ec2": "https://127.0.0.1:9"}, (REGION,))
    with pytest.raises(ProviderFailure) as caught:
        next(iter(fetch.tasks(made))).read().__next__()
    assert caught.value.kind == "no_credentials"


def test_without_the_sdk_it_says_how_to_get_it(ask, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "boto3", None)
    with pytest.raises(ProviderFailure, match=r"no sdk: pip install 'gpu-planner\[aws\]'"):
        next(iter(fetch.tasks(ask("aws", {}, (REGION,))))).read().__next__()


def test_a_right_that_is_missing_costs_no_other(aws, kit):
    running = aws()
    denied = failure(kit, "UnauthorizedOperation", 403)
    running.cloud.faults.append(kit.Fault(denied, times=999, where=lambda r: b"DescribeSpotPriceHistory" in r.body))
    assert read_failed(running, "spot").kind == "denied"
    assert [r for r in running.read("list prices") if isinstance(r, Price)]


def test_a_type_that_is_sold_in_no_block_here_costs_no_other(aws, account, kit):
    """EC2 refuses to be asked for a block of a type that the region does not sell in blocks."""
    account.blocks = {("p5.48xlarge", 24): [BLOCK]}
    running = aws()
    answer = failure(kit, "InvalidParameterValue", 400, "not sold in blocks here")
    running.cloud.faults.append(kit.Fault(answer, times=9, where=lambda r: b"InstanceType=p4d" in r.body))
    refused, price, _ = running.read("capacity blocks")
    assert refused.key == ("aws", REGION, "p4d.24xlarge", "capacity_block")
    assert refused.reason.endswith("InvalidParameterValue not sold in blocks here")
    assert price.price_per_hour == pytest.approx(41.528)


def test_prices_land_where_types_may_not_be_described(aws, kit):
    running = aws()
    running.cloud.faults.append(kit.Fault(failure(kit, "UnauthorizedOperation", 403), times=999, where=is_types))
    assert len([r for r in running.read("list prices") if isinstance(r, Price)]) == 2


def test_the_guide_lists_exactly_the_rights_that_are_used(aws, account):
    running = aws(regions=())
    account.types = ["p5.48xlarge"]
    for task in fetch.tasks(running.ask):
        list(task.read())
    for task in fetch.quota_tasks(running.ask):
        list(task.read())
    used = set()
    for request in running.cloud.seen:
        target = request.headers.get("X-Amz-Target", "")
        if target:
            service = {"AWSPriceListService": "pricing", "ServiceQuotasV20190624": "servicequotas"}
            used.add(f"{service[target.partition('.')[0]]}:{target.partition('.')[2]}")
        elif request.path != "/":
            used.add(f"savingsplans:{request.path[1:]}")
        else:
            used.add(f"ec2:{request.form['Action']}")
    policy = json.loads(re.search(r"```json\n(.*?)```", GUIDE.read_text(), re.DOTALL)[1])
    (statement,) = policy["Statement"]
    assert statement["Effect"] == "Allow"
    assert set(statement["Action"]) == used
