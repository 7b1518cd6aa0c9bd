"""Reads the quotas of an account through a provider's adapter. Knows no cloud; keeps nothing.

Tasks run side by side as those of a refresh do; what one of them could not read is told, the others count.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from pricing.adapter import Left, Refused
from pricing.errors import Failed
from pricing.patience import Patience
from pricing.quota import Quota
from pricing.refresh import Step, Trouble, adapter_of, ask_of, run


@dataclass(frozen=True, slots=True)
class Found:
    """What could be read of one provider: `refused` should be quotas and cannot be taken as they are, `left` counts
    those that are about other things, `troubles` are the parts that were not read."""

    provider: str
    quotas: tuple[Quota, ...]
    refused: tuple[Refused, ...]
    left: Mapping[str, int]
    troubles: tuple[Trouble, ...]


def read(
    provider: str,
    data: Path,
    patience: Patience,
    today: date,
    say: Callable[[Step], None],
    *,
    regions: tuple[str, ...] = (),
    endpoints: Mapping[str, str] | None = None,
) -> Found:
    """The quotas of one provider. Never raises Failed: what failed is in `troubles`. An interruption stops every task
    and passes on."""
    adapter = adapter_of(provider)
    readings: list[Quota | Left | Refused] = []
    troubles: list[Trouble] = []
    try:
        if adapter is None:
            raise Failed("no_sdk", "this provider has no adapter: write its quotas by hand")
        say(Step(provider, "finding out what there is to read", 0, 0))
        ask = ask_of(provider, data, patience, today, regions=regions, endpoints=endpoints)
        for task, found in run(provider, adapter.quota_tasks(ask), adapter.AT_ONCE, patience, say, list):
            if isinstance(found, Failed):
                troubles.append(Trouble(task, found))
            else:
                readings += found
    except Failed as failed:
        troubles.append(Trouble("", failed))
    return _found(provider, readings, troubles)


def _found(provider: str, readings: Iterable[Quota | Left | Refused], troubles: Iterable[Trouble]) -> Found:
    quotas: dict[tuple[str, str, str], Quota] = {}
    refused: list[Refused] = []
    twice: set[tuple[str, str, str]] = set()
    left: Counter[str] = Counter()
    for reading in readings:
        if isinstance(reading, Left):
            left[reading.reason] += reading.rows
        elif isinstance(reading, Refused):
            refused.append(reading)
        elif quotas.setdefault(reading.key, reading) != reading:
            twice.add(reading.key)
    refused += [Refused(" ".join(key), "stated twice, and differently: none of them is taken") for key in sorted(twice)]
    return Found(
        provider,
        tuple(quota for key, quota in sorted(quotas.items()) if key not in twice),
        tuple(sorted(refused, key=lambda r: (r.subject, r.reason))),
        left,
        tuple(troubles),
    )
