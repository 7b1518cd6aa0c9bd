"""Takes jobs from the store, makes their plans in worker processes, and stores their ends.

One thread claims; each worker has a thread that waits for it. The worker reserved for short jobs takes no other,
so that these never wait for long ones.
"""

from __future__ import annotations

import logging
import os
import secrets
import socket
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial

from sqlalchemy.exc import SQLAlchemyError

from planner.application.dask_tasks import DaskTasks
from planner.application.shared_tasks import VERSION, TaskRunner, answer_shared_task
from planner.service.limits import ServiceLimits
from planner.service.plan_jobs import JobAnswer, run_stored_job, warm_up
from planner.service.plan_questions import QuestionDigests
from planner.service.queue.job_ends import describe_end, end_died, end_too_long
from planner.service.queue.queue_tasks import QueueTasks
from planner.service.queue.worker_process import (
    StoppedError,
    TooLongError,
    WorkerCall,
    WorkerDiedError,
    WorkerProcess,
)
from planner.service.store import JobProgress, ServiceStore
from planner.service.store.engine import STORE_OUTAGES
from planner.service.store.jobs import JobEnd, Lane, LeasedJob
from planner.service.store.tasks import SharedTask

POLL_SECONDS = 0.5
"""How often the store is asked for jobs of others, and whether those that run here are still active."""
PROGRESS_SECONDS = 0.25
"""Least time between two notes of the progress of a job."""
log = logging.getLogger("planner.service")


@dataclass(slots=True, eq=False)
class _WorkerSlot:
    """A worker process and the lanes that it serves."""

    process: WorkerProcess
    lanes: tuple[Lane, ...]


@dataclass(slots=True)
class _RunningJob:
    """A job, or a task of one, that a slot works on. `active`: it was neither cancelled nor claimed by another."""

    slot: _WorkerSlot
    active: bool = True
    noted: float = field(default=-1.0)


