"""Tasks of a job over the queue of its store: its worker does one after the other, and idle workers do others."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from functools import partial

from planner.application.shared_tasks import VERSION, TaskTerms
from planner.service.store.engine import STORE_OUTAGES, open_engine
from planner.service.store.tasks import TaskStore, task_id

POLL_SECONDS = 0.1
"""How often a worker with nothing left to do looks whether the others are ready."""
log = logging.getLogger("planner.service")


class QueueTasks:
    """The tasks of one job in the store at a URL, for the worker that makes its plan."""

    def __init__(self, store_url: str, job: str) -> None:
        self._store_url, self._job = store_url, job

    def __call__(
        self, tasks: Sequence[str], terms: TaskTerms, here: Callable[[str], str], tell: Callable[[int], None]
    ) -> list[str]:
        """The outcomes of tasks in their order. Where the store fails meanwhile, the rest is done here."""
        engine, outcomes = open_engine(self._store_url), dict[str, str]()
        store = TaskStore(engine)
        documents = {task_id(self._job, terms.prices, VERSION, task): task for task in tasks}
        try:
            store.add(self._job, documents, terms.prices, VERSION, terms.deadline)
            while (done := store.count_done(documents)) < len(documents):
                tell(done)
                task = store.claim_own(self._job)
                if task is None:
                    time.sleep(POLL_SECONDS)
                else:
                    outcomes[task.id] = here(task.document)
                    store.end(task.id, outcomes[task.id])
            outcomes.update(store.outcomes(documents))
        except STORE_OUTAGES as error:
            log.warning("the store does not answer, the rest of a plan is made by one worker: %s", error)
            for identity, document in documents.items():
                if identity not in outcomes:
                    tell(len(outcomes))
                    outcomes[identity] = here(document)
        finally:
            engine.dispose()
        return [outcomes[identity] for identity in map(partial(task_id, self._job, terms.prices, VERSION), tasks)]
