"""What plans made by hand are made of, and the smallest of them, small enough to add up in the head."""

from __future__ import annotations

from datetime import date

from planner.analysis.recommendation import build_cost_bridge
from planner.result import (
    Assumption,
    BreakEven,
    CashRow,
    Gap,
    InputProvenance,
    InputReading,
    Plan,
    PriceUsed,
    Purchase,
    Recommendation,
    RefusedRow,
    RequestedWorkload,
    Strategy,
    ThroughputUsed,
    Use,
    WorkloadCost,
)
from planner.result.audit_trail import AuditDecision, AuditLine, AuditTrail, discount_factor
from planner.result.financial_views import (
    BreakEvenPrice,
    Depreciation,
    DepreciationYear,
    EffectiveCost,
    FinancialViews,
    OwningReturn,
    UnitCost,
)
from planner.result.message import Message

RATE = 0.08
MONTHLY = (1 + RATE) ** (1 / 12) - 1


def words(text):
    """A message of these words: what a plan has once it leaves the application."""
    return Message("by_hand", {}, text)


def present(cash):
    return sum(row.amount * discount_factor(row.month, row.at, MONTHLY) for row in cash)


def strategy(name, cash, *, status="optimal", **more):
    worth, total = present(cash), sum(row.amount for row in cash)
    return Strategy(
        name, status, worth, total, bound=worth * 0.9999, gap_fraction=0.0001, cash=tuple(cash),
        candidates=412, pruned=377, **more,
    )  # fmt: skip


def assumptions():
    def one(name, value, unit, low, high, **more):
        return Assumption(
            name, f"what {name} means", value, unit, low, high, "a survey of 2026", date(2026, 1, 15), **more
        )

    return (
        one("discount_rate_annual", RATE, "fraction per year", 0.06, 0.14),
        one("pue", 1.25, "ratio", 1.1, 1.65, overridden=True),
        one("lead_time_months", 8, "months", 4.0, None),
    )


def use(month, workload, option, node_hours, nodes, cost, **more):
    what = more.pop("what", "rental")
    fields = {
        "name": "p5.48xlarge", "provider": "aws", "region": "us-east-1", "accelerator": "H100",
        "accelerators_per_node": 8.0,
    } | more  # fmt: skip
    return Use(month, workload, what, purchase_option=option, node_hours=node_hours, nodes=nodes,
               units=node_hours * 1e6, cost=cost, **fields)  # fmt: skip


def price(provider, region, instance_type, option, per_hour, as_of):
    return PriceUsed(
        provider, region, instance_type, option, per_hour, "USD", as_of, "P1", "a price page", "read from the page"
    )


def effective(strategy, spread=()):
    """The cash of a strategy by month and category; that of the categories in `spread` evenly over their months."""
    sums = {}
    for row in strategy.cash:
        months = dict(spread).get(row.category, (row.month,))
        for month in months:
            sums[month, row.category] = sums.get((month, row.category), 0.0) + row.amount / len(months)
    return tuple(EffectiveCost(strategy.name, *key, amount) for key, amount in sorted(sums.items()))


def unit_costs(strategy, scale=1e6):
    rate = strategy.present_cost / strategy.total_cost
    return tuple(
        UnitCost(strategy.name, w.workload, w.team, w.units, scale, f"million {w.unit}", w.cost, w.cost * rate,
                 w.cost / w.units * scale, w.cost * rate / w.units * scale)
        for w in strategy.workloads
    )  # fmt: skip


def owning(cloud, own, months):
    """The hybrid strategy against cloud, as if its commitment were a node: rates and paybacks are made up."""
    flows = [0.0] * (months + 1)
    for sign, strategy in ((1, cloud), (-1, own)):
        for row in strategy.cash:
            flows[row.month - (row.at == "start")] += sign * row.amount
    prices = (
        BreakEvenPrice("hourly", 0.75, "above", 5.0, 3.75),
        BreakEvenPrice("cloud", None, "always", None, None),
    )
    worth = cloud.present_cost - own.present_cost
    return OwningReturn(own.name, tuple(flows), worth, (-0.25, 0.5), 9, None, prices)


def depreciation(strategy):
    """300,000 sold for 50,000 after 20 + 32 + 9.6 %: 115,200 left, a loss of 65,200; at 21 %."""
    deducted, left = (60000.0, 96000.0, 28800.0), (240000.0, 144000.0, 115200.0)
    years = tuple(
        DepreciationYear(year, *row, row[0] * 0.21) for year, row in enumerate(zip(deducted, left, strict=True), 1)
    )
    worth = 12600 / 1.08 + 20160 / 1.08**2 + (6048 + 13692) / 1.08**3
    return Depreciation(
        strategy, "DGX H200", 1, 1, 1, 36, "macrs", 0.21, 300000.0, years, 50000.0, 115200.0, -65200.0, -13692.0, worth
    )


