"""How sure a plan is: part of the answer. Money is present cost in the plan's currency unless said.

Everything but what says otherwise keeps the decisions of the plan and pays for them under other figures.
"""

from __future__ import annotations

from datetime import date
from typing import Literal

from planner.result.message import Message
from pricing.frozen_values import dataclass


@dataclass(frozen=True, slots=True)
class SwitchingValue:
    """Where one figure makes the recommended plan and the runner-up cost the same, both kept as they are.

    `at` is that value, the nearest one; None where there is none between `searched_from` and `searched_to`.
    `distance_fraction` is at / value - 1, None where `at` is None or `value` is 0. `cheaper_beyond` is the strategy
    that is cheaper from there on, "" where nothing flips; `is_inside_range` tells whether `at` lies in the published
    range of the figure.
    """

    name: str
    """Name of the assumption."""
    meaning: str
    """Meaning in words."""
    unit: str
    """Unit of the values."""
    value: float
    """Planned value, in `unit`."""
    at: float | None
    """Nearest value at which both strategies cost the same, in `unit`; null: none in the range searched."""
    distance_fraction: float | None
    """`at` / `value` - 1; null: not defined."""
    searched_from: float
    """Low end of the range searched, in `unit`."""
    searched_to: float
    """High end of the range searched, in `unit`."""
    cheaper_beyond: str
    """Strategy that is cheaper beyond `at`; empty: none."""
    is_inside_range: bool
    """Whether `at` lies in the published range."""


@dataclass(frozen=True, slots=True)
class CostRange:
    """A strategy's present cost with one figure at its low and at its high; None where it is then impossible."""

    strategy: str
    """Strategy."""
    at_low: float | None
    """Present cost at the low value, in the plan's currency; null: infeasible."""
    at_high: float | None
    """Present cost at the high value, in the plan's currency; null: infeasible."""


@dataclass(frozen=True, slots=True)
class TornadoRow:
    """One figure at the ends of its range, all others as planned.

    `swing` is the most by which the advantage of the recommended strategy over the runner-up changes between low,
    planned and high (without a runner-up: by which its cost changes); None where one of them is impossible at an end.
    `flips`: another strategy is the cheapest at one of the ends. `planned_anew`: the figure changes what a plan can do,
    so every strategy was solved again; else the decisions are the same and only paid for again.
    """

    name: str
    """Name of the assumption."""
    meaning: str
    """Meaning in words."""
    unit: str
    """Unit of the values."""
    low: float
    """Low value, in `unit`."""
    value: float
    """Planned value, in `unit`."""
    high: float
    """High value, in `unit`."""
    costs: tuple[CostRange, ...]
    """Present cost of each strategy at both ends."""
    swing: float | None
    """Largest change of the recommendation's advantage, in the plan's currency; null: infeasible at an end."""
    flips: bool
    """Whether another strategy is the cheapest at an end."""
    planned_anew: bool
    """Whether every strategy was solved again, rather than paid for at other values."""


@dataclass(frozen=True, slots=True)
class SampledFactor:
    """A figure that is drawn: triangular from `low` over `mode` (as planned) to `high`."""

    name: str
    """Name of the assumption."""
    unit: str
    """Unit of the values."""
    low: float
    """Lowest value, in `unit`."""
    mode: float
    """Most likely value, in `unit`, as planned."""
    high: float
    """Highest value, in `unit`."""
    source: str
    """Source of the range."""
    as_of: date
    """Date of the source."""


@dataclass(frozen=True, slots=True)
class Correlation:
    """How two figures move together in the draws: the correlation of a Gaussian copula, -1 to 1."""

    first: str
    """Name of one assumption."""
    second: str
    """Name of the other."""
    coefficient: float
    """Correlation of a Gaussian copula, -1 to 1."""
    source: str
    """Source of the value."""


@dataclass(frozen=True, slots=True)
class StrategyRisk:
    """A strategy over all draws, its decisions kept. Quantiles of present cost: P10 is undercut in a tenth of draws.

    `expected_regret` is the mean of its cost less the least of all strategies in the same draw; `chance_cheapest` the
    share of draws in which no other is cheaper (ties count for each); `chance_below_cloud` None for cloud itself.
    """

    strategy: str
    """Strategy."""
    mean: float
    """Mean present cost over all draws, in the plan's currency."""
    standard_error: float
    """Standard error of the mean, in the plan's currency."""
    p10: float
    """10th percentile of the present cost, in the plan's currency."""
    p50: float
    """Median present cost, in the plan's currency."""
    p90: float
    """90th percentile of the present cost, in the plan's currency."""
    chance_cheapest: float
    """Fraction of draws in which no strategy is cheaper."""
    expected_regret: float
    """Mean excess over the cheapest strategy of each draw, in the plan's currency."""
    chance_below_cloud: float | None
    """Fraction of draws in which it costs less than cloud; null for cloud."""


