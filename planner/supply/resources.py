"""Resources: each is one way to get nodes, an offering in a region under one purchase option, or an owned system."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from planner.result import EXISTING_SUFFIX
from planner.supply.onprem import OwnedNode
from planner.supply.purchase_options import CommitmentUnit, load_purchase_options
from pricing.catalog.quotes import Quote

EXISTING_KEY, OWNED_KEY = "~held", "~owned"
"""The first part of the key of existing capacity, and of systems that can be purchased."""
FOLLOWING = ("name", "provider", "region", "place", "purchase_option", "interrupts")
"""Fields of a resource that follow from its others."""
ResourceKind = Literal["hourly", "covered", "commitment", "owned"]
"""By the hour; by the hour and set against committed money; nodes committed to; nodes owned."""


@dataclass(frozen=True, slots=True)
class ExistingCapacity:
    """Capacity from before the plan: `count` nodes in the months `covers`.

    `age_months` is the age of owned nodes at the start of the plan, `counts_value` whether their market value counts at
    both ends; `fee_per_month` is the fee of commitments for all nodes together.
    """

    count: int
    covers: range
    age_months: int = 0
    fee_per_month: float = 0.0
    counts_value: bool = False


@dataclass(frozen=True, slots=True)
class Resource:
    """One way to get nodes. Exactly one of `quote` and `node` is set; `key` orders resources and breaks ties.

    `pool` is the key of the committed money that a covered resource is set against. `last_start` is the last month in
    which it can be started, `last_month` the last in which it works; None where every month will do.
    """

    key: tuple[str, ...]
    what: ResourceKind
    accelerator: str
    accelerators_per_node: float
    quote: Quote | None = None
    node: OwnedNode | None = None
    held: ExistingCapacity | None = None
    pool: tuple[str, ...] = ()
    last_start: int | None = None
    last_month: int | None = None
    name: str = field(init=False, compare=False)
    """The owned system or the instance type."""
    provider: str = field(init=False, compare=False)
    """Empty for owned systems, as is the region."""
    region: str = field(init=False, compare=False)
    place: tuple[str, ...] = field(init=False, compare=False)
    """Where its nodes are: provider, region and instance type; or the owned system, new and existing alike."""
    purchase_option: str = field(init=False, compare=False)
    interrupts: bool = field(init=False, compare=False)
    """Whether its provider may take its nodes back: spot."""

    def __post_init__(self) -> None:
        """Sets what is read for every candidate, once."""
        price, owned = None if self.quote is None else self.quote.price, self.node
        name = owned.name if owned is not None else self.key[-1] if price is None else price.instance_type
        provider, region = ("", "") if price is None else (price.provider, price.region)
        place = (provider, region, name) if owned is None else (OWNED_KEY, name)
        option = "owned" if price is None else price.purchase_option
        interrupts = price is not None and load_purchase_options()[price.kind].INTERRUPTS
        for field_name, value in zip(FOLLOWING, (name, provider, region, place, option, interrupts), strict=True):
            object.__setattr__(self, field_name, value)

    @property
    def is_term_commitment(self) -> bool:
        """Whether it is a commitment of nodes or money for a term, not of dated days."""
        return self.node is None and self.what in ("commitment", "covered") and self.unit != "node_day"

    @property
    def is_listed(self) -> bool:
        """Whether its price is a row of the catalogue: neither existing capacity nor a pool of committed money."""
        return self.quote is not None and self.held is None and (self.what == "covered" or self.unit != "money")

    @property
    def unit(self) -> CommitmentUnit:
        """The unit of a purchase: a node, a day of a node, or money an hour."""
        return "node" if self.quote is None else load_purchase_options()[self.quote.price.kind].UNIT

    @property
    def title(self) -> str:
        """How it is called in payments: an owned system, or provider, region, type and way of paying."""
        name = self.node.name if self.node is not None else " ".join(self.key).removeprefix(f"{EXISTING_KEY} ")
        return name if self.held is None else f"{name}{EXISTING_SUFFIX}"