class JobRunner:
    """Runs jobs of a store until it is closed. `notify` hears the id of each job whose state has changed, `observe`
    each end of a job with its seconds; both are called from other threads."""

    def __init__(
        self,
        store: ServiceStore,
        limits: ServiceLimits,
        notify: Callable[[str], None],
        observe: Callable[[JobEnd, float], None] | None = None,
    ) -> None:
        self._store, self._limits, self._notify, self._observe = store, limits, notify, observe
        self.owner = f"{socket.gethostname()[:64]}:{os.getpid()}:{secrets.token_hex(4)}"
        reserved = _WorkerSlot(WorkerProcess(warm_up), ("short",))
        general = [
            _WorkerSlot(WorkerProcess(warm_up, low_priority=True), ("short", "long")) for _ in range(limits.workers)
        ]
        self._idle, self._running = [reserved, *general], dict[str, _RunningJob]()
        self._helping, self._digests = dict[str, _RunningJob](), QuestionDigests()
        self._slots = tuple(self._idle)
        self._changed, self._closing, self._something_to_do = threading.Lock(), False, threading.Event()
        self._threads = ThreadPoolExecutor(len(self._slots), "plan-job")
        self._claimer = threading.Thread(target=self._claim_jobs, name="plan-queue", daemon=True)

    def start(self) -> None:
        """Begin to take jobs."""
        self._claimer.start()

    def wake(self) -> None:
        """Look for a job now."""
        self._something_to_do.set()

    def warm(self) -> None:
        """Have every idle worker process start that has not been started, before it takes a job."""
        with self._changed:
            cold = [slot for slot in self._idle if not slot.process.is_running]
            for slot in cold:
                self._idle.remove(slot)
        for slot in cold:
            self._threads.submit(self._warm_slot, slot)

    def _warm_slot(self, slot: _WorkerSlot) -> None:
        try:
            slot.process.start()
        except WorkerDiedError:
            log.warning("a worker ended while it started")
        finally:
            with self._changed:
                self._idle.append(slot)
            self.wake()

    @property
    def is_warm(self) -> bool:
        """Whether every worker process has been started."""
        return all(slot.process.is_running for slot in self._slots)

    def worker_processes(self) -> list[int]:
        """The process ids of workers that have been started."""
        return [slot.process.identity for slot in self._slots if slot.process.is_running]

    def close(self) -> None:
        """Hand back the jobs that run here, and end all workers."""
        self._closing = True
        self.wake()
        if self._claimer.is_alive():
            self._claimer.join()
        for identity, running in list(self._running.items()):
            try:
                self._store.jobs.hand_back(self.owner, identity)
            except SQLAlchemyError:
                log.exception("job %s could not be handed back; another worker takes it once its lease ends", identity)
            running.active = False
        for slot in self._slots:
            slot.process.end(for_good=True)
        self._threads.shutdown(wait=True, cancel_futures=True)

    def _claim_jobs(self) -> None:
        renewed, is_down = time.monotonic(), False
        while not self._closing:
            try:
                while self._claim_one():
                    pass
                self._notice_lost_jobs()
                if time.monotonic() - renewed > self._limits.lease_seconds / 3:
                    renewed = time.monotonic()
                    self._renew_leases()
                if is_down:
                    log.warning("the store answers again")
                is_down = False
            except SQLAlchemyError:
                if not is_down:  # once for each outage, not twice a second
                    log.exception("the store cannot be reached")
                is_down = True
            self._something_to_do.wait(POLL_SECONDS)
            self._something_to_do.clear()

    def _claim_one(self) -> bool:
        """Start one job, if there is one that an idle worker may run."""
        with self._changed:
            lanes = {lane for slot in self._idle for lane in slot.lanes}
        if not lanes or self._closing:
            return False
        job = self._store.jobs.claim(self.owner, sorted(lanes), self._limits.lease_seconds)
        if job is None:
            return self._help_with_task() if "long" in lanes else False
        with self._changed:
            fitting = [slot for slot in self._idle if job.record.lane in slot.lanes]
            slot = min(fitting, key=lambda each: (not each.process.is_running, len(each.lanes)))  # the warmest
            self._idle.remove(slot)
            self._running[job.record.id] = _RunningJob(slot)
        self._notify(job.record.id)
        self._threads.submit(self._run_job, job, slot)
        return True

    def _help_with_task(self) -> bool:
        """Start one task of a job that runs elsewhere, if there is one: no worker is idle while another has many."""
        if not self._store.tasks.is_any_free():
            return False
        task = self._store.tasks.claim(
            self.owner, self._digests.catalogue, VERSION, self._limits.lease_seconds, self._limits.attempts
        )
        if task is None:
            return False
        with self._changed:
            general = [slot for slot in self._idle if "long" in slot.lanes]
            slot = min(general, key=lambda each: not each.process.is_running)
            self._idle.remove(slot)
            self._helping[task.id] = _RunningJob(slot)
        self._threads.submit(self._run_task, task, slot)
        return True

    def _run_task(self, task: SharedTask, slot: _WorkerSlot) -> None:
        helping, tasks = self._helping[task.id], self._store.tasks
        arguments = (task.document, task.prices, task.version, task.deadline)
        try:
            outcome = slot.process.call(
                WorkerCall(answer_shared_task, arguments, self._answer_seconds(), None, lambda: helping.active)
            )
            if outcome is None:
                tasks.hand_back(self.owner, task.id)
            else:
                tasks.end(task.id, outcome)
        except StoppedError:
            pass
        except (WorkerDiedError, TooLongError):
            with suppress(*STORE_OUTAGES):  # its lease ends
                tasks.hand_back(self.owner, task.id)
        except SQLAlchemyError:
            log.exception("a task could not be ended; another worker does it once its lease ends")
        finally:
            with self._changed:
                del self._helping[task.id]
                self._idle.append(slot)
            self.wake()

    def _notice_lost_jobs(self) -> None:
        for running, find_leased in (
            (self._running, self._store.jobs.leased),
            (self._helping, self._store.tasks.leased),
        ):
            if running:
                leased = find_leased(self.owner)
                for identity, each in list(running.items()):
                    each.active = identity in leased

    def _renew_leases(self) -> None:
        if self._running:
            self._store.jobs.renew(self.owner, list(self._running), self._limits.lease_seconds)
        if self._helping:
            self._store.tasks.renew(self.owner, list(self._helping), self._limits.lease_seconds)

    def _run_job(self, job: LeasedJob, slot: _WorkerSlot) -> None:
        identity = job.record.id
        running = self._running[identity]
        try:
            self._finish_job(job, slot, partial(self._compute_answer, job, slot, running))
        except SQLAlchemyError:
            log.exception("job %s could not be ended; another worker takes it once its lease ends", identity)
        finally:
            with self._changed:
                if self._running.get(identity) is running:
                    del self._running[identity]
                self._idle.append(slot)
            with suppress(SQLAlchemyError):  # they are deleted with old jobs
                self._store.tasks.delete_ended(identity)
            self._notify(identity)
            self.wake()

    def _finish_job(self, job: LeasedJob, slot: _WorkerSlot, compute: Callable[[], JobAnswer | None]) -> None:
        identity, jobs, began = job.record.id, self._store.jobs, time.monotonic()
        try:
            answer = compute()
            describe: Callable[[], JobEnd] = partial(end_died, job.record)
            if answer is not None:
                describe = partial(describe_end, answer, job.question, self._store.plans)
        except StoppedError:
            return
        except WorkerDiedError:
            if self._closing:
                return  # handed back
            if job.record.attempts < self._limits.attempts:
                jobs.hand_back(self.owner, identity, failed=True)
                return
            describe = partial(end_died, job.record)
        except TooLongError:
            if "long" not in slot.lanes and time.monotonic() - began < self._answer_seconds():
                jobs.hand_back(self.owner, identity, lane="long")
                return
            describe = partial(end_too_long, self._limits.seconds)
        end = self._store_end(identity, describe)
        if self._observe is not None:
            self._observe(end, time.monotonic() - began)

    def _store_end(self, identity: str, describe: Callable[[], JobEnd]) -> JobEnd:
        """The end of a job, once it is stored: no plan is thrown away because the store is down for a while."""
        while True:
            try:
                end = describe()
                self._store.jobs.end(self.owner, identity, end)
            except STORE_OUTAGES:
                if self._closing:
                    raise
                time.sleep(POLL_SECONDS)
            else:
                return end

    def _compute_answer(self, job: LeasedJob, slot: _WorkerSlot, running: _RunningJob) -> JobAnswer | None:
        """The answer of a worker; None for a job that has been begun too often."""
        if job.record.attempts > self._limits.attempts:
            return None
        question = job.question
        last = self._store.plans.find(question.project, question.compare_to) if question.compare_to else None
        search, answered = self._limits.seconds, self._answer_seconds()
        is_reserved, end = "long" not in slot.lanes, time.monotonic() + answered
        answer: JobAnswer = slot.process.call(
            WorkerCall(
                run_stored_job,
                (question, None if last is None else last.compressed, search, self._choose_task_runner(job.record.id)),
                self._limits.short_seconds if is_reserved else answered,
                partial(self._note_progress, job.record.id, running),
                lambda: running.active,
                lambda: is_reserved and time.monotonic() < end and not self._short_jobs_wait(),
            )
        )
        return answer

    def _choose_task_runner(self, identity: str) -> TaskRunner:
        if self._limits.dask:
            return DaskTasks(self._limits.dask)
        return QueueTasks(self._store.engine.url.render_as_string(hide_password=False), identity)

    def _answer_seconds(self) -> float:
        return self._limits.seconds + self._limits.grace_seconds

    def _short_jobs_wait(self) -> bool:
        """Whether a short job waits for the reserved worker: only then is a job there that takes long begun anew
        elsewhere, as that loses its work."""
        try:
            return self._store.jobs.count_in_state("queued", "short") > 0
        except SQLAlchemyError:
            return False

    def _note_progress(self, identity: str, running: _RunningJob, progress: JobProgress) -> None:
        if time.monotonic() - running.noted >= PROGRESS_SECONDS:
            running.noted = time.monotonic()
            with suppress(*STORE_OUTAGES):  # the plan goes on; the claiming thread logs that the store is down
                self._store.jobs.note_progress(self.owner, identity, progress)
            self._notify(identity)
