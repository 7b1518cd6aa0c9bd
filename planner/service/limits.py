"""Limits of one service: each field is an option of `planner serve` and an environment variable (PLANNER_WORKERS)."""

from __future__ import annotations

import os

from planner.service.setting_fields import setting
from pricing.frozen_values import dataclass


def _count_processors() -> int:
    return os.cpu_count() or 1


def _largest_file() -> int:
    from planner.inputs.file_reader import BYTES_MAX

    return BYTES_MAX


@dataclass(frozen=True, slots=True)
class ServiceLimits:
    """Limits of a service. One more worker than `workers` is reserved for short plans."""

    workers: int = setting(_count_processors, "Plans computed in parallel, beside one worker for short plans.")
    waiting: int = setting(64, "Connections that may wait for a plan at once.")
    queue: int = setting(10_000, "Plans that may be queued or running.")
    seconds: float = setting(120.0, "Seconds after which the search for a plan is cut off.")
    grace_seconds: float = setting(60.0, "Seconds after that in which the plan must be answered.")
    short_effort: int = setting(30_000, "Workloads x months x offerings up to which a plan is short.")
    short_seconds: float = setting(5.0, "Seconds after which a short plan is queued as a long one.")
    attempts: int = setting(3, "Times that a plan is begun, if its worker dies.")
    lease_seconds: float = setting(15.0, "Seconds without a sign of life after which another worker takes a plan.")
    body_bytes: int = setting(4 * 2**20, "Bytes of a request.")
    file_bytes: int = setting(_largest_file, "Bytes of a file.")
    retention_days: float | None = setting(
        None, "Days after which plans, reviews and ended jobs are deleted, if stated."
    )
    retention_plans: int | None = setting(
        None, "Newest plans of each project that remain, in addition to those of reviews.", least=0
    )
    retention_audit_days: float | None = setting(None, "Days after which records of the audit are deleted, if stated.")
    remembered_bytes: int = setting(64 * 2**20, "Bytes of recent answers held in memory.")
    dask: str = setting(
        "", "URL of a Dask scheduler that makes plans again for risk (tcp://host:8786); else idle workers do."
    )
