"""What to commit to now where figures are uncertain: part of the answer. Money is present cost in the plan's currency.

All costs are those of programs by place, in weighted scenarios: what is decided now is the same in all of them.
"""

from __future__ import annotations

from datetime import date
from typing import Literal

from planner.result.message import Message
from planner.result.strategies import StrategyName
from pricing.frozen_values import dataclass

DecisionRule = Literal["as_planned", "mean_figures", "least_mean", "least_objective", "perfect_information"]
"""How the first decisions are made: as is best for the planned figures; as the best plan for the mean of each
figure; for the least mean cost over the scenarios (beside another objective: among the homes of the other rules); for
the least objective asked for; or knowing each scenario."""


@dataclass(frozen=True, slots=True)
class UncertainFigure:
    """A figure that differs between the scenarios: triangular from `low` over `planned` to `high`, by its logarithm
    where the range spans more than a factor of ten."""

    name: str
    """Name of the figure."""
    meaning: str
    """Meaning in words."""
    unit: str
    """Unit of the values."""
    low: float
    """Lowest value, in `unit`."""
    planned: float
    """Planned value, in `unit`."""
    high: float
    """Highest value, in `unit`."""
    source: str
    """Source of the range."""
    as_of: date
    """Date of the source."""


@dataclass(frozen=True, slots=True)
class RuleCosts:
    """What comes of one rule for the first decisions; what follows is the best for each scenario under every rule."""

    rule: DecisionRule
    """Rule for the first decisions."""
    mean_cost: float | None
    """Weighted mean of the present cost; null: in some scenario the work cannot be done."""
    tail_cost: float | None
    """Mean of the dearest cases; null: in some scenario the work cannot be done."""
    impossible_fraction: float
    """Weight of the scenarios in which the work cannot be done after those first decisions."""


@dataclass(frozen=True, slots=True)
class StrategyUnderUncertainty:
    """A strategy with the best first decisions; None where there are none that can be followed in every scenario.

    `bound`: no first decisions among the homes and commitments searched have a lower objective.
    """

    strategy: str
    """Strategy."""
    objective: float | None
    """The mean cost, or the weighted sum of it and the mean of the dearest cases; null: not possible."""
    bound: float | None
    """Proven least objective for the homes and commitments searched; null: not possible."""
    gap_fraction: float | None
    """Distance of the objective from the bound, as a fraction; null: not possible."""
    rules: tuple[RuleCosts, ...]
    """Costs of each rule for the first decisions."""
    stochastic_value: float | None
    """Value of the stochastic solution: objective of the rule mean_figures less the objective; null: either is not
    possible."""
    information_value: float | None
    """Expected value of perfect information: mean cost of the best first decisions less that of perfect information;
    null: not possible."""
    information_value_max: float | None
    """Proven most that the value of perfect information can be, from bounds of each scenario; null: not possible."""
    mean_regret: float | None
    """Mean of its cost less that of the cheapest strategy that knows the scenario; null: not possible."""
    largest_regret: float | None
    """The largest of these differences; null: not possible."""
    robustness_cost: float | None
    """Price of being robust: present cost of the plan with these first decisions, less that of the best plan for the
    planned figures alone; null: no plan takes them, because there are none or a limit is in the way."""
    impossible_fraction: float
    """Weight of the scenarios in which the strategy is impossible even if they are known before."""

    @property
    def best_rule(self) -> RuleCosts | None:
        """The costs of the best first decisions; None where there are none."""
        by_name = {rule.rule: rule for rule in self.rules}
        return by_name.get("least_objective", by_name.get("least_mean")) if self.objective is not None else None


@dataclass(frozen=True, slots=True)
class PlannedScenario:
    """One future, and what each strategy costs in it after its best first decisions."""

    weight: float
    """Probability; those of all scenarios add up to 1."""
    figures: tuple[tuple[str, float], ...]
    """Name and value of each figure, in its unit; of a predicted throughput its rank in the interval, 0 to 1."""
    costs: tuple[tuple[str, float | None], ...]
    """Strategy and present cost; null: not possible."""


@dataclass(frozen=True, slots=True)
class TriggerValue:
    """The value of one figure that best tells the scenarios in which a step is taken from the others."""

    figure: str
    """Name of the figure."""
    is_above: bool
    """Whether the step is taken above the value, rather than below."""
    at: float
    """The value, in the unit of the figure."""
    accuracy: float
    """Weight of the scenarios that it tells rightly, as a fraction."""


@dataclass(frozen=True, slots=True)
class LadderStep:
    """Orders or commitments of one resource in a period: those of now are the same in every scenario; later ones are
    taken in some scenarios, and `trigger` tells which."""

    first_month: int
    """First month of the period."""
    last_month: int
    """Last month of the period."""
    is_now: bool
    """Whether it is decided now."""
    what: Literal["owned", "commitment"]
    """Owned nodes, or a commitment."""
    name: str
    """Instance type or owned system."""
    provider: str
    """Provider; empty for owned systems."""
    region: str
    """Region; empty for owned systems."""
    purchase_option: str
    """Way of paying."""
    unit: str
    """Unit of the quantities: node, node_day, or money an hour."""
    least: float
    """Smallest quantity of the scenarios in which the step is taken."""
    mean: float
    """Mean quantity over all scenarios."""
    most: float
    """Largest quantity over all scenarios."""
    probability: float
    """Weight of the scenarios in which it is taken."""
    trigger: TriggerValue | None
    """Figure that tells when; null: it is taken in all scenarios, or no figure tells better than chance."""
    break_even_utilisation: float | None
    """Share of its hours that must be used for it to cost less than the hour; null: not rented by the hour there, or
    never within the plan."""

    @property
    def amount(self) -> float:
        """The largest quantity: of a step of now that of every scenario."""
        return self.most


@dataclass(frozen=True, slots=True)
class Uncertainty:
    """Decisions under uncertainty. `strategy` has the least objective, the simplest within the materiality of the
    request; its ladder follows."""

    scenarios: tuple[PlannedScenario, ...]
    """The scenarios with their weights."""
    draws: int
    """Number of draws that the scenarios stand for."""
    seed: int
    """Seed of the random numbers."""
    decide_months: int
    """Months whose orders and commitments are decided now."""
    tail_weight: float
    """Weight of the mean of the dearest cases in the objective."""
    tail_level: float
    """Share of cases that are not among the dearest."""
    figures: tuple[UncertainFigure, ...]
    """Uncertain figures with their ranges."""
    certain: tuple[str, ...]
    """Figures that have no range, and are as planned in every scenario."""
    strategies: tuple[StrategyUnderUncertainty, ...]
    """The strategies compared."""
    strategy: StrategyName | None
    """Strategy with the least objective, the simplest of those near it; null: none is possible."""
    advice_holds: float | None
    """Probability that the recommended strategy of the plan is still the one recommended after a year, when the
    scenario is known; null: none is recommended, or no strategy is possible in some scenario."""
    ladder: tuple[LadderStep, ...]
    """What to commit to now, and what later at which trigger."""
    is_exact: bool
    """Whether every home of the plan was searched and later decisions are in whole numbers, too."""
    notes: tuple[Message, ...] = ()
    """What was held fixed, and limits of the analysis."""
