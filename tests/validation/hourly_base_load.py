"""The nodes of an hourly load that a commitment around the clock is worth, against on demand for the rest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field

from planner.finance.time_value import break_even
from planner.request.field_types import Amount, Positive
from tests.validation import _inputs
from tests.validation._comparison import Nested
from tests.validation._formulas import Load

LEAVES_OUT = "It leaves out growth over the term, other ways of paying, and discounting: every repeat is the same."
NO_FULL_COST = "rented, nothing is owned"


class Inputs(_inputs.Inputs):
    """Nodes at work in each hour of a day, a week or a year, and how often that repeats."""

    load_by_hour: Annotated[list[Amount], Field(min_length=1)]
    repeats: Positive = 1.0
    on_demand_usd_per_hour: Positive
    committed_usd_per_hour: Positive
    committed_nodes: Amount | None = None


def outputs(inputs: Inputs) -> Mapping[str, Nested]:
    hours, rent = inputs.load_by_hour, inputs.on_demand_usd_per_hour
    load = Load(hours, inputs.repeats, rent, inputs.committed_usd_per_hour, len(hours))
    level = inputs.committed_nodes
    found = load.commit_at_least_cost() if level is None else load.commit(level)
    return {
        "base_load_nodes": min(hours),
        "peak_nodes": max(hours),
        "mean_nodes": sum(hours) / len(hours),
        "committed_nodes": found.nodes,
        "commitment_usd": found.committed_cost,
        "on_demand_usd": found.on_demand_cost,
        "total_usd": found.total,
        "all_on_demand_usd": load.commit(0.0).total,
        "total_at_base_load_usd": load.commit(min(hours)).total,
        "total_at_peak_usd": load.commit(max(hours)).total,
        "saving_usd": load.commit(0.0).total - found.total,
        "utilisation": found.utilisation,
        "coverage": found.coverage,
        "breakeven_hours_fraction": break_even(0.0, 0.0, rent, inputs.committed_usd_per_hour)[1],
    }
