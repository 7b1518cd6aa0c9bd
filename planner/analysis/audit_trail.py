"""The audit trail: how every amount of the strategies comes about, as decided quantities and formulas of unit costs.

The payment functions themselves write the formulas: they are called for one unit with symbolic values that record how
they were used. So the audit trail cannot differ from the payments. Decides nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from planner.finance.cashflow import Payment, Terms
from planner.finance.symbolic import Growth, SymbolicValue, formula_text
from planner.optimization import cost_allocation
from planner.optimization.solution import CandidateUse, Overhead, PlanningContext, ResourceOrder
from planner.optimization.strategy import SolvedStrategy
from planner.request.assumptions import Assumptions, override_names
from planner.result import OPERATORS, SUPPORT_PLAN, Assumption, PriceUsed
from planner.result.audit_trail import AuditDecision, AuditLine, AuditTrail
from planner.supply import onprem, payments
from planner.supply.candidates import Candidate
from planner.supply.data_costs import owned_data_costs
from planner.supply.resources import Resource

SURCHARGES = frozenset({"cloud_support", "tax"})
"""Added to a billed payment; marked by `is_billed`, without lines of their own."""
DATA_UNIT = "share of a month's data"
UNIT_WORDS = {"node": "nodes", "node_day": "node-days", "money": "money an hour"}
OfferNames = Mapping[tuple[str, str, str, str], str]
"""Names of prices by the key of their row."""
UnitPayments = Mapping[AuditLine, Sequence[int]]
"""The months of payments with the same formula, by a line that has no choice and no months yet."""


def build_audit_trail(
    solved: Sequence[SolvedStrategy],
    setting: PlanningContext,
    prices: Sequence[PriceUsed],
    figures: Iterable[Assumption],
    terms_of: Callable[[Assumptions], Terms],
) -> AuditTrail:
    """The choices and lines of every strategy that can serve the demand. `figures` are all assumptions of the plan,
    those of owned systems too, `terms_of` gives the plan's terms under assumptions."""
    offers = {
        (price.provider, price.region, price.instance_type, price.purchase_option): f"offer_{number}"
        for number, price in enumerate(prices, start=1)
    }
    book = _AuditTrailBuilder(
        _trace_assumptions(setting, terms_of), offers, frozenset(figure.name for figure in figures)
    )
    for each in solved:
        if each.strategy.status != "infeasible":
            book.write(each)
    return AuditTrail(tuple(book.choices), tuple(book.lines), tuple(offers.values()))


def _trace_assumptions(setting: PlanningContext, terms_of: Callable[[Assumptions], Terms]) -> PlanningContext:
    """The setting with every assumption as a figure that remembers how it was used."""
    named = {name: replace(a, value=SymbolicValue(a.value, name)) for name, a in setting.assumptions.items()}
    hours = SymbolicValue(setting.terms.hours_per_month, "hours_per_month")
    return replace(setting, assumptions=named, terms=replace(terms_of(named), hours_per_month=hours))


IDLE_TOLERANCE = 1e-9


