"""What standing work costs elsewhere, by the number of owned groups of nodes that do a part of it.

Each side of such work has whole groups of nodes (a group: the nodes of one gang that spans nodes, else one node), so
the cost of the rest falls in steps. What a group saves at most is the lower convex hull of them: the hull is exact at
its corners, and no plan pays less between them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pricing.frozen_values import dataclass

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

ROUNDING = 1e-9
STEPS = 16
"""Groups up to which each number of them is a step; work of more is taken as if groups could be divided."""


@dataclass(frozen=True, slots=True)
class DividedWork:
    """By slot and step: owned `groups` (never falling), and what the rest `costs` elsewhere (infinite: not sold). By
    slot: `hours`, the node-hours of one group."""

    groups: Floats
    costs: Floats
    hours: Floats

    def never_dearer(self, other: DividedWork) -> bool:
        """Whether the rest of any part costs no more than where the other takes it."""
        import numpy as np

        return np.array_equal(self.groups, other.groups) and bool((self.costs <= other.costs).all())

    def by_the_hour(self) -> Floats:
        """By slot, the cost of all that is sold elsewhere."""
        import numpy as np

        slots = np.arange(len(self.groups))
        costs: Floats = self.costs[slots, np.isinf(self.costs).sum(axis=1)]
        return costs

    def levels(self) -> Iterator[tuple[Floats, Floats]]:
        """By slot, node-hours of owned nodes and what each of them saves: falling. Infinite: work that is sold nowhere
        else."""
        import numpy as np

        slots, last = np.arange(len(self.groups)), self.groups.shape[1] - 1
        at = np.isinf(self.costs).sum(axis=1)
        yield self.groups[slots, at] * self.hours, np.where(at > 0, np.inf, 0.0)
        costs = np.where(np.isinf(self.costs), 0.0, self.costs)
        while (at < last).any():
            more = self.groups - self.groups[slots, at][:, None]
            saved = costs[slots, at][:, None] - costs
            a_group = np.divide(saved, more, out=np.zeros(more.shape), where=more > 0)
            best = a_group.max(axis=1)
            saves = best > 0
            farthest = last - np.argmax(a_group[:, ::-1] >= best[:, None] * (1 - ROUNDING), axis=1)
            after = np.where(saves, farthest, last)
            yield np.where(saves, more[slots, after], 0.0) * self.hours, best / self.hours
            at = after


def divide_work(
    owned: Floats, elsewhere: Floats, steady: Floats, spot: Floats, spot_share: Floats, data: Floats, hours: Floats
) -> DividedWork:
    """The cost of the rest for each number of owned groups. By slot: groups that all of the work would take, on owned
    nodes and `elsewhere` (not rounded); the price of a whole group there, and the share that may be on spot; what the
    data of all the work cost there."""
    import numpy as np

    step = np.arange(STEPS + 1.0)
    small = (owned <= STEPS)[:, None]
    steps = np.minimum(step, np.ceil(owned - ROUNDING)[:, None])
    corners = np.minimum(step * np.where(spot_share < 1, 1 - spot_share, 1.0)[:, None], 1.0)
    corners[:, 2:] = 1.0
    groups = np.where(small, steps, corners * owned[:, None])
    rest = np.maximum(0.0, 1 - groups / owned[:, None])
    rest[rest < ROUNDING] = 0.0
    parts = rest * elsewhere[:, None], np.maximum(0.0, rest - spot_share[:, None]) * elsewhere[:, None]
    total, firm = (np.where(small, np.ceil(part - ROUNDING), part) for part in parts)
    firm[firm < ROUNDING] = 0.0
    other = np.minimum(steady, spot)[:, None] * np.ones_like(total)
    costs = np.where(firm > 0, steady[:, None], 0.0) * firm + np.where(total > firm, other, 0.0) * (total - firm)
    return DividedWork(groups, costs + data[:, None] * rest, hours)
