"""What a plan chose from: every offering of the catalogue and every system that can be owned, and what became of it.

Which strategies and workloads use what was chosen stands in the strategies themselves (purchases and uses).
"""

from __future__ import annotations

from datetime import date
from typing import Literal

from planner.result.message import Message
from pricing.frozen_values import dataclass

Outcome = Literal["chosen", "not_chosen", "outdone", "refused"]


@dataclass(frozen=True, slots=True)
class RefusalCount:
    """A reason why something cannot serve, and the number of workloads that it holds for."""

    reason: Message
    """Why workloads cannot run on it."""
    workloads: int
    """Number of workloads with this reason."""


@dataclass(frozen=True, slots=True)
class OfferOutcome:
    """One offering in one way of paying, or in all those that came to the same end.

    `outcome`: chosen (some strategy buys or uses it), not_chosen (the solver could and did not), outdone (left out
    before the solver: something else is proven to do all of its work for no more), refused (it can serve no workload).
    `purchase_options` are separated by spaces, "" where nothing has a price; outdone or refused ones of an offering
    stand together, and all figures are those of the first, the one nearest to being chosen.

    `serves` is how many workloads it can serve; `refusals` say why it cannot serve the others, the most frequent
    reason first. `price_per_hour` is that of a whole node in the plan's currency,
    the least of what was chosen, could serve or else is listed, in `region`, one of `regions` that have a price; None
    without any. `against_chosen` is its price of a unit of work at full use over that of what the recommended strategy
    runs `best_for` on (1: as dear; data and idle hours aside), for the workload where that is least; None where
    nothing is compared.

    An owned system has the provider "", the option "owned", no region, as price the level cost of a node-hour at full
    use over its life, and as `source_id` its source in words.
    """

    provider: str
    """Provider; empty for owned systems."""
    name: str
    """Instance type or owned system."""
    accelerator: str
    """Name of the accelerator."""
    accelerators_per_node: float | None
    """Accelerators of one node; null: unknown."""
    purchase_options: str
    """Purchase options with this outcome, separated by spaces; empty: nothing has a price."""
    outcome: Outcome
    """Outcome: chosen, not_chosen, outdone (another costs no more for all of its work) or refused."""
    serves: int
    """Number of workloads that it can serve."""
    regions: int
    """Number of regions with a price."""
    price_per_hour: float | None
    """Price of a node-hour, in the plan's currency; null: no price."""
    region: str
    """Region of that price."""
    as_of: date | None
    """Date of that price; null: no price."""
    source_id: str
    """Identifier of the price's source; for owned systems the source in words."""
    against_chosen: float | None
    """Its price per work unit divided by that of the chosen resource; null: not compared."""
    best_for: str
    """Workload for which that ratio is lowest."""
    refusals: tuple[RefusalCount, ...]
    """Why it cannot serve the other workloads, most frequent reason first."""

    @property
    def refusals_text(self) -> str:
        """The reasons with the number of workloads in brackets."""
        return "; ".join(f"{each.reason} ({each.workloads})" for each in self.refusals)