@dataclass(slots=True)
class _AuditTrailBuilder:
    """Writes choices and their lines, one strategy after the other."""

    setting: PlanningContext
    offers: OfferNames
    figures: frozenset[str]
    choices: list[AuditDecision] = field(default_factory=list)
    lines: list[AuditLine] = field(default_factory=list)
    units: dict[tuple[tuple[str, ...], int], UnitPayments] = field(default_factory=dict)

    def write(self, solved: SolvedStrategy) -> None:
        name, decisions = solved.strategy.name, solved.decisions
        names = [need.workload.name for need in self.setting.demands.needs]
        parts = cost_allocation.purchase_shares(decisions, self.setting)
        used = cost_allocation.used_fractions(decisions, self.setting)
        for order in decisions.bought:
            shares = zip(names, parts[order.resource.key], strict=True)
            months = range(1, self.setting.terms.months + 1)
            idle = tuple(_idle_fraction(float(used.get((order.resource.key, month), 0.0))) for month in months)
            shared = tuple((workload, part) for workload, part in shares if part)
            self._record_purchase(name, order, shared, idle if any(idle) else ())
        self._record_uses(name, decisions.shares)
        self._record_overheads(name, decisions.overheads)

    def _record_purchase(
        self, strategy: str, order: ResourceOrder, parts: tuple[tuple[str, float], ...], idle: tuple[float, ...]
    ) -> None:
        resource, terms, assumptions = order.resource, self.setting.terms, self.setting.assumptions
        covered = payments.covered_months(resource, order.month, assumptions, terms)
        as_paid = payments.RUNNING_CATEGORIES if resource.node is not None else frozenset()
        quantity = [0.0] * terms.months
        # what is ordered before the plan stands in its first month
        ordered = payments.order_month(resource, order.month, assumptions, terms)
        quantity[max(ordered, 1) - 1] = order.quantity
        choice = AuditDecision(strategy, resource.title, "", UNIT_WORDS[resource.unit], tuple(quantity), parts, idle)
        for line, months in self._price_unit(resource, order.month).items():
            spread = bool(covered) and line.category not in as_paid
            start, end = (covered[0], covered[-1]) if spread else (0, 0)
            for first, last in _split_consecutive_months(months):
                own = replace(line, choice=len(self.choices), first=first, last=last, borne_from=start, borne_to=end)
                self.lines.append(own)
        self.choices.append(choice)

    def _price_unit(self, resource: Resource, month: int) -> UnitPayments:
        """The payments for one unit ordered in a month: strategies often order the same."""
        key = resource.key, month
        if key not in self.units:
            one, existing = self._trace_resource(resource), resource.held
            if existing is not None:
                fee = existing.fee_per_month / existing.count
                one = replace(one, held=replace(existing, count=1, fee_per_month=fee))
            rows = payments.resource_payments(one, month, 1.0, self.setting.assumptions, self.setting.terms)
            self.units[key] = _group_payments(rows)
        return self.units[key]

    def _record_uses(self, strategy: str, shares: Iterable[CandidateUse]) -> None:
        """Hours by the hour or on owned nodes, and the workload's part of its data, by workload and resource."""
        hours: dict[tuple[int, int], list[float]] = defaultdict(lambda: [0.0] * self.setting.terms.months)
        data: dict[tuple[int, int], list[float]] = defaultdict(lambda: [0.0] * self.setting.terms.months)
        candidates: dict[tuple[int, int], Candidate] = {}
        for share in shares:
            key = share.candidate.need, share.candidate.resource
            candidates.setdefault(key, share.candidate)
            need = self.setting.demands.needs[share.candidate.need]
            hours[key][share.month - 1] += share.node_hours
            data[key][share.month - 1] += share.units * payments.data_share_per_unit(need, share.month)
        for key, candidate in candidates.items():
            resource = self._trace_resource(self.setting.market.resources[candidate.resource])
            workload = self.setting.demands.needs[candidate.need].workload
            terms, assumptions = self.setting.terms, self.setting.assumptions
            around = candidate.around
            if resource.node is not None:
                around = owned_data_costs(workload, assumptions, around.transfer)
            used = payments.resource_use_payments(resource, 1, 1.0, assumptions, terms)
            data_rows = payments.monthly_data_payments(around, resource, 1, 1.0, terms)
            for unit, quantity, rows in (("node-hours", hours, used), (DATA_UNIT, data, data_rows)):
                choice = AuditDecision(strategy, resource.title, workload.name, unit, tuple(quantity[key]))
                self._record_monthly_lines(choice, rows)

    def _record_overheads(self, strategy: str, overheads: Iterable[Overhead]) -> None:
        counts: dict[str, list[float]] = defaultdict(lambda: [0.0] * self.setting.terms.months)
        for overhead in overheads:
            counts[overhead.kind][overhead.month - 1] += overhead.quantity
        for kind, quantity in counts.items():
            if kind == "staff":
                rows = onprem.staff_payments(1, 1, self.setting.assumptions)
                self._record_monthly_lines(AuditDecision(strategy, OPERATORS, "", OPERATORS, tuple(quantity)), rows)
            else:
                rows = payments.support_minimum_payments(1, 1.0, self.setting.terms)
                self._record_monthly_lines(
                    AuditDecision(strategy, SUPPORT_PLAN, "", "top-up to its least fee", tuple(quantity)), rows
                )

    def _record_monthly_lines(self, choice: AuditDecision, rows: Iterable[Payment]) -> None:
        """Lines paid in every month for the quantity of that month; `rows` are those of month 1."""
        lines, number, last = _group_payments(rows), len(self.choices), self.setting.terms.months
        self.lines += (replace(line, choice=number, first=1, last=last, by_month=True) for line in lines)
        if lines:
            self.choices.append(choice)

    def _trace_resource(self, resource: Resource) -> Resource:
        """The resource with its own figures under their names: the price of an offer; price, power and height of an
        owned system. Values that are 0 or have no name stay numbers."""
        if resource.node is not None:
            names = override_names(resource.node.name)
            return replace(resource, node=self._trace_node(resource.node, names))
        assert resource.quote is not None
        name = self.offers.get(resource.quote.price.key)
        if name is None or resource.held is not None:
            return resource
        price = resource.quote.price
        traced = replace(price, price_per_hour=SymbolicValue(price.price_per_hour, name))
        return replace(resource, quote=replace(resource.quote, price=traced))

    def _trace_node(self, node: onprem.OwnedNode, names: tuple[str, str, str]) -> onprem.OwnedNode:
        def named(value: float, name: str) -> float:
            return SymbolicValue(value, name) if value and name in self.figures else value

        price, power, height = names
        units = None if node.rack_units is None else named(node.rack_units, height)
        return replace(
            node, price=named(node.price, price), max_power_kw=named(node.max_power_kw, power), rack_units=units
        )


