"""How sure a plan is: part of the answer. Money is present cost in the plan's currency unless said.

Everything but what says otherwise keeps the decisions of the plan and pays for them under other figures.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from planner.result.message import Message


@dataclass(frozen=True, slots=True)
class SwitchingValue:
    """Where one figure makes the recommended plan and the runner-up cost the same, both kept as they are.

    `at` is that value, the nearest one; None where there is none between `searched_from` and `searched_to`.
    `distance_fraction` is at / value - 1, None where `at` is None or `value` is 0. `cheaper_beyond` is the strategy
    that is cheaper from there on, "" where nothing flips; `is_inside_range` tells whether `at` lies in the published
    range of the figure.
    """

    name: str
    meaning: str
    unit: str
    value: float
    at: float | None
    distance_fraction: float | None
    searched_from: float
    searched_to: float
    cheaper_beyond: str
    is_inside_range: bool


@dataclass(frozen=True, slots=True)
class CostRange:
    """A strategy's present cost with one figure at its low and at its high; None where it is then impossible."""

    strategy: str
    at_low: float | None
    at_high: float | None


@dataclass(frozen=True, slots=True)
class TornadoRow:
    """One figure at the ends of its range, all others as planned.

    `swing` is the most by which the advantage of the recommended strategy over the runner-up changes between low,
    planned and high (without a runner-up: by which its cost changes); None where one of them is impossible at an end.
    `flips`: another strategy is the cheapest at one of the ends. `planned_anew`: the figure changes what a plan can do,
    so every strategy was solved again; else the decisions are the same and only paid for again.
    """

    name: str
    meaning: str
    unit: str
    low: float
    value: float
    high: float
    costs: tuple[CostRange, ...]
    swing: float | None
    flips: bool
    planned_anew: bool


@dataclass(frozen=True, slots=True)
class SampledFactor:
    """A figure that is drawn: triangular from `low` over `mode` (as planned) to `high`."""

    name: str
    unit: str
    low: float
    mode: float
    high: float
    source: str
    as_of: date


@dataclass(frozen=True, slots=True)
class Correlation:
    """How two figures move together in the draws: the correlation of a Gaussian copula, -1 to 1."""

    first: str
    second: str
    coefficient: float
    source: str


@dataclass(frozen=True, slots=True)
class StrategyRisk:
    """A strategy over all draws, its decisions kept. Quantiles of present cost: P10 is undercut in a tenth of draws.

    `expected_regret` is the mean of its cost less the least of all strategies in the same draw; `chance_cheapest` the
    share of draws in which no other is cheaper (ties count for each); `chance_below_cloud` None for cloud itself.
    """

    strategy: str
    mean: float
    standard_error: float
    p10: float
    p50: float
    p90: float
    chance_cheapest: float
    expected_regret: float
    chance_below_cloud: float | None


@dataclass(frozen=True, slots=True)
class RecommendationShare:
    """In how many of the draws planned anew a strategy was recommended."""

    strategy: str
    draws: int


@dataclass(frozen=True, slots=True)
class ReoptimisedDraws:
    """The first draws, each planned anew as if it had been known.

    `mean_regret` and `p90_regret`: what the recommended plan, kept, costs more than the cheapest plan of its draw.
    """

    draws: int
    recommended: tuple[RecommendationShare, ...]
    mean_regret: float
    p90_regret: float


@dataclass(frozen=True, slots=True)
class DelayedPurchase:
    """A strategy solved where nothing can be ordered in its first `months`; the cloud bridges, and is counted.

    `present_cost` and `difference` (to not waiting) are None where that is impossible. Renting and commitments start
    when they like. With figures that are known, waiting never saves: it tells what time to learn costs.
    """

    strategy: str
    months: int
    present_cost: float | None
    difference: float | None
    nodes_bought: float


@dataclass(frozen=True, slots=True)
class Risk:
    """How sure a plan is. `owning_cheaper` is the share of draws in which a strategy that buys hardware is cheaper than
    cloud; None where none buys any or there is no cloud. `notes` say what was held fixed and how far to trust it."""

    draws: int
    seed: int
    tornado: tuple[TornadoRow, ...]
    without_effect: tuple[str, ...]
    strategies: tuple[StrategyRisk, ...]
    owning_cheaper: float | None
    drawn: tuple[SampledFactor, ...]
    correlations: tuple[Correlation, ...]
    waiting: tuple[DelayedPurchase, ...]
    reoptimised: ReoptimisedDraws | None = None
    notes: tuple[Message, ...] = ()
