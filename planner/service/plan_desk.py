"""Where requests meet the queue: hands in questions, waits for answers, and passes on changes of jobs."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator

from fastapi import Request
from fastapi.responses import Response
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect

from planner.request.errors import InputProblem
from planner.service import problems
from planner.service.callers import Caller
from planner.service.gate.metrics import ServiceMetrics
from planner.service.limits import ServiceLimits
from planner.service.plan_questions import (
    PlanQuestion,
    QuestionDigests,
    describe_job,
    note_prices,
    read_stated_answers,
)
from planner.service.problems import ProblemResponseError
from planner.service.queue import JobRunner, RetentionSchedule
from planner.service.recent_answers import RecentAnswer, RecentAnswers
from planner.service.store import JobRecord, ServiceStore

POLL_SECONDS = 0.5
"""How often a job is looked up that another replica may run."""


class PlanDesk:
    """The jobs of one replica's requests; it belongs to one event loop."""

    def __init__(self, store: ServiceStore, limits: ServiceLimits, metrics: ServiceMetrics) -> None:
        self.store, self._limits, self._metrics = store, limits, metrics
        self._loop = asyncio.get_running_loop()
        self._changes: dict[str, set[asyncio.Event]] = {}
        self._waiting, self._closing = 0, asyncio.Event()
        self._recent, self._digests = RecentAnswers(limits.remembered_bytes), QuestionDigests()
        self.runner = JobRunner(store, limits, self._notify_from_thread, metrics.count_job)
        self.runner.start()
        self._retention = RetentionSchedule(store, limits)
        self._retention.start()
        self._noted_prices = ""

    def begin_closing(self) -> None:
        """Let every connection that waits go, from any thread; the jobs stay in the queue."""
        self._loop.call_soon_threadsafe(self._closing.set)

    def close(self) -> None:
        """Hand back the jobs that run."""
        self._retention.close()
        self.runner.close()

    async def find_answer(self, caller: Caller, question: PlanQuestion) -> RecentAnswer | None:
        """A stored answer to an equal question of the caller's project."""
        digest = self._digests.digest(question)
        known = self._recent.get(caller.project, digest)
        if known is None:
            job = await run_in_threadpool(self.store.jobs.find_answer, caller.project, digest)
            known = None if job is None else await self.read_answer(job)
        if known is not None:
            self._metrics.count_stored_plan()
        return known

    async def read_answer(self, job: JobRecord) -> RecentAnswer | None:
        """A job that is done with its plan; None if that was deleted."""
        plan = await run_in_threadpool(self.store.plans.find, job.project, job.plan_digest)
        if plan is None:
            return None
        return self._recent.put(job, plan) if job.reusable else RecentAnswer(job, plan, 0.0)

    async def submit(
        self, caller: Caller, question: PlanQuestion, *, durable: bool, waits: bool, idempotency_key: str = ""
    ) -> JobRecord:
        """The job for a question: a new one, the one of the same key, or an equal one that is open.
        ProblemResponseError if too many are, or if the key came with another question."""
        if waits and self._waiting >= self._limits.waiting:
            raise ProblemResponseError(busy_response())
        if await run_in_threadpool(self.store.jobs.count_open) >= self._limits.queue:
            raise ProblemResponseError(busy_response())
        digest = self._digests.digest(question)
        limit = self._limits.short_effort
        job = await run_in_threadpool(
            describe_job, caller.project, question, digest, self._digests.catalogue, limit, idempotency_key, durable
        )
        if job.catalogue_digest != self._noted_prices:
            await run_in_threadpool(note_prices, self.store, job)
            self._noted_prices = job.catalogue_digest
        record = await run_in_threadpool(self.store.jobs.add, job, waits=waits)
        if answers := read_stated_answers(question):
            await run_in_threadpool(self.store.answers.put, caller, answers)
        if idempotency_key and record.digest != digest:
            await run_in_threadpool(self.store.jobs.leave, record.id, joined=waits)
            raise ProblemResponseError(_key_reused(idempotency_key))
        self.runner.wake()
        return record

    async def forget(self, job: JobRecord) -> None:
        """Delete a job that has ended, and its plan."""
        await run_in_threadpool(self.store.jobs.delete, job.project, job.id)
        if job.plan_digest:
            await self.forget_plan(job.project, job.plan_digest)

    async def forget_plan(self, project: str, digest: str) -> None:
        """Delete a plan, and every job that it answers."""
        self._recent.forget(project, digest)
        await run_in_threadpool(self.store.plans.delete, project, digest)
        await run_in_threadpool(self.store.jobs.delete_answered, project, digest)

    async def wait(self, record: JobRecord, request: Request, seconds: float | None = None) -> JobRecord:
        """The job when it has ended, or after so many seconds, from when on it is durable. If the client goes before
        (ClientDisconnect), the job is cancelled unless others wait for it. ProblemResponseError where the service
        ends; the job is durable then, too."""
        self._waiting += 1
        gone = asyncio.ensure_future(_await_disconnect(request))
        closing = asyncio.ensure_future(self._closing.wait())
        ended = asyncio.ensure_future(self._await_end(record, seconds))
        try:
            await asyncio.wait((gone, closing, ended), return_when=asyncio.FIRST_COMPLETED)
            if not ended.done():
                if gone.done():
                    raise ClientDisconnect
                await run_in_threadpool(self.store.jobs.keep, record.id)
                raise ProblemResponseError(_closing_response(record))
            if ended.result().is_open:
                await run_in_threadpool(self.store.jobs.keep, record.id)
            return ended.result()
        finally:
            self._waiting -= 1
            gone.cancel()
            closing.cancel()
            if not ended.done() or ended.result().is_open:
                ended.cancel()
                await asyncio.shield(run_in_threadpool(self.store.jobs.leave, record.id))
                self.runner.wake()

    async def _await_end(self, record: JobRecord, seconds: float | None) -> JobRecord:
        async for changed in self.follow(record, seconds):
            record = changed
        return record

    async def follow(self, record: JobRecord, seconds: float | None = None) -> AsyncIterator[JobRecord]:
        """The job as it is, and again whenever it has changed, until it has ended or the seconds have passed."""
        end = None if seconds is None else time.monotonic() + seconds
        changed = asyncio.Event()
        self._changes.setdefault(record.id, set()).add(changed)
        try:
            last = None
            while True:
                changed.clear()
                job = await run_in_threadpool(self.store.jobs.find, record.project, record.id)
                if job is None:
                    return
                if job != last:
                    yield job
                last = job
                left = POLL_SECONDS if end is None else min(POLL_SECONDS, end - time.monotonic())
                if not job.is_open or left <= 0 or self._closing.is_set():
                    return
                try:
                    await asyncio.wait_for(changed.wait(), left)
                except TimeoutError:
                    continue
        finally:
            listeners = self._changes[record.id]
            listeners.discard(changed)
            if not listeners:
                del self._changes[record.id]

    def _notify_from_thread(self, identity: str) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._wake_listeners, identity)

    def _wake_listeners(self, identity: str) -> None:
        for changed in self._changes.get(identity, ()):
            changed.set()


async def _await_disconnect(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def busy_response() -> Response:
    """503: as many plans wait as may."""
    return problems.problem_response(503, "busy", "Busy", "The queue is full; try again in a few seconds.")


def _closing_response(job: JobRecord) -> Response:
    """503: the service ends, and another goes on with the job."""
    detail = f"The service ends or restarts. The plan stays in the queue: ask for /v1/plans/{job.id}, or post it again."
    response = problems.problem_response(503, "closing", "Closing", detail)
    response.headers["location"] = f"/v1/plans/{job.id}"
    return response


def _key_reused(key: str) -> Response:
    fault = InputProblem("", "Idempotency-Key", "was sent with another request", key, "a new key for a new request")
    return problems.invalid_request_response((fault,))