def _idle_fraction(used: float) -> float:
    """The rest of 1; 0 where only the rounding of the solver is left."""
    return 1 - used if 1 - used > IDLE_TOLERANCE else 0.0


def _group_payments(rows: Iterable[Payment]) -> UnitPayments:
    """Payments by formula. Surcharges mark all others as billed, unless there are no others."""
    rows = tuple(rows)
    plain = [row for row in rows if row.category not in SURCHARGES]
    is_billed = bool(plain) and len(plain) < len(rows)
    priced_months_by_line: dict[AuditLine, list[tuple[int, int]]] = defaultdict(list)
    for row in plain or rows:
        amount = (
            row.amount if isinstance(row.amount, SymbolicValue) else SymbolicValue(row.amount, formula_text(row.amount))
        )
        growth = amount.growth or Growth("", row.month)
        line = AuditLine(
            0, row.category, row.at, amount.text, amount.ungrown, growth.rate, None, 0, 0, False, is_billed
        )  # fmt: skip
        priced_months_by_line[line].append((row.month, growth.month))
    months_by_line: dict[AuditLine, list[int]] = defaultdict(list)
    for line, months in priced_months_by_line.items():
        grows_on = all(month == priced for month, priced in months)
        for month, priced in months:
            months_by_line[replace(line, priced_in=None if grows_on else priced)].append(month)
    return months_by_line


def _split_consecutive_months(months: Iterable[int]) -> list[tuple[int, int]]:
    """Months in a row as first and last."""
    runs: list[tuple[int, int]] = []
    for month in sorted(months):
        if runs and month == runs[-1][1] + 1:
            runs[-1] = runs[-1][0], month
        else:
            runs.append((month, month))
    return runs
