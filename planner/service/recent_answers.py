"""The answers that were last given, in memory: an equal question is answered without the store."""

from __future__ import annotations

import time
from collections import OrderedDict

from planner.service.store import JobRecord
from planner.service.store.plans import StoredPlan
from pricing.frozen_values import dataclass

FRESH_SECONDS = 60
"""After which the store is asked again: another replica may have deleted the plan."""


@dataclass(frozen=True, slots=True)
class RecentAnswer:
    """A job that is done, with its plan; `read` is when the store had it."""

    job: JobRecord
    plan: StoredPlan
    read: float

    @property
    def size(self) -> int:
        """Bytes of the plan and its report."""
        return len(self.plan.compressed) + len(self.job.report)


class RecentAnswers:
    """Answers by project and digest of the question, of at most so many bytes; for one thread."""

    def __init__(self, bytes_max: int) -> None:
        self._max, self._size = bytes_max, 0
        self._answers: OrderedDict[tuple[str, str], RecentAnswer] = OrderedDict()

    def get(self, project: str, digest: str) -> RecentAnswer | None:
        """The answer to a question."""
        answer = self._answers.get((project, digest))
        if answer is None or time.monotonic() - answer.read > FRESH_SECONDS:
            return None
        self._answers.move_to_end((project, digest))
        return answer

    def put(self, job: JobRecord, plan: StoredPlan) -> RecentAnswer:
        """Remember an answer; the oldest are forgotten for it."""
        answer = RecentAnswer(job, plan, time.monotonic())
        key = (job.project, job.digest)
        self._drop_answer(key)
        self._answers[key] = answer
        self._size += answer.size
        while self._size > self._max:
            self._drop_answer(next(iter(self._answers)))
        return answer

    def forget(self, project: str, plan_digest: str) -> None:
        """Forget every answer with this plan."""
        keys = [key for key, each in self._answers.items() if (key[0], each.plan.digest) == (project, plan_digest)]
        for key in keys:
            self._drop_answer(key)

    def _drop_answer(self, key: tuple[str, str]) -> None:
        if (answer := self._answers.pop(key, None)) is not None:
            self._size -= answer.size
