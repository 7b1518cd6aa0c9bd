"""A worker without a service: it takes jobs from a store until a signal ends it."""

from __future__ import annotations

import signal
import threading

from planner.service.limits import ServiceLimits
from planner.service.queue.job_runner import JobRunner
from planner.service.queue.retention import RetentionSchedule
from planner.service.store import open_store


def run_worker(store_url: str, limits: ServiceLimits) -> None:
    """Take jobs until SIGINT or SIGTERM, then hand back those that run."""
    ended = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: ended.set())
    store = open_store(store_url)
    runner = JobRunner(store, limits, lambda _: None)
    retention = RetentionSchedule(store, limits)
    runner.start()
    retention.start()
    ended.wait()
    retention.close()
    runner.close()
    store.close()
