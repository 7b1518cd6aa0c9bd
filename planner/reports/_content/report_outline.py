"""The order of the readable report: the recommendation and its cost first, then uncertainty and evidence."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from planner.reports._content.call_prices import call_prices_section, call_sentences
from planner.reports._content.cash_flow import cash_sections
from planner.reports._content.changes import changes_section, full_changes_section
from planner.reports._content.commitments import commitments_section
from planner.reports._content.cost_centres import cost_centre_months_section, cost_centre_section
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
from planner.result import Plan, Strategy

Builder = Callable[[Plan, Strategy | None, bool], Iterable[Section | None]]
"""The sections under a name: of the plan, its recommended strategy, and in full or in short."""


def _of_plan(section: Callable[[Plan], Section | None]) -> Builder:
    return lambda plan, _chosen, _in_full: [section(plan)]


def _of_chosen(*sections: Callable[[Plan, Strategy], Section | None]) -> Builder:
    return lambda plan, chosen, _in_full: [section(plan, chosen) for section in sections] if chosen else []


SECTIONS: Mapping[str, Builder] = {
    "recommendation": lambda plan, _chosen, _in_full: [_decision_section(plan)],
    "strategies": _of_plan(strategies_section),
    "changes": lambda plan, _chosen, in_full: [changes_section(plan), full_changes_section(plan) if in_full else None],
    "bridge": _of_plan(bridge_section),
    "cash": lambda plan, chosen, in_full: cash_sections(plan, chosen, in_full=in_full) if chosen else [],
    "cost-centres": lambda plan, _chosen, _in_full: [cost_centre_section(plan), cost_centre_months_section(plan)],
    "purchases": _of_chosen(purchases_section),
    "commitments": _of_plan(commitments_section),
    "use": _of_chosen(usage_section),
    "workloads": _of_chosen(workloads_section),
    "unit-costs": _of_plan(unit_economics_section),
    "emissions": _of_chosen(emissions_section),
    "calls": _of_plan(call_prices_section),
    "recovery": _of_plan(recovery_section),
    "quotas": _of_plan(quota_section),
    "negotiation": _of_plan(negotiation_section),
    "owning": _of_plan(owning_section),
    "break-even": _of_plan(break_even_section),
    "depreciation": _of_plan(depreciation_section),
    "scenarios": _of_plan(uncertainty_section),
    "uncertainty": _of_plan(risk_section),
    "marginal-cost": _of_plan(marginal_cost_section),
    "throughput": _of_plan(throughput_section),
    "gaps": _of_plan(gaps_section),
    "assumptions": _of_plan(assumptions_section),
    "prices": _of_plan(prices_section),
    "input": _of_plan(input_section),
}
"""Every part of the report by the name that `--section` takes, in its order: the decision, its cost, uncertainty,
assumptions and sources."""


def list_sections(plan: Plan, names: Iterable[str], *, in_full: bool = False) -> list[Section]:
    """The sections under these names, those without content left out."""
    chosen = recommended_strategy(plan)
    return [section for name in names for section in SECTIONS[name](plan, chosen, in_full) if section is not None]


def _decision_section(plan: Plan) -> Section:
    first = recommendation_section(plan)
    sentences = list(call_sentences(plan))
    return replace(first, blocks=(*first.blocks, make_bullets(sentences))) if sentences else first
