"""The charts of a plan: cash by month and strategy, use against commitments, and break-even of owning."""

from __future__ import annotations

import math
from collections import Counter, defaultdict

from planner.reports._content.charges import build_charges
from planner.reports._content.number_format import month_name
from planner.reports._content.sections import recommended_strategy
from planner.reports._content.svg_charts import ChartSeries, draw_chart
from planner.result import BreakEven, Plan, Purchase, Strategy, Use
from pricing.counted_nouns import format_count

STRATEGY_LINES = {"cloud": ("#2E75B6", 6.0), "onprem": ("#C55A11", 3.5), "hybrid": ("#548235", 1.5)}
"""Colour and width: equal lines stay visible on top of each other."""
WAYS = {"commitment": "#2E75B6", "owned": "#548235", "on demand": "#C55A11", "spot": "#F4B183"}
COMMITTED, OWNING, RENTING = "#1F3864", "#548235", "#C55A11"


TITLES = {"cash": "Cash by month and strategy", "coverage": "Use against commitments", "break-even": "Break-even"}


def draw_charts(plan: Plan) -> dict[str, str]:
    """The SVG of each chart of the plan, by its name (those of TITLES)."""
    chosen = recommended_strategy(plan)
    charts = {
        "cash": _cash_chart(plan),
        "coverage": None if chosen is None else _coverage_chart(plan, chosen),
        "break-even": _break_even_chart(plan),
    }
    return {name: chart for name, chart in charts.items() if chart is not None}


def _cash_chart(plan: Plan) -> str | None:
    """Payments of each strategy in each month, negative where a resale comes in."""
    solved = [strategy for strategy in plan.strategies if strategy.status != "infeasible"]
    months = range(min([1, *(row.month for s in solved for row in s.cash)]), plan.months + 1)
    if not solved:
        return None
    lines = []
    for strategy in solved:
        paid: dict[int, float] = defaultdict(float)
        for row in strategy.cash:
            paid[row.month] += row.amount
        colour, width = STRATEGY_LINES[strategy.name]
        lines.append(ChartSeries(strategy.name, tuple(paid[month] for month in months), colour, width))
    labels = [month_name(plan, month) for month in months]
    return draw_chart(TITLES["cash"], plan.currency, labels, lines=lines)


def usage_series(plan: Plan, chosen: Strategy) -> tuple[list[ChartSeries], list[ChartSeries]]:
    """Accelerator-hours of each month by how they are paid for, as bars, and those committed to, as lines."""
    used: dict[tuple[str, int], float] = defaultdict(float)
    unused: dict[int, float] = defaultdict(float)
    by_pool: dict[tuple[str, int], tuple[float, float]] = defaultdict(lambda: (0.0, 0.0))
    charges = [charge for charge in build_charges(plan, chosen) if charge.month >= 1]
    for charge in charges:
        if isinstance(charge.line, Use):
            hours = charge.line.node_hours * charge.line.accelerators_per_node
            used[_payment_way(charge.line), charge.month] += hours
            drawn = by_pool[charge.pool, charge.month]
            by_pool[charge.pool, charge.month] = drawn[0] + hours, drawn[1] + (charge.committed or 0.0)
    for charge in charges:
        if charge.kind == "unused" and isinstance(charge.line, Purchase) and charge.quantity:
            hours, drawn_money = by_pool[charge.pool, charge.month]
            if charge.line.unit == "money":  # as hours of its uses in the month
                unused[charge.month] += charge.quantity * hours / drawn_money if drawn_money else 0.0
            else:
                unused[charge.month] += charge.quantity * charge.line.accelerators_per_node
    months = range(1, plan.months + 1)
    bars = [
        ChartSeries(way, tuple(used[way, month] for month in months), colour)
        for way, colour in WAYS.items()
        if any(used[way, month] for month in months)
    ]
    committed = tuple(used["commitment", month] + unused[month] for month in months)
    return bars, [ChartSeries("committed to, used or not", committed, COMMITTED)] if any(committed) else []


def _coverage_chart(plan: Plan, chosen: Strategy) -> str | None:
    """Use under the commitments."""
    bars, lines = usage_series(plan, chosen)
    if not bars:
        return None
    labels = [month_name(plan, month) for month in range(1, plan.months + 1)]
    return draw_chart(f"{TITLES['coverage']}, {chosen.name}", "accelerator-hours", labels, lines=lines, bars=bars)


def _payment_way(use: Use) -> str:
    by_the_hour = "spot" if use.purchase_option == "spot" else "on demand"
    return use.what if use.what in ("owned", "commitment") else by_the_hour


def pair_to_draw(plan: Plan) -> BreakEven | None:
    """The owned system and its rented equal that matter most; None without one, or where the plan lacks its months."""
    points = {point.system: point for point in plan.break_even if point.life_months}
    first = plan.recommendation.strategy
    for strategy in sorted(plan.strategies, key=lambda s: (s.name != first, s.name != "onprem")):
        counts: Counter[str] = Counter()
        for item in strategy.purchases:
            if item.what == "owned" and item.name in points:
                counts[item.name] += item.count
        if counts:
            return points[min(counts, key=lambda name: (-counts[name], name))]
    return next(iter(points.values()), None)


def _break_even_chart(plan: Plan) -> str | None:
    """Cumulative cost of one node by month from delivery, owned and rented at full use."""
    pair = pair_to_draw(plan)
    if pair is None:
        return None
    months = range(pair.life_months + 1)
    owning = tuple(math.fsum((pair.capital, month * pair.own_per_month)) for month in months)
    lines = [
        ChartSeries(f"owning {pair.system}", owning, OWNING),
        ChartSeries(f"renting {pair.rented}", tuple(month * pair.rent_per_month for month in months), RENTING),
    ]
    at = "never" if pair.month is None else f"after {format_count(pair.month, 'month')}"
    title = f"Break-even of one node at full use, from delivery: {at}"
    return draw_chart(title, plan.currency, [str(month) for month in months], lines=lines)
