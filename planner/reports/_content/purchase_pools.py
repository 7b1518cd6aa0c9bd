"""Purchases of a strategy in pools of interchangeable capacity: commitments to one type of node, money committed at a
provider under one option, owned nodes of one system. A pool has payments, a capacity and the uses that draw on it.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence

from planner.result import EXISTING_SUFFIX, CashRow, Plan, Purchase, Strategy, Use
from pricing.units import HOURS_PER_DAY

COMMITMENT = "commitment"
CAPITAL = ("hardware", "installation", "financing", "resale")
"""Categories that pay for owned nodes over all months of their use; running costs are effective when they are paid."""
OWN_SITE = "own site"
ANY_REGION, ANY_TYPE = "all-regions", "any-type"
"""In place of a region and a type where money is committed to all of them."""
ZERO_TOLERANCE = 1e-9


def payment_title(line: Purchase | Use) -> str:
    """The title of a purchase or a use in payments."""
    return " ".join(part for part in title_parts(line) if part)


def title_parts(line: Purchase | Use) -> tuple[str, ...]:
    option = "" if line.what == "owned" else line.purchase_option
    return line.provider, line.region, line.name, option


def title_contains(title: str, *texts: str) -> bool:
    """Whether the title of a payment has all of these in it."""
    return all(f" {text} " in f" {title} " for text in texts if text)


def split_by_weight(amount: float, weights: Sequence[float]) -> list[float]:
    """The amount by the weights; evenly where they add up to zero."""
    total = math.fsum(weights)
    if abs(total) < ZERO_TOLERANCE:
        return [amount / len(weights) for _ in weights]
    return [amount * weight / total for weight in weights]


class PurchasePools:
    """The pools of one strategy, by title; commitments from before the plan have one too, without purchases."""

    def __init__(self, plan: Plan, strategy: Strategy) -> None:
        self._months, self._hours = plan.months, plan.hours_per_month
        self._rates = {
            (p.provider, p.region, p.instance_type, p.purchase_option): p.price_per_hour for p in plan.prices
        }
        self._purchases: dict[str, list[Purchase]] = defaultdict(list)
        for purchase in strategy.purchases:
            self._purchases[payment_title(purchase)].append(purchase)
        self._paid: dict[str, float] = defaultdict(float)
        self._before: dict[tuple[int, str], float] = defaultdict(float)
        for row in strategy.cash:
            if row.category == COMMITMENT or row.category in CAPITAL:
                pool = self.pool_of_payment(row)
                if self._purchases.get(pool) and not row.what.endswith(EXISTING_SUFFIX):
                    self._paid[pool] += row.amount
                else:
                    self._before[row.month, pool] += row.amount
        self._each = {pool: self._effective_cost_shares(pool) for pool in self._purchases}

    def pool_of_payment(self, row: CashRow) -> str:
        """The pool of a payment; its own title where it belongs to no purchase."""
        is_owned = row.category != COMMITMENT
        for pool, (first, *_) in self._purchases.items():
            if (first.what == "owned") == is_owned and title_contains(row.what, *title_parts(first)):
                return pool
        return row.what.removesuffix(EXISTING_SUFFIX)

    def pool_of_use(self, use: Use) -> str:
        """The pool that a use takes from."""
        exact = payment_title(use)
        if exact in self._purchases:
            return exact
        # money is committed to any node of an option; only then may the title of a pool name no type
        money = [
            pool for pool, (first, *_) in self._purchases.items() if first.unit == "money" and _covers_use(first, use)
        ]
        before = [pool for _, pool in self._before if title_contains(pool, *title_parts(use))]
        return next(iter(money + before), exact)

    def first(self, pool: str) -> Purchase | None:
        """The first of its purchases, for its kind; None for commitments from before the plan."""
        return self._purchases[pool][0] if pool in self._purchases else None

    def place(self, pool: str) -> tuple[str, str]:
        """Provider and region; for commitments from before the plan the first words of their title."""
        first = self.first(pool)
        if first is None:
            provider, _, rest = pool.partition(" ")
            return provider, rest.partition(" ")[0]
        return (OWN_SITE, "") if first.what == "owned" else (first.provider, first.region)

    def at(self, month: int, *, owned: bool) -> list[str]:
        """The pools with an effective cost in the month."""
        pools = [
            p
            for p, lines in self._purchases.items()
            if (lines[0].what == "owned") == owned and self.monthly_effective_cost(month, p)
        ]
        return pools if owned else pools + [p for m, p in self._before if m == month and p not in pools]

    def monthly_effective_cost(self, month: int, pool: str) -> float:
        """The effective cost of the pool in a month: purchases evenly over the months they cover, the rest as paid."""
        each = (amount for months, amount in self._each.get(pool, []) if month in months)
        return math.fsum([*each, self._before.get((month, pool), 0.0)])

    def _effective_cost_shares(self, pool: str) -> list[tuple[range, float]]:
        """The months that each purchase covers inside the plan, and its share of the payments in each of them."""
        cost_shares = []
        shares = split_by_weight(self._paid[pool], [_purchase_size(purchase) for purchase in self._purchases[pool]])
        for purchase, share in zip(self._purchases[pool], shares, strict=True):
            covered = range(purchase.usable_from, min(purchase.usable_to, self._months) + 1)
            # usable only after the plan: the cost stays in the month of the order
            covered = covered or range(purchase.month, purchase.month + 1)
            cost_shares.append((covered, share / len(covered)))
        return cost_shares

    def drawn_quantity(self, use: Use) -> float:
        """The quantity that a use draws from its pool: node-hours, or money at the price of its node."""
        first = self.first(self.pool_of_use(use))
        if first is None or first.unit != "money":
            return use.node_hours
        return use.node_hours * self._rates.get((use.provider, use.region, use.name, use.purchase_option), 1.0)

    def left(self, month: int, pool: str, uses: Iterable[Use]) -> float | None:
        """The unused capacity of a pool in a month; None where the plan does not have its capacity."""
        there = self.there(month, pool)
        if there is None:
            return None
        # differences within rounding errors of the solver are no unused capacity
        left = there - math.fsum(self.drawn_quantity(use) for use in uses)
        return left if left > ZERO_TOLERANCE * there else 0.0

    def there(self, month: int, pool: str) -> float | None:
        """The capacity of a pool in a month; None where the plan does not have it."""
        if pool not in self._purchases or (month, pool) in self._before:
            return None
        usable = (each for each in self._purchases[pool] if each.usable_from <= month <= each.usable_to)
        return math.fsum(map(self._monthly_quantity, usable))

    def ordered(self, month: int, pool: str) -> float | None:
        """The capacity ordered in a month, for all months of its term; None where the plan does not have it."""
        if pool not in self._purchases or (month, pool) in self._before:
            return None
        own = (each for each in self._purchases[pool] if each.month == month)
        return math.fsum(self._monthly_quantity(each) * (each.usable_to - each.usable_from + 1) for each in own)

    def _monthly_quantity(self, purchase: Purchase) -> float:
        """Node-hours, or money."""
        return purchase.amount * (HOURS_PER_DAY if purchase.unit == "node_day" else self._hours)


def _covers_use(purchase: Purchase, use: Use) -> bool:
    return (
        purchase.provider == use.provider
        and purchase.purchase_option == use.purchase_option
        and purchase.region in (ANY_REGION, use.region)
        and purchase.name in (ANY_TYPE, use.name.partition(".")[0])
    )


def _purchase_size(purchase: Purchase) -> float:
    """The total cost of a purchase, to compare it with others of its pool."""
    payments = 0 if purchase.what == "owned" else purchase.term_months
    return purchase.upfront + purchase.per_month * payments
