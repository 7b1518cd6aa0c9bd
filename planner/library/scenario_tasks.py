"""Scenarios planned one after the other here, or side by side by the workers of a Dask scheduler."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from planner.application.dask_tasks import is_dask_installed, run_on_dask
from planner.application.shared_tasks import VERSION, open_same_catalog
from planner.library.input_reading import InputRead
from planner.library.plan_result import PlanResult
from planner.library.planning import plan_read
from planner.reports.json import loads, render
from planner.request.errors import InputProblem, InvalidRequest
from pricing.catalog.catalogue_digest import digest_catalogue


def plan_scenarios(prepared: Mapping[str, InputRead], dask: str | None) -> dict[str, PlanResult]:
    """The plan of each scenario, by the workers of the scheduler at a URL if there is one. InvalidRequest where that
    needs an extra."""
    if not dask:
        return {name: plan_read(read) for name, read in prepared.items()}
    if not is_dask_installed():
        expected = "the extra that it needs: pip install 'gpu-planner[dask]'"
        raise InvalidRequest((InputProblem("", "dask=", "Dask is not installed", dask, expected),))
    reads = list(prepared.values())
    calls = [(_without_catalog(read), digest_catalogue(read.catalog), VERSION) for read in reads]
    plans = run_on_dask(dask, _plan_elsewhere, calls, lambda number: _render_plan(reads[number]), lambda _: None)
    return {name: PlanResult(loads(plan)) for name, plan in zip(prepared, plans, strict=True)}


def _without_catalog(read: InputRead) -> dict[str, Any]:
    """All of a request that another machine needs: the prices are its own."""
    return {each.name: getattr(read, each.name) for each in fields(read) if each.name != "catalog"}


def _plan_elsewhere(parts: Mapping[str, Any], prices: str, release: str) -> bytes | None:
    """A plan as JSON, with the prices of this machine; None where these or the version are others."""
    catalog = open_same_catalog(prices, release)
    return None if catalog is None else _render_plan(InputRead(catalog=catalog, **parts))


def _render_plan(read: InputRead) -> bytes:
    return render(plan_read(read).plan)
