"""Plans of the same request in many cases, as tasks that anybody with the same prices may do.

A door may set a runner that has them done by other processes or machines. A task is a text, so that none needs to trust
the other with more than numbers, and its outcome is the same wherever it is made.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import asdict
from typing import Protocol

from planner.analysis.risk.replanning import ReplanCase, ReplannedCosts
from planner.optimization.search_progress import deadline_time, follow_search, report_phase
from planner.optimization.solver import new_known_solutions, remember_solutions
from planner.request.models import Request, parse_request
from pricing.frozen_values import dataclass

ReplanFunction = Callable[[Request, ReplanCase], ReplannedCosts]
"""Plans a request in one case."""


@dataclass(frozen=True, slots=True)
class TaskTerms:
    """What the outcome of a task depends on: the digest of the catalogue that it is planned with, and when its searches
    end, in seconds since 1970 (None: by their work alone)."""

    prices: str
    deadline: float | None = None


class TaskRunner(Protocol):
    """Has tasks done, and gives their outcomes in the order of the tasks. `here` does one in this process, for what
    nobody else does; `tell` hears how many are done."""

    def __call__(
        self, tasks: Sequence[str], terms: TaskTerms, here: Callable[[str], str], tell: Callable[[int], None]
    ) -> Sequence[str]: ...


_KNOWN = new_known_solutions()
_RUNNER: ContextVar[TaskRunner | None] = ContextVar("runner", default=None)


@contextmanager
def share_tasks(runner: TaskRunner | None) -> Iterator[None]:
    """Within it, plans that are made again are done by `runner`; None: here, one after the other."""
    token = _RUNNER.set(runner)
    try:
        yield
    finally:
        _RUNNER.reset(token)


def replan_cases(
    request: Request, plan_case: ReplanFunction, prices: Callable[[], str], cases: Sequence[ReplanCase]
) -> list[ReplannedCosts]:
    """The request in each case, by the runner of the door where there is one; `prices` gives the digest of the
    catalogue."""

    def tell(done: int) -> None:
        report_phase("replanning", done, len(cases))

    runner, document = _RUNNER.get(), None
    if runner is not None and len(cases) > 1:
        document = write_request(request)
    if runner is None or document is None:
        outcomes = []
        for done, case in enumerate(cases):
            tell(done)
            outcomes.append(plan_case(request, case))
        return outcomes
    tasks = [_write_task(document, case) for case in cases]
    answers = runner(tasks, TaskTerms(prices(), deadline_time()), lambda task: answer_task(task, plan_case), tell)
    return [ReplannedCosts(**json.loads(answer)) for answer in answers]


def answer_task_elsewhere(task: str, plan_case: ReplanFunction, deadline: float | None) -> str:
    """The outcome of a task of another process; it remembers solutions, as the tasks of a plan have many programs in
    common."""
    seconds = math.inf if deadline is None else deadline - time.time()
    with remember_solutions(_KNOWN), follow_search(lambda _: None, seconds):
        return answer_task(task, plan_case)


def answer_task(task: str, plan_case: ReplanFunction) -> str:
    """The outcome of a task."""
    stated = json.loads(task)
    throughputs = {(workload, accelerator): end for workload, accelerator, end in stated["throughputs"]}
    case = ReplanCase(stated["assumptions"], throughputs)
    return json.dumps(asdict(plan_case(parse_request(stated["request"]), case)))


def write_request(request: Request) -> str | None:
    """A request as JSON; None where reading that would give another request."""
    document = request.model_dump_json(exclude_unset=True)
    return document if parse_request(json.loads(document)) == request else None


def _write_task(document: str, case: ReplanCase) -> str:
    ends = [(*key, end) for key, end in case.throughputs.items()]
    rest = json.dumps({"assumptions": dict(case.assumptions), "throughputs": ends})
    return f'{{"request": {document}, {rest[1:]}'