def ledger_of_small():
    """How the payments of the small plan come about: hours at offers, the node at 25 an hour of every month."""
    three = (1.0,) * 3
    own = "share of a month's data"

    def used(strategy, what, workload, unit, quantity):
        return AuditDecision(strategy, what, workload, unit, tuple(quantity * one for one in three))

    def monthly(choice, category, rate, value):
        return AuditLine(choice, category, "end", rate, value, "", None, 1, 3, True, True)

    node, place = "p5.48xlarge aws us-east-1", "aws us-east-1"
    choices = (
        used("cloud", node, "llm training", "node-hours", 1460.0),
        used("cloud", node, "embedding", "node-hours", 500.0),
        used("cloud", place, "embedding", own, 1.0),
        AuditDecision("hybrid", f"{node} reserved_1y", "", "nodes", (1.0, 0.0, 0.0), (("llm training", 1.0),)),
        used("hybrid", node, "llm training", "node-hours", 730.0),
        used("hybrid", node, "embedding", "node-hours", 500.0),
        used("hybrid", place, "embedding", own, 1.0),
    )
    lines = (
        monthly(0, "on_demand", "offer_1", 40.0),  # 1,460 x 40 = 58,400
        monthly(1, "spot", "offer_2", 10.0),  # 500 x 10 = 5,000
        monthly(2, "egress", "12.5", 12.5),
        # 1 x 25 x 730 = 18,250 in each month; all 54,750 are borne by the three
        AuditLine(3, "commitment", "end", "25 * hours_per_month", 18250.0, "", None, 1, 3, False, True, 1, 3),
        monthly(4, "on_demand", "offer_1", 40.0),  # 730 x 40 = 29,200
        monthly(5, "spot", "offer_2", 10.0),
        monthly(6, "egress", "12.5", 12.5),
    )
    return AuditTrail(choices, lines, ("offer_1", "offer_2", "offer_3"))


def ledger_from_cash(strategies, currency, offers, spread=()):
    """For plans too large to do by hand: what was paid, by strategy, as it was; `spread` are months that bear it, by
    strategy and category."""
    amounts = {}
    last = max(row.month for strategy in strategies for row in strategy.cash)
    for strategy in strategies:
        for row in strategy.cash:
            key = strategy.name, row.what, row.category, row.at
            amounts.setdefault(key, [0.0] * last)[row.month - 1] += row.amount
    choices = tuple(AuditDecision(name, what, "", currency, tuple(by)) for (name, what, _, _), by in amounts.items())
    borne = dict(spread)
    lines = tuple(
        AuditLine(number, category, at, "1", 1.0, "", None, 1, last, True, False, *borne.get((name, category), (0, 0)))
        for number, (name, _, category, at) in enumerate(amounts)
    )
    return AuditTrail(choices, lines, offers)


