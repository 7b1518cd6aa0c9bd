"""What one more of something would cost or save: part of a plan."""

from __future__ import annotations

from typing import Literal

from pricing.frozen_values import dataclass


@dataclass(frozen=True, slots=True)
class MarginalValue:
    """What `added` more of `subject` changes of the recommended strategy's present cost: `worth` less than 0 saves.

    demand: `added` more work in every month, in `unit`, with everything bought and committed to kept as it is; `worth`
    is None where that leaves work undone. limit: the limit raised by `added`, planned anew. `per_unit` is worth /
    added. Both are None where the search ended before that was known (`is_known`).
    """

    kind: Literal["demand", "limit"]
    """Kind of value: demand or limit."""
    subject: str
    """Workload or limit."""
    unit: str
    """Unit of `added`."""
    added: float
    """Increase, in `unit`."""
    worth: float | None
    """Change of the present cost, in the plan's currency; negative: saves; null: work left undone, or not known."""
    per_unit: float | None
    """`worth` / `added`, in the plan's currency per unit; null: as `worth`."""
    is_known: bool = True
    """Whether the search found a plan, or proof that there is none or that a higher limit saves less than 0.1 %."""
