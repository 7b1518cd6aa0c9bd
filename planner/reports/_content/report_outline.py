"""The order of the readable report: the recommendation and its cost first, then uncertainty and evidence."""

from __future__ import annotations

from dataclasses import replace

from planner.reports._content.call_prices import call_prices_section, call_sentences
from planner.reports._content.cash_flow import cash_sections
from planner.reports._content.changes import changes_section, full_changes_section
from planner.reports._content.commitments import commitments_section
from planner.reports._content.emissions import emissions_section
from planner.reports._content.evidence import (
    assumptions_section,
    break_even_section,
    gaps_section,
    input_section,
    prices_section,
    throughput_section,
)
from planner.reports._content.financial_views import (
    bridge_section,
    depreciation_section,
    marginal_cost_section,
    owning_section,
    unit_economics_section,
)
from planner.reports._content.negotiation import negotiation_section
from planner.reports._content.recovery import recovery_section
from planner.reports._content.risk import risk_section
from planner.reports._content.sections import (
    Section,
    make_bullets,
    purchases_section,
    quota_section,
    recommendation_section,
    recommended_strategy,
    strategies_section,
    usage_section,
    workloads_section,
)
from planner.reports._content.uncertainty import uncertainty_section
from planner.result import Plan


def decision_sections(plan: Plan) -> list[Section]:
    """The first sections of a report: recommendation, strategies, changes and savings."""
    first = recommendation_section(plan)
    if sentences := list(call_sentences(plan)):
        first = replace(first, blocks=(*first.blocks, make_bullets(sentences)))
    sections = [first, strategies_section(plan), changes_section(plan), bridge_section(plan)]
    return [section for section in sections if section is not None]


def evidence_sections(plan: Plan, *, in_full: bool = False) -> list[Section]:
    """The sections that support the answer: payments, purchases and uses, uncertainty, assumptions and sources."""
    chosen = recommended_strategy(plan)
    sections: list[Section | None] = [full_changes_section(plan) if in_full else None]
    if chosen is not None:
        sections += [
            *cash_sections(plan, chosen, in_full=in_full),
            purchases_section(plan, chosen),
            commitments_section(plan),
            usage_section(plan, chosen),
            workloads_section(plan, chosen),
            unit_economics_section(plan),
            emissions_section(plan, chosen),
        ]
    sections += [
        call_prices_section(plan),
        recovery_section(plan),
        quota_section(plan),
        negotiation_section(plan),
        owning_section(plan),
        break_even_section(plan),
        depreciation_section(plan),
        uncertainty_section(plan),
        risk_section(plan),
        marginal_cost_section(plan),
        throughput_section(plan),
        gaps_section(plan),
        assumptions_section(plan),
        prices_section(plan),
        input_section(plan),
    ]
    return [section for section in sections if section is not None]
