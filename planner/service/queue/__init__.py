"""Makes the plans that the store has queued, in processes of their own."""

from planner.service.queue.job_runner import JobRunner
from planner.service.queue.render_pool import BusyError, RenderPool
from planner.service.queue.retention import RetentionSchedule
from planner.service.queue.worker_process import TooLongError, WorkerDiedError

__all__ = ["BusyError", "JobRunner", "RenderPool", "RetentionSchedule", "TooLongError", "WorkerDiedError"]
