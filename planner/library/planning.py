"""`planner.plan` and `planner.load`."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from planner.application import plan_input
from planner.library.file_problems import unreadable_file
from planner.library.input_reading import InputChoices, InputRead, read_input
from planner.library.plan_result import PlanResult
from planner.reports.json import loads
from planner.request.errors import InvalidRequest

if TYPE_CHECKING:
    from pricing.catalog.price_catalog import Catalog


def plan(
    request: Any,
    *,
    catalog: Catalog | None = None,
    answers: Mapping[str, str] | str | os.PathLike[str] | None = None,
    accept_proposals: bool = False,
    columns: Mapping[str, str] | None = None,
    dates: str | None = None,
    sheets: Sequence[str] = (),
    cells: Mapping[str, Any] | None = None,
    growth: float | str | None = None,
    tag: str | None = None,
    substitution: bool = False,
    compare_to: PlanResult | None = None,
    confirm_prices: bool = False,
    **settings: Any,
) -> PlanResult:
    """The plan for a request, the same that `planner estimate` and the service make of it.

    `request` is a path to any file that `planner estimate` reads, a mapping or list of workloads as in
    docs/reference/request.md, a `planner.Request`, or a data frame (pandas, polars, or any with the Arrow interchange)
    in the columns of a spreadsheet. `settings` are fields of the request (months, as_of, providers, assumptions,
    limits ...) and go before those in it; `assumptions`, `risk` and `uncertainty` are merged by name.

    How a sheet or frame is read: `answers` to its questions by id (or an answers file), `accept_proposals` for those
    without one, `columns` (title: field), `dates` (dmy or mdy), the only `sheets` to read, and `cells` to replace. How
    a bill goes on: `growth` a month, the `tag` that names workloads, `substitution` by other accelerators.
    `compare_to` adds the changes since an earlier plan, `confirm_prices` plans again at each price to negotiate.

    Raises OpenQuestions where only answers are missing, InvalidRequest with every fault and its place. A plan that
    cannot exist is a result with `status` infeasible.

    >>> import planner
    >>> job = {"name": "scoring", "demand": {"accelerator_hours_per_month": 730, "accelerator": "L4"}}
    >>> result = planner.plan(job, months=1, start="2026-12", as_of="2026-11-21", strategies=["cloud"])
    >>> result.recommendation.strategy
    'cloud'
    >>> planner.plan(job, months=0, curency="EUR")
    Traceback (most recent call last):
        ...
    planner.request.errors.InvalidRequest: months=: not valid; read 0; expected greater than or equal to 1
    curency=: unknown field; read curency; expected currency
    """
    choices = InputChoices(
        answers, accept_proposals, columns or {}, dates, sheets, cells or {}, growth, tag, substitution
    )
    read = read_input(request, settings, choices, catalog)
    return plan_read(read, compare_to, confirm_prices=confirm_prices)


def plan_read(read: InputRead, compare_to: PlanResult | None = None, *, confirm_prices: bool = False) -> PlanResult:
    """The plan of a request that was read. InvalidRequest as `plan`."""
    return PlanResult(
        plan_input(
            read.source,
            read.document,
            read.catalog,
            read.problems,
            read.places,
            last_review=None if compare_to is None else compare_to.plan,
            negotiates=confirm_prices,
            accepts_proposals=read.accepts_proposals,
        )
    )


def load(path: str | os.PathLike[str]) -> PlanResult:
    """A plan that `to_json` or `planner estimate -o plan.json` wrote. InvalidRequest where the file has none."""
    try:
        return PlanResult(loads(Path(path).read_bytes()))
    except OSError as error:
        raise InvalidRequest((unreadable_file(os.fspath(path), error),)) from None
