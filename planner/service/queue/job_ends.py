"""From the answer of a worker to the end of its job."""

from __future__ import annotations

from fastapi.responses import Response

from planner.service import problems
from planner.service.plan_jobs import (
    CrashedJob,
    FailedPlugin,
    JobAnswer,
    RejectedRequest,
    RenderedPlan,
    UnreadablePrices,
)
from planner.service.store.jobs import JobEnd, JobRecord, NewJob
from planner.service.store.plans import PlanStore, StoredPlan
from pricing.errors import InvalidSnapshot


def describe_end(answer: JobAnswer, question: NewJob, plans: PlanStore) -> JobEnd:
    """How the job ended; its plan is stored."""
    if not isinstance(answer, RenderedPlan):
        response = describe_failure(answer)
        return JobEnd("failed", response.status_code, bytes(response.body))
    plan = StoredPlan(
        question.project,
        answer.digest,
        answer.plan_id,
        answer.compressed_plan,
        answer.catalogue_digest,
        question.version,
    )
    plans.put(plan)
    return JobEnd(
        "done",
        200,
        plan_id=answer.plan_id,
        plan_digest=answer.digest,
        report=answer.report,
        media_type=answer.media_type,
        gap=answer.gap,
        reusable=not answer.cut_by_clock and answer.catalogue_digest == question.catalogue_digest,
    )


def describe_failure(answer: RejectedRequest | UnreadablePrices | FailedPlugin | CrashedJob) -> Response:
    """The problem that tells of it; a bug is logged."""
    if isinstance(answer, CrashedJob):
        return problems.internal_error_response(answer.details)
    if isinstance(answer, UnreadablePrices):
        return problems.unreadable_prices_response(InvalidSnapshot(answer.faults))
    if isinstance(answer, FailedPlugin):
        return problems.failed_plugin_response(answer.reason)
    return problems.invalid_request_response(
        answer.complaints,
        readable=answer.readable,
        doubts=answer.doubts,
        answers=answer.answers,
        is_editable=answer.is_editable,
    )


def end_too_long(seconds: float) -> JobEnd:
    """The end of a job that took longer than the clock allows."""
    detail = f"No plan was found in {seconds:g} seconds; reduce workloads, months or regions."
    return JobEnd("failed", 504, bytes(problems.problem_response(504, "too-long", "Too long", detail).body))


def end_died(job: JobRecord) -> JobEnd:
    """The end of a job whose workers died each time."""
    details = f"job {job.id}: {job.attempts} workers died (killed, or out of memory)"
    return JobEnd("failed", 500, bytes(problems.internal_error_response(details).body))
