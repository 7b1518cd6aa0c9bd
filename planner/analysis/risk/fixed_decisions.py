"""The costs of fixed decisions as functions of assumptions and levels of prices, by the formulas of the audit trail:
payments are not listed again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace

from planner.analysis.audit_trail import DATA_UNIT
from planner.analysis.risk.cost_model import name_price_level
from planner.analysis.risk.uncertain_assumptions import HARDWARE, read_price_levels
from planner.optimization.solution import PlanningContext
from planner.optimization.strategy import SolvedStrategy
from planner.request.assumptions import override_names
from planner.result.audit_trail import AuditLine, AuditTrail
from planner.result.formulas import FormulaNode
from planner.result.ledger_costs import LedgerCosts, RateReader, build_ledger_costs
from planner.supply.resources import Resource
from pricing.frozen_values import dataclass


def build_fixed_costs(
    solved: SolvedStrategy, setting: PlanningContext, ledger: AuditTrail, figures: Mapping[str, float]
) -> LedgerCosts:
    """The costs of a strategy's decisions; `figures` are those of the ledger as planned. Levels of prices can be moved
    as well."""
    decisions, resources = solved.decisions, setting.market.resources
    used = (
        *(order.resource for order in decisions.bought),
        *(resources[share.candidate.resource] for share in decisions.shares),
    )
    levels = {level.name: level.value for level in read_price_levels()}
    formulas = _LevelFormulas(ledger, {resource.title: resource for resource in used})
    return build_ledger_costs(ledger, solved.strategy.name, {**figures, **levels}, formulas)


@dataclass(frozen=True, slots=True)
class _LevelFormulas:
    """The formulas of lines, times the level of the price that they are in proportion to."""

    ledger: AuditTrail
    resources: Mapping[str, Resource]
    read: RateReader = field(default_factory=RateReader)

    def __call__(self, line: AuditLine) -> FormulaNode:
        rate, choice = self.read(line), self.ledger.choices[line.choice]
        resource = self.resources.get(choice.what)
        level = None if resource is None or choice.unit == DATA_UNIT else name_price_level(resource)
        if level is None:
            return rate
        if level == HARDWARE:
            return _scale_name(rate, override_names(choice.what)[0], level)
        return FormulaNode("*", (rate, FormulaNode(level)))


def _scale_name(node: FormulaNode, name: str, level: str) -> FormulaNode:
    """The formula with a figure times a level in place of the figure."""
    if node.is_name:
        return FormulaNode("*", (node, FormulaNode(level))) if node.text == name else node
    return replace(node, sides=tuple(_scale_name(side, name, level) for side in node.sides))
