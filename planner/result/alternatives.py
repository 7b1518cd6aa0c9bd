"""What a plan chose from: every offering of the catalogue and every system that can be owned, and what became of it.

Which strategies and workloads use what was chosen stands in the strategies themselves (purchases and uses).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Literal

from planner.result.message import Message

Outcome = Literal["chosen", "not_chosen", "outdone", "refused"]


@dataclass(frozen=True, slots=True)
class RefusalCount:
    """A reason why something cannot serve, and the number of workloads that it holds for."""

    reason: Message
    workloads: int


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
    name: str
    accelerator: str
    accelerators_per_node: float | None
    purchase_options: str
    outcome: Outcome
    serves: int
    regions: int
    price_per_hour: float | None
    region: str
    as_of: date | None
    source_id: str
    against_chosen: float | None
    best_for: str
    refusals: tuple[RefusalCount, ...]

    @property
    def refusals_text(self) -> str:
        """The reasons with the number of workloads in brackets."""
        return "; ".join(f"{each.reason} ({each.workloads})" for each in self.refusals)
