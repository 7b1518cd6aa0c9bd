"""The readable report as data: its building blocks, and the sections about the decision.

Every text is plain already; a format only has to lay it out and escape it.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence

from planner.reports._content.number_format import (
    NO_VALUE,
    apportion,
    format_money,
    format_number,
    format_percent,
    format_quantity,
    format_unit_cost,
    month_name,
    month_range_name,
)
from planner.reports._content.usage_periods import group_usage
from planner.result import Plan, Purchase, QuotaRequest, Strategy, Use, WorkloadCost, describe_amount, describe_orders
from pricing.frozen_values import dataclass
from pricing.plain_text import plain_text
from pricing.quota import UNIT_WORDS

LISTED_MAX = 5
NO_BOUND = "none found"
STATUS_WORDS = {"optimal": "proven optimal", "within_gap": "within the gap", "infeasible": "infeasible"}


@dataclass(frozen=True, slots=True)
class ReportTable:
    """Rows under titles; `numbers` are the right-aligned columns; the last row is a total if `has_total`.

    A row of a single cell is a heading over the rows that follow it. With `has_prose` the last column is running text,
    which a format may set under its row.
    """

    titles: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numbers: frozenset[int] = frozenset()
    has_total: bool = False
    has_prose: bool = False


@dataclass(frozen=True, slots=True)
class Bullets:
    """Short statements, one a line."""

    items: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and its contents; texts are paragraphs."""

    title: str
    blocks: tuple[str | ReportTable | Bullets, ...]


def make_table(
    titles: Sequence[str],
    rows: Iterable[Sequence[str]],
    numbers: Iterable[int],
    *,
    has_total: bool = False,
    has_prose: bool = False,
) -> ReportTable:
    """A table with every cell made plain."""
    clean = tuple(tuple(plain_text(cell) for cell in row) for row in rows)
    return ReportTable(tuple(titles), clean, frozenset(numbers), has_total, has_prose)


def make_bullets(items: Iterable[str]) -> Bullets:
    """Statements, each made plain."""
    return Bullets(tuple(plain_text(item) for item in items))


def headline(plan: Plan) -> str:
    """The recommendation in one sentence, also where there is none."""
    return plain_text(str(plan.recommendation.sentence)) or f"No strategy is recommended: the plan is {plan.status}."


def recommended_strategy(plan: Plan) -> Strategy | None:
    """The strategy that the plan recommends."""
    name = plan.recommendation.strategy
    return plan.strategy(name) if name else None


def status_text(strategy: Strategy) -> str:
    """How its search ended: "proven optimal", "within the gap, cut by clock", "not solved", "no bound found"."""
    words = STATUS_WORDS[strategy.status]
    if strategy.status == "infeasible":
        words = "not solved" if strategy.is_unsolved else words
    elif strategy.bound is None:
        words = "no bound found"
    return f"{words}, cut by clock" if strategy.cut_by_clock else words


def purchases_text(strategy: Strategy, currency: str, *, owned: bool) -> str:
    """All hardware (`owned`) or all commitments, most first: "4 x p5.48xlarge aws us-east-1 reserved_1y"."""
    counts: dict[tuple[str, str], float] = defaultdict(float)
    for purchase in (each for each in strategy.purchases if (each.what == "owned") == owned):
        parts = (purchase.name, purchase.provider, purchase.region, _option_text(purchase))
        counts[" ".join(part for part in parts if part), purchase.unit] += purchase.amount
    most = sorted(counts.items(), key=lambda item: -item[1])[:LISTED_MAX]
    listed = [f"{describe_amount(count, unit, currency)} {name}" for (name, unit), count in most]
    if len(counts) > LISTED_MAX:
        listed.append(f"and {len(counts) - LISTED_MAX} more kinds")
    return plain_text("; ".join(listed)) or NO_VALUE


def place_text(line: Purchase | Use) -> str:
    """Provider and region; own site for owned nodes."""
    return " ".join(part for part in (line.provider, line.region) if part) or "own site"


def node_text(line: Purchase | Use) -> str:
    """The node with its accelerators: "p5.48xlarge (8 x H100)"; of committed money the family that it is for."""
    if not line.accelerator:
        return line.name
    inside = f"{format_number(line.accelerators_per_node)} x {line.accelerator}"
    return f"{line.name} ({inside})" if line.name else inside


def _option_text(line: Purchase | Use) -> str:
    return "" if line.purchase_option == "owned" else line.purchase_option


def plan_frame(plan: Plan) -> str:
    """The months, dates and currency of the plan in a sentence."""
    last = plan.month_names[-1] if plan.month_names else plan.start
    frame = f"Months {plan.start} to {last} ({plan.months}), dated {plan.as_of}; amounts in {plan.currency}; "
    return frame + f"discount rate {format_percent(plan.discount_rate_annual, 2)} a year."


def recommendation_section(plan: Plan) -> Section:
    """The recommendation, its reasons, and the months, dates and currency of the plan."""
    chosen = plan.recommendation
    facts = [against_runner_up(plan)] if chosen.runner_up else []
    facts += [plan_frame(plan), *map(str, (*chosen.reasons, *plan.reasons))]
    return Section("Recommendation", (headline(plan), make_bullets(facts)))


