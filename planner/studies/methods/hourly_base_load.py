"""The nodes of an hourly load that a commitment around the clock is worth, against on demand for the rest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field

from planner.finance.time_value import break_even
from planner.request.field_types import Amount, Positive
from planner.studies.comparison import Nested
from planner.studies.formulas import Load
from planner.studies.inputs import StudyInputs

LEAVES_OUT = "It leaves out growth over the term, other ways of paying, and discounting: every repeat is the same."
NO_FULL_COST = "rented, no hardware is owned"


class HourlyBaseLoadInputs(StudyInputs):
    """Nodes at work in each hour of a day, a week or a year, and how often that repeats."""

    load_by_hour: Annotated[list[Amount], Field(min_length=1)]
    repeats: Positive = 1.0
    on_demand_usd_per_hour: Positive
    committed_usd_per_hour: Positive
    committed_nodes: Amount | None = None


INPUTS = HourlyBaseLoadInputs


def outputs(inputs: HourlyBaseLoadInputs) -> Mapping[str, Nested]:
    hours, rent = inputs.load_by_hour, inputs.on_demand_usd_per_hour
    load = Load(hours, inputs.repeats, rent, inputs.committed_usd_per_hour, len(hours))
    level = inputs.committed_nodes
    result = load.commit_at_least_cost() if level is None else load.commit(level)
    return {
        "base_load_nodes": min(hours),
        "peak_nodes": max(hours),
        "mean_nodes": sum(hours) / len(hours),
        "committed_nodes": result.nodes,
        "commitment_usd": result.committed_cost,
        "on_demand_usd": result.on_demand_cost,
        "total_usd": result.total,
        "all_on_demand_usd": load.commit(0.0).total,
        "total_at_base_load_usd": load.commit(min(hours)).total,
        "total_at_peak_usd": load.commit(max(hours)).total,
        "saving_usd": load.commit(0.0).total - result.total,
        "utilisation": result.utilisation,
        "coverage": result.coverage,
        "breakeven_hours_fraction": break_even(0.0, 0.0, rent, inputs.committed_usd_per_hour)[1],
    }
