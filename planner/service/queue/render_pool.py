"""Reports and Terraform of plans that are stored: short work, in a process of its own, so that it waits for no plan."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from planner.service.limits import ServiceLimits
from planner.service.queue.worker_process import WorkerCall, WorkerProcess

Rendered = TypeVar("Rendered")


def load_reports() -> None:
    """Load the readers of plans."""
    from planner.reports import json, terraform  # noqa: F401  (loading is all that is wanted)


class BusyError(Exception):
    """As many wait as may."""


class RenderPool:
    """One process that renders, started when first used."""

    def __init__(self, limits: ServiceLimits) -> None:
        self._limits, self._waiting = limits, 0
        self._process = WorkerProcess(load_reports)
        self._threads = ThreadPoolExecutor(1, "render")

    async def run(self, function: Callable[..., Rendered], *arguments: object) -> Rendered:
        """`function(*arguments)`. Raises BusyError, TooLongError or WorkerDiedError."""
        if self._waiting >= self._limits.waiting:
            raise BusyError
        self._waiting += 1
        try:
            call = WorkerCall(function, arguments, self._limits.seconds)
            loop = asyncio.get_running_loop()
            rendered: Rendered = await loop.run_in_executor(self._threads, self._process.call, call)
            return rendered
        finally:
            self._waiting -= 1

    def close(self) -> None:
        """End the process."""
        self._process.end(for_good=True)
        self._threads.shutdown(wait=True, cancel_futures=True)