def against_runner_up(plan: Plan) -> str:
    """The recommended strategy against its runner-up, in present cost and in cash."""
    chosen = plan.recommendation
    amount = f"{format_money(abs(chosen.worth))} {plan.currency} ({format_percent(abs(chosen.worth_fraction))})"
    compared = f"{amount} less than" if chosen.worth > 0 else f"{amount} more than"
    if not round(chosen.worth):
        compared = "the same as"
    cash = [plan.strategy(name).total_cost for name in (chosen.strategy, chosen.runner_up) if name]
    return (
        f"Present cost of {chosen.strategy}: {compared} the runner-up, {chosen.runner_up}; in cash "
        f"{format_money(cash[0])} against {format_money(cash[1])}."
    )


def strategies_section(plan: Plan) -> Section:
    """The strategies side by side."""
    lines: list[tuple[str, Callable[[Strategy], str]]] = [
        (f"present cost, {plan.currency}", lambda s: format_money(s.present_cost)),
        (f"total cost, {plan.currency}", lambda s: format_money(s.total_cost)),
        ("hardware purchases", lambda s: purchases_text(s, plan.currency, owned=True)),
        ("commitments", lambda s: purchases_text(s, plan.currency, owned=False)),
        ("rented node-hours", lambda s: format_money(_rented_hours(s))),
        (f"proven bound, {plan.currency}", lambda s: NO_BOUND if s.bound is None else format_money(s.bound)),
        ("gap to the bound", lambda s: NO_VALUE if s.gap_fraction is None else format_percent(s.gap_fraction, 3)),
    ]
    rows = [
        ("status", *(status_text(s) for s in plan.strategies)),
        *(
            (label, *(NO_VALUE if s.status == "infeasible" else format_cell(s) for s in plan.strategies))
            for label, format_cell in lines
        ),
        ("candidates (pruned)", *(f"{s.candidates:,d} ({s.pruned:,d})" for s in plan.strategies)),
    ]
    names = [f"{s.name} *" if s.name == plan.recommendation.strategy else s.name for s in plan.strategies]
    blocks: list[str | ReportTable | Bullets] = [make_table(("", *names), rows, range(1, len(names) + 1))]
    if plan.recommendation.strategy:
        is_decided = any(each.robustness_cost for each in (plan.uncertainty.strategies if plan.uncertainty else ()))
        decided = ", of plans that decide for the scenarios" if is_decided else ""
        blocks.append(f"* recommended. The present cost cannot fall below the proven bound{decided}.")
    told = {*plan.reasons, *(each.parameters.get("reason") for each in plan.reasons)}
    reasons = [f"{s.name}: {r}" for s in plan.strategies for r in s.reasons if r not in told]
    reasons += [
        f"{s.name}: searched in {s.columns_searched:,d} of about {s.columns:,d} decisions, at the homes that matter; "
        "the bound holds for all of them"
        for s in plan.strategies
        if s.columns_searched < s.columns
    ]
    reasons += _list_equal_strategies(plan)
    if reasons:
        blocks.append(make_bullets(reasons))
    return Section("Strategies", tuple(blocks))


def _list_equal_strategies(plan: Plan) -> Iterator[str]:
    """Strategies that are the same plan as an earlier one."""
    solved = [s for s in plan.strategies if s.status != "infeasible"]
    for index, one in enumerate(solved):
        same = next((s for s in solved[:index] if (s.purchases, s.uses) == (one.purchases, one.uses)), None)
        if same is not None:
            yield f"{one.name}: the same plan as {same.name}"


def _rented_hours(strategy: Strategy) -> float:
    return sum(use.node_hours for use in strategy.uses if use.what not in ("owned", "commitment"))


def _ordered_as(purchase: Purchase) -> str:
    """The orders of dated days; empty for other purchases."""
    return f"ordered as {describe_orders(purchase.orders)}" if purchase.orders else ""


def purchases_section(plan: Plan, chosen: Strategy) -> Section:
    """Orders and commitments, in order of time."""
    title = "Purchases and commitments by month"
    if not chosen.purchases:
        return Section(title, ("No purchases and no commitments.",))
    rows = [
        (
            month_name(plan, p.month),
            p.what,
            describe_amount(p.amount, p.unit, plan.currency).removesuffix(" x").removesuffix(" of"),
            month_range_name(plan, p.usable_from, p.usable_to),
            format_money(p.upfront),
            format_money(p.per_month),
            format_money(p.present_cost),
            ", ".join(part for part in (node_text(p), place_text(p), _option_text(p), _ordered_as(p)) if part),
        )
        for p in sorted(chosen.purchases, key=lambda p: (p.month, p.what, p.name, p.provider, p.region))
    ]
    titles = ("order", "what", "amount", "usable", "upfront", "per month", "present cost", "node")
    purchases = make_table(titles, rows, (2, 4, 5, 6), has_prose=True)
    return Section(f"{title}, {plan.currency}", (purchases,))


