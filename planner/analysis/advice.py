"""The advice on solved strategies: which one, and everything that should be known about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from planner.analysis.recommendation import recommend
from planner.analysis.rightsizing import list_rightsizing_reasons
from planner.analysis.warnings import list_doubts
from planner.optimization.solution import PlanningContext
from planner.optimization.strategy import SolvedStrategy
from planner.request.models import Request
from planner.result import Recommendation
from planner.result.message import message
from pricing.catalog.price_catalog import Catalog


def recommend_strategy(
    request: Request,
    context: PlanningContext,
    solved: Sequence[SolvedStrategy],
    catalog: Catalog,
    preferred: str | None = None,
) -> Recommendation:
    """The recommended strategy, or `preferred`, with what the clock cut, what is doubtful and what is too large."""
    strategies = tuple(s.strategy for s in solved)
    advice = recommend(strategies, request.months, request.currency, request.materiality_fraction, preferred)
    cut = [s.name for s in strategies if s.cut_by_clock]
    reasons = [
        *list_doubts(request, context, solved, catalog),
        *list_rightsizing_reasons(request, context, solved, advice.strategy, catalog),
    ]
    return replace(
        advice, reasons=(*advice.reasons, *([message("cut_by_clock", strategies=cut)] if cut else []), *reasons)
    )
