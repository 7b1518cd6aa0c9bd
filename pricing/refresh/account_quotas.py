"""Reads the quotas of an account through a provider's adapter. Knows no cloud; stores no file.

Tasks run concurrently, as those of a refresh; a failed task is reported and the others count.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from datetime import date
from functools import partial
from pathlib import Path

from pricing.adapters.protocol import RejectedRow, SkippedRows
from pricing.adapters.retries import RetryBudget
from pricing.errors import ProviderFailure
from pricing.frozen_values import dataclass
from pricing.quota import Quota
from pricing.refresh.price_refresh import (
    RefreshProgress,
    TaskFailure,
    build_fetch_request,
    list_tasks,
    load_adapter,
    run_tasks,
)


@dataclass(frozen=True, slots=True)
class AccountQuotas:
    """The quotas of one provider. `refused` are rows that should be quotas but cannot be used, `left` counts quotas of
    other resources by reason, `troubles` are the failed tasks."""

    provider: str
    quotas: tuple[Quota, ...]
    refused: tuple[RejectedRow, ...]
    left: Mapping[str, int]
    troubles: tuple[TaskFailure, ...]


def read_account_quotas(
    provider: str,
    data: Path,
    patience: RetryBudget,
    today: date,
    report: Callable[[RefreshProgress], None],
    *,
    regions: tuple[str, ...] = (),
    endpoints: Mapping[str, str] | None = None,
) -> AccountQuotas:
    """The quotas of one provider. Failures are returned in `troubles`, not raised.

    An interruption stops every task and is raised.
    """
    adapter = load_adapter(provider)
    readings: list[Quota | SkippedRows | RejectedRow] = []
    failures: list[TaskFailure] = []
    try:
        if adapter is None:
            raise ProviderFailure("no_sdk", "this provider has no adapter: write its quotas by hand")
        report(RefreshProgress(provider, "listing the parts to read", 0, 0))
        request = build_fetch_request(provider, data, patience, today, regions=regions, endpoints=endpoints)
        tasks = list_tasks(provider, partial(adapter.quota_tasks, request), patience)
        for task, outcome in run_tasks(provider, tasks, adapter.AT_ONCE, patience, report, list):
            if isinstance(outcome, ProviderFailure):
                failures.append(TaskFailure(task, outcome))
            else:
                readings += outcome
    except ProviderFailure as failed:
        failures.append(TaskFailure("", failed))
    return _collect_quotas(provider, readings, failures)


def _collect_quotas(
    provider: str, readings: Iterable[Quota | SkippedRows | RejectedRow], failures: Iterable[TaskFailure]
) -> AccountQuotas:
    quotas: dict[tuple[str, str, str], Quota] = {}
    refused: list[RejectedRow] = []
    twice: set[tuple[str, str, str]] = set()
    left: Counter[str] = Counter()
    for reading in readings:
        if isinstance(reading, SkippedRows):
            left[reading.reason] += reading.rows
        elif isinstance(reading, RejectedRow):
            refused.append(reading)
        elif quotas.setdefault(reading.key, reading) != reading:
            twice.add(reading.key)
    refused += [RejectedRow(" ".join(key), "stated twice, and differently: neither is used") for key in sorted(twice)]
    return AccountQuotas(
        provider,
        tuple(quota for key, quota in sorted(quotas.items()) if key not in twice),
        tuple(sorted(refused, key=lambda r: (r.subject, r.reason))),
        left,
        tuple(failures),
    )
