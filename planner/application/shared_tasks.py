"""A task as another process does it: only with the same prices and the same version, so that every outcome is equal."""

from __future__ import annotations

import logging
from importlib.metadata import version

from planner.analysis.risk.replan_tasks import TaskRunner, TaskTerms, share_tasks
from planner.pipeline import answer_replan_task
from pricing.catalog.catalogue_digest import digest_catalogue
from pricing.catalog.price_catalog import Catalog

__all__ = ["VERSION", "TaskRunner", "TaskTerms", "answer_shared_task", "open_same_catalog", "share_tasks"]

VERSION = version("gpu-planner")
log = logging.getLogger("planner.application")


def open_same_catalog(prices: str, release: str) -> Catalog | None:
    """This machine's catalogue, for a plan of another; None where its prices or its version are not those."""
    catalog = Catalog.current()
    return catalog if release == VERSION and digest_catalogue(catalog) == prices else None


def answer_shared_task(task: str, prices: str, release: str, deadline: float | None) -> str | None:
    """The outcome of a task; None where it has to be done elsewhere. `deadline`: when its searches end, in seconds
    since 1970."""
    catalog = open_same_catalog(prices, release)
    if catalog is None:
        return None
    try:
        return answer_replan_task(task, catalog, deadline)
    except Exception:  # whoever asked does it, too, and has the error in its own place
        log.exception("a task of a plan failed")
        return None
