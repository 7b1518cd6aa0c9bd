"""A table of quotas, there and back, and reading them through an adapter."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from datetime import date
from pathlib import Path
from types import SimpleNamespace
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pricing import quota
from pricing.adapters.protocol import FetchRequest, QuotaTask, RejectedRow, SkippedRows
from pricing.adapters.retries import RetryBudget
from pricing.errors import InvalidSnapshot, ProviderFailure
from pricing.price import PurchaseKind
from pricing.quota import Quota, QuotaUnit
from pricing.refresh import account_quotas
from pricing.refresh.price_refresh import RefreshProgress

DAY = date(2026, 11, 20)
P = Quota(
    "aws", "us-east-1", "L-417A185B", "Running On-Demand P instances", "vcpu", 192.0, None, "p[0-9]*",
    "on_demand reserved savings_plan", DAY, "aws-service-quotas",
)  # fmt: skip
SPOT = replace(P, code="L-SPOT", title="All P Spot Instance Requests", limit=0.0, used=0.0, kinds="spot")

words = st.from_regex(r"[a-zA-Z0-9*\[\]_,\"' .-]{1,30}", fullmatch=True).filter(str.strip)
amounts = st.floats(0, 1e12, allow_nan=False)
some_quota = st.builds(
    Quota,
    provider=words,
    region=words,
    code=words,
    title=words,
    unit=st.sampled_from(get_args(QuotaUnit)),
    limit=amounts,
    used=st.none() | amounts,
    types=words,
    kinds=st.lists(st.sampled_from(get_args(PurchaseKind)), min_size=1, unique=True).map(" ".join),
    as_of=st.dates(),
    source_id=words,
)


def test_the_columns_are_the_fields():
    assert tuple(field.name for field in fields(Quota)) == quota.COLUMNS
    assert quota.format_quota_table([SPOT, P]).decode() == (
        "provider,region,code,title,unit,limit,used,types,kinds,as_of,source_id\n"
        "aws,us-east-1,L-417A185B,Running On-Demand P instances,vcpu,192,,p[0-9]*,"
        "on_demand reserved savings_plan,2026-11-20,aws-service-quotas\n"
        "aws,us-east-1,L-SPOT,All P Spot Instance Requests,vcpu,0,0,p[0-9]*,spot,2026-11-20,aws-service-quotas\n"
    )


@given(st.lists(some_quota, max_size=8, unique_by=lambda q: q.key))
def test_what_is_written_is_read_again(tmp_path_factory, written):
    path = tmp_path_factory.mktemp("quotas") / "quotas.csv"
    path.write_bytes(quota.format_quota_table(written))
    assert sorted(quota.read_quota_table(path), key=lambda q: q.key) == sorted(written, key=lambda q: q.key)
    assert quota.format_quota_table(quota.read_quota_table(path)) == quota.format_quota_table(reversed(written))


def test_every_fault_is_told_with_its_line(tmp_path):
    path = tmp_path / "quotas.csv"
    table = quota.format_quota_table([P, SPOT]).decode()
    table += "aws,,x,x,core,-1,few,p*,on_demnd spot,soon,mine\n"
    table += table.splitlines()[1] + "\n" + "gcp,us-central1,X,X,accelerator,,0,a3*,spot,2026-11-20,mine\n"
    path.write_text(table)
    with pytest.raises(InvalidSnapshot) as raised:
        quota.read_quota_table(path)
    place = f"{tmp_path.name}/quotas.csv"
    assert [fault.partition(", expected")[0] for fault in raised.value.faults] == [
        f"{place}:4: kinds holds on_demnd",
        f"{place}:4: limit is '-1'",
        f"{place}:4: region is empty",
        f"{place}:4: unit is 'core'",
        f"{place}:4: used is 'few'",
        f"{place}:4: as_of is 'soon'",
        f"{place}:5: the same provider, region and code as {place}:2",
        f"{place}:6: limit is empty; leave the row out where it is not known",
    ]


def test_a_file_that_is_no_table_of_quotas_is_told(tmp_path):
    with pytest.raises(InvalidSnapshot, match="the file is missing"):
        quota.read_quota_table(tmp_path / "none.csv")
    (tmp_path / "prices.csv").write_text("region,price\nhere,1\n")
    with pytest.raises(InvalidSnapshot, match="missing column provider, code"):
        quota.read_quota_table(tmp_path / "prices.csv")


@pytest.mark.parametrize(
    ("instance_type", "kind", "counted"),
    [
        ("p5.48xlarge", "on_demand", True),
        ("p5.48xlarge", "savings_plan", True),
        ("p5.48xlarge", "spot", False),
        ("g5.xlarge", "on_demand", False),
        ("pt.large", "on_demand", False),
    ],
)
def test_a_quota_says_what_it_counts(instance_type, kind, counted):
    assert P.counts(instance_type, kind) is counted


# reading


@pytest.fixture
def account(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[FetchRequest]]:
    """Has aws answer with these functions: account(name=function); gives the list of what was asked."""

    def install(**reads: Callable[[], Iterator[Quota | SkippedRows | RejectedRow]]) -> list[FetchRequest]:
        asked: list[FetchRequest] = []

        def tasks(ask: FetchRequest) -> list[QuotaTask]:
            asked.append(ask)
            return [QuotaTask(name, read) for name, read in reads.items()]

        made = SimpleNamespace(EXTRA="aws", SERVICES=(), AT_ONCE=4, quota_tasks=tasks)
        monkeypatch.setattr(account_quotas, "load_adapter", lambda name: made if name == "aws" else None)
        return asked

    return install


def read(
    data: Path, provider: str = "aws", **more: object
) -> tuple[account_quotas.AccountQuotas, list[RefreshProgress]]:
    steps: list[RefreshProgress] = []
    return account_quotas.read_account_quotas(provider, data, RetryBudget(600, 0.01), DAY, steps.append, **more), steps


def test_what_every_task_reads_is_told_in_order(account, tmp_path):
    west = replace(P, region="us-west-2")
    asked = account(
        west=lambda: iter([west, SkippedRows("quotas of other things", 3)]),
        east=lambda: iter(
            [SPOT, P, SkippedRows("quotas of other things"), RejectedRow("aws us-east-1 L-0", "no value")]
        ),
    )
    found, steps = read(tmp_path, regions=("us-east-1", "us-west-2"))
    assert found.quotas == (P, SPOT, west)
    assert found.left == {"quotas of other things": 4}
    assert found.refused == (RejectedRow("aws us-east-1 L-0", "no value"),)
    assert found.troubles == ()
    assert asked[0].regions == ("us-east-1", "us-west-2")
    assert sorted((step.task, step.rows) for step in steps if step.total) == [("east", 4), ("west", 2)]


def test_a_task_that_fails_costs_no_other(account, tmp_path):
    def half() -> Iterator[Quota]:
        yield SPOT
        raise ProviderFailure("denied", "servicequotas:ListServiceQuotas")

    account(half=half, whole=lambda: iter([P]))
    found, _ = read(tmp_path)
    assert found.quotas == (P,)
    assert [(t.task, t.failed.kind) for t in found.troubles] == [("half", "denied")]


def test_two_answers_to_one_question_are_no_answer(account, tmp_path):
    account(one=lambda: iter([P, SPOT]), two=lambda: iter([replace(P, limit=96.0), SPOT]))
    found, _ = read(tmp_path)
    assert found.quotas == (SPOT,)
    assert [refused.subject for refused in found.refused] == ["aws us-east-1 L-417A185B"]


def test_what_fails_before_the_first_task_is_told(account, tmp_path, monkeypatch):
    account()

    def no_account(_: FetchRequest) -> list[QuotaTask]:
        raise ProviderFailure("no_credentials", "none were found")

    adapter = SimpleNamespace(AT_ONCE=1, quota_tasks=no_account)
    monkeypatch.setattr(account_quotas, "load_adapter", lambda name: adapter if name == "aws" else None)
    found, _ = read(tmp_path)
    assert [t.failed.kind for t in found.troubles] == ["no_credentials"]
    found, _ = read(tmp_path, "acme")
    assert "write its quotas by hand" in str(found.troubles[0].failed)
