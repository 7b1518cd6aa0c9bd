"""Tasks on a Dask scheduler. Whatever its workers do not do (none is there, they have other prices or another version,
or they died too often), is done here: a plan never depends on them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, TypeVar

from planner.application.shared_tasks import VERSION, TaskTerms, answer_shared_task

if TYPE_CHECKING:
    from distributed import Client

CONNECT_SECONDS = 10.0
WAIT_SECONDS = 0.5
"""How often progress is told, and workers are looked for."""
log = logging.getLogger("planner.application")
Outcome = TypeVar("Outcome")


def is_dask_installed() -> bool:
    """Whether the extra `dask` is installed."""
    return find_spec("distributed") is not None


class DaskTasks:
    """The tasks of plans on the scheduler at a URL (tcp://host:8786, or tls://)."""

    def __init__(self, url: str) -> None:
        self._url = url

    def __call__(
        self, tasks: Sequence[str], terms: TaskTerms, here: Callable[[str], str], tell: Callable[[int], None]
    ) -> list[str]:
        """The outcomes of tasks in their order."""
        calls = [(task, terms.prices, VERSION, terms.deadline) for task in tasks]
        return run_on_dask(self._url, answer_shared_task, calls, lambda number: here(tasks[number]), tell)


def run_on_dask(
    url: str,
    function: Callable[..., Outcome | None],
    calls: Sequence[tuple[Any, ...]],
    here: Callable[[int], Outcome],
    tell: Callable[[int], None],
) -> list[Outcome]:
    """`function` of each call, in order; `here` does the one of a number, where no worker does or gives None."""
    from distributed import Client

    outcomes: dict[int, Outcome] = {}

    def note(number: int, outcome: Outcome) -> None:
        outcomes[number] = outcome
        tell(len(outcomes))

    try:
        with Client(url, timeout=CONNECT_SECONDS, set_as_default=False) as client:
            _gather_outcomes(client, function, calls, here, note)
    except (OSError, TimeoutError, asyncio.CancelledError) as error:
        log.warning("the Dask scheduler cannot be reached, the rest is planned here: %s", error)
    for number in range(len(calls)):
        if number not in outcomes:
            note(number, here(number))
    return [outcomes[number] for number in range(len(calls))]


def _gather_outcomes(
    client: Client,
    function: Callable[..., Outcome | None],
    calls: Sequence[tuple[Any, ...]],
    here: Callable[[int], Outcome],
    note: Callable[[int, Outcome], None],
) -> None:
    """Note what the workers do; while there is none, one after the other is done here. Ends without those that they
    cannot do."""
    ended, patience = SimpleQueue[Any](), WAIT_SECONDS
    pending: dict[Any, tuple[int, Any]] = {}
    for number, call in enumerate(calls):
        future = client.submit(function, *call, pure=False)
        pending[future.key] = number, future
        future.add_done_callback(ended.put)
    try:
        while pending:
            try:
                future = ended.get(timeout=patience)
            except Empty:
                if client.nthreads():
                    patience = WAIT_SECONDS
                else:
                    patience = 0.0
                    _, (number, future) = pending.popitem()
                    future.cancel()
                    note(number, here(number))
                continue
            number, _ = pending.pop(future.key, (-1, None))
            outcome = future.result() if future.status == "finished" else None
            if number >= 0 and outcome is not None:
                note(number, outcome)
    finally:
        client.cancel([future for _, future in pending.values()])