def small():
    """Three months. Cloud, a month: training 2 nodes x 730 h x 40 = 58,400; embedding 500 h x 10 = 5,000; egress 12.50.

    Hybrid, a month: one node committed at 25 x 730 = 18,250, one on demand 29,200, embedding 5,000, egress 12.50.
    """
    months = range(1, 4)
    cloud_cash = [
        CashRow(m, "end", category, what, amount)
        for m in months
        for category, what, amount in (
            ("on_demand", "p5.48xlarge aws us-east-1", 58400.0),
            ("spot", "p5.48xlarge aws us-east-1", 5000.0),
            ("egress", "aws us-east-1", 12.5),
        )
    ]
    cloud = strategy(
        "cloud",
        cloud_cash,
        uses=tuple(
            line
            for m in months
            for line in (
                use(m, "llm training", "on_demand", 1460.0, 2.0, 58400.0),
                use(m, "embedding", "spot", 500.0, 500 / 730, 5012.5),
            )
        ),
        workloads=(
            WorkloadCost("llm training", "research", "tokens", 4.38e9, 175200.0, 175200 / 4.38e9, "aws us-east-1"),
            WorkloadCost("embedding", "search", "samples", 1.5e9, 15037.5, 15037.5 / 1.5e9, "aws us-east-1"),
        ),
    )
    hybrid_cash = [
        CashRow(m, "end", category, what, amount)
        for m in months
        for category, what, amount in (
            ("commitment", "p5.48xlarge aws us-east-1 reserved_1y", 18250.0),
            ("on_demand", "p5.48xlarge aws us-east-1", 29200.0),
            ("spot", "p5.48xlarge aws us-east-1", 5000.0),
            ("egress", "aws us-east-1", 12.5),
        )
    ]
    commitment = Purchase(
        1, "commitment", "p5.48xlarge", "aws", "us-east-1", "reserved_1y", "H100", 8.0, 1, 1, 12, 12, 0.0, 18250.0,
        present([CashRow(m, "end", "commitment", "", 18250.0) for m in months]),
    )  # fmt: skip
    hybrid = strategy(
        "hybrid",
        hybrid_cash,
        purchases=(commitment,),
        uses=tuple(
            line
            for m in months
            for line in (
                use(m, "llm training", "reserved_1y", 730.0, 1.0, 0.0, what="commitment"),
                use(m, "llm training", "on_demand", 730.0, 1.0, 29200.0),
                use(m, "embedding", "spot", 500.0, 500 / 730, 5012.5),
            )
        ),
        workloads=(
            WorkloadCost("llm training", "research", "tokens", 4.38e9, 142350.0, 142350 / 4.38e9, "aws us-east-1"),
            WorkloadCost("embedding", "search", "samples", 1.5e9, 15037.5, 15037.5 / 1.5e9, "aws us-east-1"),
        ),
    )
    onprem = Strategy("onprem", "infeasible", 0.0, 0.0, 0.0, 0.0, reasons=(words("embedding may not be owned"),))
    saving = cloud.present_cost - hybrid.present_cost
    advice = Recommendation(
        "hybrid",
        words("Commit to one p5.48xlarge for a year and rent the rest by the hour."),
        "cloud",
        saving,
        saving / cloud.present_cost,
        (words("The committed node is busy all the time."),),
    )
    views = FinancialViews(
        effective=effective(cloud) + effective(hybrid),
        unit_costs=unit_costs(cloud) + unit_costs(hybrid),
        bridge=build_cost_bridge(advice, (cloud, hybrid), MONTHLY),
    )
    return Plan(
        schema_version="2",
        plan_id="0123456789abcdef",
        status="optimal",
        as_of=date(2026, 11, 21),
        start="2026-12",
        months=3,
        month_names=("2026-12", "2027-01", "2027-02"),
        currency="USD",
        hours_per_month=730.0,
        discount_rate_annual=RATE,
        conventions=(
            Message("hours_per_month", {"hours": 730.0}, "A month is 730 hours."),
            Message("payment_timing", {}, "Purchases fall at the start of a month, running costs at its end."),
        ),
        recommendation=advice,
        strategies=(cloud, onprem, hybrid),
        break_even=(
            BreakEven("DGX H100", "p5.48xlarge aws us-east-1", 14, 0.41, 1.97, 5.0),
            BreakEven("DGX A100", "p4d.24xlarge aws us-east-1", None, 1.2, 3.4, 2.8),
        ),
        workloads=(
            RequestedWorkload(
                "llm training", "research", "training", "tokens", (1.46e9,) * 3, ("H100",), 16.0, False, "Plan!A5",
                40000.0, "",
            ),
            RequestedWorkload(
                "embedding", "search", "batch", "samples", (5e8,) * 3, (), 1.0, True, "Plan!A6", 9000.0, "checkpoints",
            ),
        ),
        throughput=(
            ThroughputUsed("llm training", "H100", 16.0, 2e6, 1.8e6, 2.2e6, "measured", (words("as measured on 16"),)),
            ThroughputUsed(
                "embedding", "H100", 1.0, 1.25e5, 1.0e5, 1.5e5, "predicted_same_architecture",
                (words("from H200 by bandwidth"),),
            ),
        ),
        prices=(
            price("aws", "us-east-1", "p5.48xlarge", "on_demand", 40.0, date(2026, 8, 1)),
            price("aws", "us-east-1", "p5.48xlarge", "spot", 10.0, date(2026, 11, 1)),
            price("gcp", "us-east4", "a3-highgpu-8g", "on_demand", 88.0, date(2026, 9, 1)),
        ),
        oldest_price=date(2026, 8, 1),
        assumptions=assumptions(),
        gaps=(
            Gap("no_price", "B200 in us-west-2", words("not considered there")),
            Gap("no_price", "B200 in us-west-1", words("not considered there")),
            Gap("predicted", "H100", words("throughput is predicted"), "embedding"),
            Gap("budget", "llm training", words("costs 7,450 a month more than its budget"), "llm training"),
        ),
        inputs=InputProvenance(
            "capacity.xlsx", "xlsx", "ab" * 32, 4, 2,
            (RefusedRow("Plan!A7", "Total", "total"), RefusedRow("Plan!A9", "", "blank")),
            (InputReading("workloads[0].name", "Plan!A5", "llm training", "llm training"),),
            ("the header was found in row 4",),
        ),
        catalog_digest="cd" * 32,
        views=views,
        ledger=ledger_of_small(),
    )  # fmt: skip
