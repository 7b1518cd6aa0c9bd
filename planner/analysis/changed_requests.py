"""Comparisons of a plan with plans of changed requests: levels of recovery, volumes at which calls cost as much."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from planner.analysis.call_prices import compare_call_prices
from planner.analysis.recovery_levels import compare_recovery_levels
from planner.request.assumptions import Assumptions
from planner.request.models import Request
from planner.result import Plan, Strategy


def add_comparisons(
    request: Request, baseline: Plan, assumptions: Assumptions, replan: Callable[[Request], Strategy]
) -> Plan:
    """The plan of a request as written, with its comparisons; `replan` gives the first strategy of another request."""
    levels = compare_recovery_levels(request, baseline, assumptions, replan)
    return replace(baseline, recovery=levels, calls=compare_call_prices(request, baseline, replan))
