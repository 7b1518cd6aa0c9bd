"""A refresh around an adapter: tasks side by side, what fails, what is interrupted, how much is kept in memory.

The adapter here is the test's own, so that every fault can be had; those of the clouds are under `clouds/`.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from types import SimpleNamespace

import pytest

from pricing.adapters.protocol import CoveredScope, FetchRequest, FetchTask, PriceReading, RejectedRow, SkippedRows
from pricing.adapters.retries import RetryBudget
from pricing.catalog import data_folder
from pricing.errors import ProviderFailure
from pricing.price import Price, parse_purchase_option
from pricing.refresh import price_refresh
from pricing.refresh.price_refresh import ReadingBatch, RefreshProgress
from pricing.regions import Source

DAY = date(2026, 11, 21)


def price(region: str, per_hour: float, instance_type: str = "p5.48xlarge") -> Price:
    option = parse_purchase_option("on_demand")
    assert option is not None
    return Price("aws", region, instance_type, "on_demand", *option, per_hour, "USD", DAY, "made", "listed", "")


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GPU_PLANNER_DATA", str(tmp_path / "data"))
    return tmp_path / "data"


@pytest.fixture
def adapter(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[FetchRequest]]:
    """Has aws read by these functions instead: adapter(name=function); gives the list of what was asked."""

    def install(at_once: int = 4, **reads: Callable[[], Iterator[PriceReading]]) -> list[FetchRequest]:
        asked: list[FetchRequest] = []

        def tasks(ask: FetchRequest) -> list[FetchTask]:
            asked.append(ask)
            return [FetchTask(name, read) for name, read in reads.items()]

        made = SimpleNamespace(
            EXTRA="aws",
            SERVICES=(),
            AT_ONCE=at_once,
            tasks=tasks,
            sources=lambda day: (Source("made", "a test", day, "prices"),),
        )
        monkeypatch.setattr(price_refresh, "load_adapter", lambda _: made)
        return asked

    return install


def run(data: Path, **more: object) -> tuple[price_refresh.RefreshOutcome, list[RefreshProgress]]:
    steps: list[RefreshProgress] = []
    return price_refresh.refresh_provider("aws", data, RetryBudget(600, 0.01), DAY, steps.append, **more), steps


def test_every_task_is_read_and_told(data, adapter):
    asked = adapter(
        one=lambda: iter(
            [price("us-east-1", 55.0), SkippedRows("Windows", 3), CoveredScope("us-east-1", "spot", "no family")]
        ),
        two=lambda: iter([price("us-east-2", 54.0), SkippedRows("Windows")]),
    )
    outcome, steps = run(data, regions=("us-east-1", "us-east-2"))
    assert outcome.troubles == ()
    assert (outcome.landed.read, outcome.landed.moved, outcome.landed.left) == (2, 2, {"Windows": 4})
    assert asked[0].regions == ("us-east-1", "us-east-2")
    assert asked[0].known["p5.48xlarge"].accelerator == "H100-80GB-SXM"
    assert sorted((s.task, s.done, s.total) for s in steps if s.total) in (
        [("one", 1, 2), ("two", 2, 2)],
        [("one", 2, 2), ("two", 1, 2)],
    )


def test_a_task_that_fails_keeps_what_was_known_and_the_others_land(data, adapter):
    def half() -> Iterator[PriceReading]:
        yield price("us-east-1", 51.0)
        raise ProviderFailure("denied", "not allowed to read the rest")

    adapter(half=half, whole=lambda: iter([price("us-east-2", 54.0)]))
    outcome, _ = run(data)
    (trouble,) = outcome.troubles
    assert (trouble.task, trouble.failed.kind) == ("half", "denied")
    prices = {p.region: p for p in _in_use(data) if p.instance_type == "p5.48xlarge" and p.kind == "on_demand"}
    assert prices["us-east-2"].price_per_hour == 54.0
    assert prices["us-east-1"].price_per_hour == 55.04, "the half that was read is not taken"


def _in_use(data: Path) -> tuple[Price, ...]:
    from pricing.catalog.price_catalog import EMBEDDED_LAYOUT
    from pricing.catalog.snapshot_tables import read_snapshot

    return read_snapshot(data_folder.current_layout(EMBEDDED_LAYOUT, data)).prices


@pytest.mark.parametrize("error", [KeyError("retailPrice"), TypeError("no number"), RuntimeError("abc")])
def test_an_answer_in_another_form_is_told_with_what_was_missing(data, adapter, error):
    def read() -> Iterator[PriceReading]:
        raise error
        yield

    adapter(prices=read)
    outcome, _ = run(data)
    assert outcome.landed is None
    assert outcome.troubles[0].failed.kind == "changed_format"
    assert str(error) in outcome.troubles[0].failed.detail


def test_nothing_read_lands_nothing(data, adapter):
    adapter(prices=lambda: iter([SkippedRows("Windows", 5)]))
    outcome, _ = run(data)
    assert outcome.landed is None
    assert "no price was read at all" in str(outcome.troubles[0].failed)
    assert [p.name for p in (data / "snapshots" / "aws").iterdir()] == [".lock"]


@pytest.mark.slow
def test_two_rows_that_disagree_are_both_refused_and_the_old_price_stays(data, adapter):
    adapter(
        one=lambda: iter([price("us-east-1", 55.0), price("us-east-2", 54.0)]),
        two=lambda: iter([price("us-east-1", 56.0)]),
    )
    outcome, _ = run(data)
    (held,) = outcome.landed.held
    assert held.subject == "aws us-east-1 p5.48xlarge on_demand"
    assert "two rows state" in held.reason
    assert next(p for p in _in_use(data) if p.key == price("us-east-1", 0).key).price_per_hour == 55.04


def test_ctrl_c_stops_every_task_and_lands_nothing(data, adapter):
    started = threading.Barrier(3)
    patience = RetryBudget(6_000, 0.01)

    def waits() -> Iterator[PriceReading]:
        started.wait(300)
        yield patience.call(
            lambda: (_ for _ in ()).throw(ProviderFailure("throttled", "slow down", 600.0)), lambda _: None
        )

    def pressed(step: RefreshProgress) -> None:
        if step.task == "quick":
            raise KeyboardInterrupt

    def quick() -> Iterator[PriceReading]:
        started.wait(300)
        yield price("us-east-1", 50.0)

    adapter(quick=quick, one=waits, two=waits)
    begun = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        price_refresh.refresh_provider("aws", data, patience, DAY, pressed)
    assert time.monotonic() - begun < 300, "the pauses of 600 s were not sat out"
    assert [p.name for p in (data / "snapshots" / "aws").iterdir()] == [".lock"]


@pytest.mark.slow
def test_two_refreshes_at_once(data, adapter):
    adapter(prices=lambda: iter([price("us-east-1", 50.0)]))
    with data_folder.lock_provider("aws", data):
        outcome, _ = run(data)
    assert outcome.landed is None
    assert outcome.troubles[0].failed.kind == "busy"
    assert run(data)[0].landed.moved == 1


def test_rows_that_are_left_out_are_counted_not_kept():
    def feed() -> Iterator[PriceReading]:
        for number in range(50_000):
            yield price("us-east-1", 55.0) if number == 777 else SkippedRows("no accelerator")

    pile = ReadingBatch.of(feed())
    assert len(pile) == 1
    assert pile.left == {"no accelerator": 49_999}


def test_merging_piles_in_any_order_gives_the_same():
    parts = [
        [price("a", 1.0), SkippedRows("x", 2)],
        [price("a", 2.0), RejectedRow("r", "why")],
        [price("b", 3.0), CoveredScope("b", "spot")],
    ]
    results = []
    for order in ((0, 1, 2), (2, 1, 0), (1, 0, 2)):
        pile = ReadingBatch()
        for index in order:
            pile.merge(ReadingBatch.of(parts[index]))
        done = pile.fetched(())
        results.append((set(done.prices), done.left, done.covered, {r.subject for r in done.refused}))
    assert results[0] == results[1] == results[2]
    assert results[0][0] == {price("b", 0).key}


def test_a_transient_failure_is_tried_again_and_a_final_one_is_not():
    answers: list[object] = [ProviderFailure("throttled", "slow"), ProviderFailure("server_error", "503"), "done"]

    def call() -> object:
        answer = answers.pop(0)
        if isinstance(answer, ProviderFailure):
            raise answer
        return answer

    assert RetryBudget(5, 0.001).call(call, lambda _: ProviderFailure("server_error", "")) == "done"
    answers = [ProviderFailure("denied", "no"), "done"]
    with pytest.raises(ProviderFailure, match="denied"):
        RetryBudget(5, 0.001).call(call, lambda _: ProviderFailure("server_error", ""))
    assert answers == ["done"]


def test_a_wait_longer_than_the_time_left_is_not_begun():
    begun = time.monotonic()
    with pytest.raises(ProviderFailure, match="throttled"):
        RetryBudget(600, 0.001).call(
            lambda: (_ for _ in ()).throw(RuntimeError()),
            lambda _: ProviderFailure("throttled", "", retry_after_s=3600),
        )
    assert time.monotonic() - begun < 300


def test_the_time_limit_is_for_all_calls_together():
    patience = RetryBudget(0.05, 0.01)
    time.sleep(0.06)
    with pytest.raises(ProviderFailure, match=r"not read within 0\.05 s in all") as caught:
        patience.call(lambda: "done", lambda _: ProviderFailure("server_error", ""))
    assert caught.value.kind == "timed_out"


def test_a_call_that_fails_for_ever_is_given_up_long_before_the_time_limit():
    calls = []

    def call() -> object:
        calls.append(1)
        raise ProviderFailure(kind, "no")

    for kind, least, most in (("server_error", 8, 8), ("unreachable", 8, 8), ("throttled", 9, 10**9)):
        calls.clear()
        with pytest.raises(ProviderFailure, match="no"):
            RetryBudget(0.5 if kind == "throttled" else 600, 1e-6).call(call, lambda _: None)
        assert least <= len(calls) <= most, kind


@pytest.mark.slow
def test_an_answer_without_an_end_costs_its_task_alone_and_ends_with_the_time(data, adapter, monkeypatch):
    """A server that sends a byte from time to time meets every limit of a call."""
    monkeypatch.setattr(price_refresh, "GRACE_S", 0.1)
    never = threading.Event()

    def drips() -> Iterator[PriceReading]:
        never.wait(300)
        yield price("us-east-1", 50.0)

    adapter(one=drips, two=drips, three=lambda: iter([price("us-east-2", 54.0)]))
    steps: list[RefreshProgress] = []
    outcome = price_refresh.refresh_provider("aws", data, RetryBudget(0.5, 0.01), DAY, steps.append)
    never.set()
    assert sorted((t.task, t.failed.kind) for t in outcome.troubles) == [("one", "timed_out"), ("two", "timed_out")]
    assert "its answer had no end after 0.5 s in all" in str(outcome.troubles[0].failed)
    assert outcome.landed.moved == 1
    assert [(step.done, step.total) for step in steps[1:]] == [(1, 3), (2, 3), (3, 3)]


def test_a_list_of_parts_that_cannot_be_read_is_a_failure_and_no_error_of_ours(data, monkeypatch):
    def tasks(_: FetchRequest) -> Iterator[FetchTask]:
        raise KeyError("RegionName")
        yield

    made = SimpleNamespace(EXTRA="aws", SERVICES=(), AT_ONCE=4, tasks=tasks, sources=lambda _: ())
    monkeypatch.setattr(price_refresh, "load_adapter", lambda _: made)
    outcome, _ = run(data)
    assert outcome.landed is None
    assert str(outcome.troubles[0].failed) == "changed format: the parts to read: an answer without 'RegionName'"
