"""Quota requests that a plan needs, as a section of the readable report."""

from __future__ import annotations

from planner.reports._content.number_format import format_number, month_name
from planner.reports._content.sections import Section, make_bullets, make_table, recommended_strategy
from planner.result import Plan, QuotaRequest
from pricing.quota import UNIT_WORDS

UNKNOWN = "unknown"


def quota_sections(plan: Plan) -> list[Section]:
    """Requests of the recommended strategy; no section where no strategy exceeds a quota."""
    if not plan.quota_requests:
        return []
    chosen = recommended_strategy(plan)
    name = chosen.name if chosen else ""
    strategy_requests = [request for request in plan.quota_requests if request.strategy == name]
    rows = [_quota_row(plan, request) for request in strategy_requests]
    titles = ("where", "quota", "unit", "to request", "more", "limit", "in use", "runs", "by", "title and purpose")
    blocks = (make_table(titles, rows, (3, 4, 5, 6, 7), has_prose=True),) if rows else ()
    facts = ["A provider may refuse: request early. The plan does not take quotas into account."]
    others = len(plan.quota_requests) - len(strategy_requests)
    if others:
        facts.append(f"Requests of the other strategies: {others:,d}; json and xlsx have them.")
    if not rows:
        facts.insert(0, "None for the recommended strategy.")
    return [Section("Quotas to request", (*blocks, make_bullets(facts)))]


def missing_quota(request: QuotaRequest) -> float:
    """The necessary increase of the limit."""
    return request.ask_for - request.limit


def _quota_row(plan: Plan, request: QuotaRequest) -> tuple[str, ...]:
    return (
        f"{request.provider} {request.region}",
        request.code,
        UNIT_WORDS[request.unit],
        format_number(request.ask_for),
        format_number(missing_quota(request)),
        format_number(request.limit),
        UNKNOWN if request.used is None else format_number(request.used),
        format_number(request.needed),
        month_name(plan, request.first_month),
        f"{request.title}, as of {request.as_of}; for {', '.join(request.workloads) or 'nodes committed to'}",
    )