@dataclass(frozen=True, slots=True)
class NegotiationTarget:
    """A price to ask a vendor for: beyond `flip_price` another strategy becomes the choice, all other prices kept.

    `kind`: rate (a price that the plan or its runner-up pays), term (a commitment for which no price is known, where
    the cloud is paid on demand) or quote (hardware). The choice allows for the request's materiality.
    """

    kind: Literal["rate", "term", "quote"]
    """Kind of price: rate, a listed one in use; term, a commitment without a known price; quote, hardware."""
    provider: str
    """Provider; empty for hardware."""
    region: str
    """Region; empty for hardware."""
    name: str
    """Instance type, or owned systems."""
    purchase_option: str
    """Purchase option; owned for hardware."""
    paid_by: str
    """Strategy that pays most at this price."""
    price: float | None
    """Price counted today per node-hour, or for one owned system, in the plan's currency; of a term the price on demand
    that is paid instead; null: several systems."""
    flip_price: float | None
    """Price at which the choice changes; null: no price of it does, or several systems (see `change_fraction`)."""
    change_fraction: float | None
    """Change of the price at which the choice changes, as a fraction: -0.2 is a fifth less; null: no price does."""
    becomes: str
    """Strategy that is the choice beyond that price: below it where the change is negative, above it otherwise; empty:
    none."""
    spend: float
    """Present cost of what is paid at this price, in the plan's currency: 1 % of it is what a discount of 1 % saves."""
    at_stake: float
    """Saving at stake: the difference in present cost between the two strategies today, in the plan's currency."""
    basis: Literal["fixed_decisions", "planned_again"] = "fixed_decisions"
    """How the flip price was found: with the decisions of both strategies fixed (a new plan may flip sooner or later),
    or confirmed by planning again just below and above it."""


@dataclass(frozen=True, slots=True)
class RecommendationShare:
    """In how many of the draws planned anew a strategy was recommended."""

    strategy: str
    """Strategy."""
    draws: int
    """Number of draws in which it was recommended."""


@dataclass(frozen=True, slots=True)
class ReoptimisedDraws:
    """The first draws, each planned anew as if it had been known.

    `mean_regret` and `p90_regret`: what the recommended plan, kept, costs more than the cheapest plan of its draw.
    """

    draws: int
    """Number of draws that were solved again."""
    recommended: tuple[RecommendationShare, ...]
    """How often each strategy was recommended."""
    mean_regret: float
    """Mean excess of the recommended plan over the best plan of each draw, in the plan's currency."""
    p90_regret: float
    """90th percentile of that excess, in the plan's currency."""


@dataclass(frozen=True, slots=True)
class DelayedPurchase:
    """A strategy solved where nothing can be ordered in its first `months`; the cloud bridges, and is counted.

    `present_cost` and `difference` (to not waiting) are None where that is impossible, or where the search ended before
    it knew (`is_known`). Renting and commitments start
    when they like. With figures that are known, waiting never saves: it tells what time to learn costs.
    """

    strategy: str
    """Strategy."""
    months: int
    """Months without any order."""
    present_cost: float | None
    """Present cost with that delay, in the plan's currency; null: infeasible, or not known."""
    difference: float | None
    """That cost less the cost without delay, in the plan's currency; null: infeasible, or not known."""
    nodes_bought: float
    """Owned nodes bought."""
    is_known: bool = True
    """Whether the search ended with a plan, or with proof that there is none."""


@dataclass(frozen=True, slots=True)
class Risk:
    """How sure a plan is. `owning_cheaper` is the share of draws in which a strategy that buys hardware is cheaper than
    cloud; None where none buys any or there is no cloud. `notes` say what was held fixed and how far to trust it."""

    draws: int
    """Number of draws."""
    seed: int
    """Seed of the random numbers."""
    tornado: tuple[TornadoRow, ...]
    """Sensitivity to each assumption."""
    without_effect: tuple[str, ...]
    """Assumptions without any effect."""
    strategies: tuple[StrategyRisk, ...]
    """Distribution of each strategy's cost."""
    owning_cheaper: float | None
    """Fraction of draws in which a strategy that buys hardware is cheaper than cloud; null: not defined."""
    drawn: tuple[SampledFactor, ...]
    """Assumptions that were drawn."""
    correlations: tuple[Correlation, ...]
    """Correlations between them."""
    waiting: tuple[DelayedPurchase, ...]
    """Effect of delayed purchases."""
    reoptimised: ReoptimisedDraws | None = None
    """Draws that were solved again; null: none."""
    notes: tuple[Message, ...] = ()
    """Values held fixed, and limits of the analysis."""
