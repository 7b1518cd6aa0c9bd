"""The order of the readable report: what to do and what it costs first, then how sure that is and what it rests on."""

from __future__ import annotations

from planner.answer import Plan
from planner.reports._shared.cash import cash_in_full, cash_in_short
from planner.reports._shared.changes import changes_in_full, changes_section
from planner.reports._shared.evidence import assumptions, break_even, gaps, inputs, prices, throughput
from planner.reports._shared.margins import margins_section
from planner.reports._shared.quotas import quotas
from planner.reports._shared.risk import risk_section
from planner.reports._shared.sections import (
    Section,
    purchases,
    recommendation,
    recommended,
    strategies,
    uses,
    workloads,
)
from planner.reports._shared.views import bridge, owning, tax, unit_economics


def answer(plan: Plan) -> list[Section]:
    """What to do, against what, and what changed: the sections that a report begins with."""
    found = [recommendation(plan), strategies(plan), changes_section(plan), bridge(plan)]
    return [section for section in found if section is not None]


def report(plan: Plan, *, in_full: bool = False) -> list[Section]:
    """Every section that has something to say; `in_full` with the tables too long to read, of what others sum up."""
    return [*answer(plan), *grounds(plan, in_full=in_full)]


def grounds(plan: Plan, *, in_full: bool = False) -> list[Section]:
    """What the answer rests on: payments, purchases and uses, how sure it is, and everything that was assumed."""
    chosen = recommended(plan)
    found: list[Section | None] = [changes_in_full(plan) if in_full else None]
    if chosen is not None:
        found += [
            *(cash_in_full(plan, chosen) if in_full else (cash_in_short(plan, chosen),)),
            purchases(plan, chosen),
            uses(plan, chosen),
            workloads(plan, chosen),
            unit_economics(plan),
        ]
    found += [*quotas(plan), owning(plan), break_even(plan), tax(plan), risk_section(plan), margins_section(plan)]
    found += [throughput(plan), gaps(plan), assumptions(plan), prices(plan), inputs(plan)]
    return [section for section in found if section is not None]