def usage_section(plan: Plan, chosen: Strategy) -> Section:
    """The nodes of each workload, equal months joined."""
    periods, is_joined = group_usage(chosen, plan)
    costs = apportion([math.fsum(use.cost for use in run) for run in periods])
    rows: list[tuple[str, ...]] = []
    workload = None
    for run, cost in zip(periods, costs, strict=True):
        first, last = run[0], run[-1]
        if first.workload != workload:
            workload = first.workload
            rows.append((workload,))
        nodes = [format_number(number(use.nodes_at_once for use in run)) for number in (min, max)]
        rows.append(
            (
                month_range_name(plan, first.month, last.month),
                node_text(first),
                place_text(first),
                first.purchase_option,
                " to ".join(dict.fromkeys(nodes)),
                format_money(sum(use.node_hours for use in run)),
                format_money(cost),
            )
        )
    hours = format_money(sum(use.node_hours for use in chosen.uses))
    rows.append(("total", "", "", "", "", hours, format_money(sum(costs))))
    titles = ("months", "node", "where", "option", "nodes at once", "node-hours", "cost")
    note = "The node-hours are billed, on so many whole nodes at once as they need."
    note += " Owned and committed nodes are paid as purchases; their use costs data and, where idling saves it, power."
    if is_joined:
        joined = (
            "Different months are joined here, with their fewest and most nodes; csv, json and xlsx have each month."
        )
        note = f"{note} {joined}"
    usage = make_table(titles, rows, (4, 5, 6), has_total=True)
    return Section(f"Rentals and use of nodes by month, by workload, {plan.currency}", (usage, note))


def workloads_section(plan: Plan, chosen: Strategy) -> Section:
    """The cost of each workload, with its budget."""
    budgets = {workload.name: workload.budget_per_month for workload in plan.workloads}
    # with the total given, the rounding difference to the cash is spread over the workloads too
    costs = apportion([w.cost for w in chosen.workloads], chosen.total_cost)
    rows = [
        (
            w.workload,
            w.team or NO_VALUE,
            f"{format_quantity(w.units)} {w.unit}",
            format_money(cost),
            format_unit_cost(w.cost_per_unit, w.unit),
            _cost_range_text(w),
            _budget_text(budgets.get(w.workload), w.cost / plan.months),
            w.where,
        )
        for w, cost in zip(chosen.workloads, costs, strict=True)
    ]
    rows.append(("total", "", "", format_money(sum(costs)), "", "", "", ""))
    titles = ("workload", "team", "work", "cost", "cost per unit", "80 % range", "mean against budget", "where")
    table = make_table(titles, rows, (3, 5), has_total=True, has_prose=True)
    note = "80 % range: the cost with a predicted throughput at the ends of its interval, hours in proportion."
    has_range = any(w.cost_high > w.cost_low for w in chosen.workloads)
    return Section(f"Workloads, {plan.currency}", (table, note) if has_range else (table,))


def _cost_range_text(cost: WorkloadCost) -> str:
    """The range of the cost with a predicted throughput; a dash where it is measured."""
    if cost.cost_high <= cost.cost_low:
        return NO_VALUE
    return f"{format_money(cost.cost_low)} to {format_money(cost.cost_high)}"


def _budget_text(budget: float | None, cost_per_month: float) -> str:
    if budget is None:
        return NO_VALUE
    over = cost_per_month / budget - 1
    return f"OVER by {format_percent(over)} of {format_money(budget)}" if over > 0 else f"within {format_money(budget)}"


def quota_section(plan: Plan) -> Section | None:
    """Quota requests of the recommended strategy; None where no strategy exceeds a quota."""
    if not plan.quota_requests:
        return None
    own = [request for request in plan.quota_requests if request.strategy == plan.recommendation.strategy]
    rows = [_quota_row(plan, request) for request in own]
    titles = ("where", "quota", "unit", "to request", "more", "limit", "in use", "runs", "by", "title and purpose")
    facts = ["A provider may refuse: request early. The plan does not take quotas into account."]
    others = len(plan.quota_requests) - len(own)
    if others:
        facts.append(f"Requests of the other strategies: {others:,d}; json and xlsx have them.")
    if not rows:
        return Section("Quotas to request", (make_bullets(["None for the recommended strategy.", *facts]),))
    table = make_table(titles, rows, (3, 4, 5, 6, 7), has_prose=True)
    return Section("Quotas to request", (table, make_bullets(facts)))


def _quota_row(plan: Plan, request: QuotaRequest) -> tuple[str, ...]:
    return (
        f"{request.provider} {request.region}",
        request.code,
        UNIT_WORDS[request.unit],
        format_number(request.ask_for),
        format_number(request.ask_for - request.limit),
        format_number(request.limit),
        "unknown" if request.used is None else format_number(request.used),
        format_number(request.needed),
        month_name(plan, request.first_month),
        f"{request.title}, as of {request.as_of}; for {', '.join(request.workloads) or 'nodes committed to'}",
    )
