"""Commitments for a few months at a time against on demand: nodes for each term, given or of least cost."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Annotated

from pydantic import Field

from planner.finance.time_value import break_even
from planner.request.field_types import Amount, Positive
from planner.studies.comparison import Nested
from planner.studies.formulas import Load
from planner.studies.inputs import StudyInputs
from pricing.units import HOURS_PER_MONTH

LEAVES_OUT = "It leaves out peaks within a month, other terms and ways of paying, and discounting."
NO_FULL_COST = "rented, no hardware is owned"


class ThreeMonthCommitmentsInputs(StudyInputs):
    """Nodes at work on average in each month. A term starts when the one before ends; the last is owed whole."""

    nodes_by_month: Annotated[list[Amount], Field(min_length=1)]
    on_demand_usd_per_hour: Positive
    committed_usd_per_hour: Positive
    committed_nodes: Amount | list[Amount] | None = None
    term_months: Annotated[int, Field(gt=0)] = 3
    hours_per_month: Positive = HOURS_PER_MONTH

    def loads(self) -> list[Load]:
        months, term = self.nodes_by_month, self.term_months
        rates = (self.hours_per_month, self.on_demand_usd_per_hour, self.committed_usd_per_hour, term)
        return [Load(months[first : first + term], *rates) for first in range(0, len(months), term)]


INPUTS = ThreeMonthCommitmentsInputs


def outputs(inputs: ThreeMonthCommitmentsInputs) -> Mapping[str, Nested]:
    loads, given = inputs.loads(), inputs.committed_nodes
    levels = given if isinstance(given, list) else [given] * len(loads)
    terms = [
        load.commit_at_least_cost() if level is None else load.commit(level)
        for load, level in zip(loads, levels, strict=False)
    ]
    all_on_demand = math.fsum(load.commit(0.0).total for load in loads[: len(terms)])
    total = math.fsum(term.total for term in terms)
    rent = inputs.on_demand_usd_per_hour
    return {
        "committed_nodes": [term.nodes for term in terms],
        "total_usd_by_term": [term.total for term in terms],
        "commitment_usd": math.fsum(term.committed_cost for term in terms),
        "on_demand_usd": math.fsum(term.on_demand_cost for term in terms),
        "total_usd": total,
        "all_on_demand_usd": all_on_demand,
        "saving_usd": all_on_demand - total,
        "saving_fraction": 1 - total / all_on_demand if all_on_demand else None,
        "utilisation": [term.utilisation for term in terms],
        "coverage": [term.coverage for term in terms],
        "breakeven_utilisation": break_even(0.0, 0.0, rent, inputs.committed_usd_per_hour)[1],
    }
