"""Questions for plans: their digests, by which equal ones are known, and their jobs."""

from __future__ import annotations

import hashlib
import json
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from importlib.metadata import version

from planner.service.job_effort import estimate_effort
from planner.service.plan_jobs import ANSWER, compress
from planner.service.store import NewJob, ServiceStore
from planner.service.uploads import Upload
from pricing.catalog.catalogue_digest import digest_catalogue
from pricing.catalog.price_catalog import Catalog
from pricing.clock import today
from pricing.frozen_values import dataclass
from pricing.installed_plugins import list_plugins

VERSION = version("gpu-planner")
CATALOGUE_SECONDS = 1
"""How long the digest of the catalogue is taken for current."""


@dataclass(frozen=True, slots=True)
class PlanQuestion:
    """A body, settings of the query, a format, and the digest of a plan to compare with."""

    upload: Upload
    query: Mapping[str, Sequence[str]]
    format: str = "json"
    compare_to: str = ""


class QuestionDigests:
    """Digests of questions on the prices of now."""

    def __init__(self) -> None:
        self._catalogue, self._read = "", -float(CATALOGUE_SECONDS)

    @property
    def catalogue(self) -> str:
        """The digest of the catalogue, a second old at most."""
        if time.monotonic() - self._read >= CATALOGUE_SECONDS:
            self._catalogue, self._read = digest_catalogue(Catalog.current()), time.monotonic()
        return self._catalogue

    def digest(self, question: PlanQuestion) -> str:
        """Equal for equal questions on equal prices on the same day, on which a plan without a date depends."""
        upload, query = question.upload, sorted((name, tuple(texts)) for name, texts in question.query.items())
        settings = (
            query,
            question.format,
            question.compare_to,
            self.catalogue,
            VERSION,
            list_plugins(),
            today().toordinal(),
        )
        digest = hashlib.sha256(repr((upload.name, upload.is_file, settings)).encode())
        for data in (upload.data, upload.answers):
            digest.update(len(data).to_bytes(8, "big"))
            digest.update(data)
        return digest.hexdigest()


def read_stated_answers(question: PlanQuestion) -> dict[str, str]:
    """The choices of the query by the questions about a file that they answer."""
    parts = (text.rpartition("=") for text in question.query.get(ANSWER, ()))
    return {name.strip(): choice.strip() for name, equals, choice in parts if equals and name.strip()}


def note_prices(store: ServiceStore, job: NewJob) -> None:
    """Store a description of the prices of a job, so that its plan can be traced to them later."""
    catalog, by_provider = Catalog.current(), Counter[str]()
    for each in catalog.coverage():
        by_provider[each.provider] += each.prices
    oldest = catalog.oldest().isoformat()
    store.price_snapshots.note(job.catalogue_digest, job.version, oldest, dict(by_provider))


def describe_job(
    project: str,
    question: PlanQuestion,
    digest: str,
    catalogue: str,
    short_effort: int,
    idempotency_key: str,
    durable: bool,
) -> NewJob:
    """The job for a question, in its lane."""
    upload = question.upload
    effort = estimate_effort(upload, question.query, Catalog.current())
    return NewJob(
        project=project,
        kind="plan",
        body=compress(upload.data),
        file_name=upload.name,
        is_file=upload.is_file,
        answers=compress(upload.answers),
        query=json.dumps(question.query),
        format=question.format,
        compare_to=question.compare_to,
        digest=digest,
        catalogue_digest=catalogue,
        version=VERSION,
        lane="short" if effort <= short_effort else "long",
        effort=effort,
        durable=durable,
        idempotency_key=idempotency_key,
    )
