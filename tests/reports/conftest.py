"""Plans made by hand: one small enough to add up in the head, one that is impossible, one hostile, one large."""

from __future__ import annotations

import dataclasses
from datetime import date

import pytest

from planner.answer import (
    Assumption,
    BreakEven,
    CashRow,
    Gap,
    Inputs,
    Plan,
    PriceUsed,
    Purchase,
    RateUsed,
    Reading,
    Recommendation,
    RefusedRow,
    RequestedWorkload,
    Strategy,
    ThroughputUsed,
    Use,
    WorkloadCost,
)
from planner.answer.views import (
    BreakEvenPrice,
    Depreciation,
    DepreciationYear,
    EffectiveCost,
    OwningReturn,
    UnitCost,
    Views,
)
from planner.cashflow import discount_factor
from planner.explain import bridge

RATE = 0.08
MONTHLY = (1 + RATE) ** (1 / 12) - 1

HOSTILE = (
    "=cmd|'/c calc'!A0",
    '+HYPERLINK("http://evil.example","x")',
    "@SUM(1+1)*cmd",
    "-2+3",
    "\t=1+1",
    "＝1+1",
    "{=1+1}",
    "http://evil.example/?q=1",
    "[click](javascript:alert(1)) | <script>alert(1)</script> `x`",
    "\x1b[31mred\x1b[0m\x1b]8;;http://evil.example\x07link\x1b]8;;\x07",
    "bell\x07 null\x00 override\u202e two\r\nlines",
    "<r><t>rich</t></r>",
    "x" * 200,
    "### @everyone #1 www.evil.example a@evil.example",
)


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
    onprem = Strategy("onprem", "infeasible", 0.0, 0.0, 0.0, 0.0, reasons=("embedding may not be owned",))
    saving = cloud.present_cost - hybrid.present_cost
    advice = Recommendation(
        "hybrid",
        "Commit to one p5.48xlarge for a year and rent the rest by the hour.",
        "cloud",
        saving,
        saving / cloud.present_cost,
        ("The committed node is busy all the time.",),
    )
    views = Views(
        effective=effective(cloud) + effective(hybrid),
        unit_costs=unit_costs(cloud) + unit_costs(hybrid),
        bridge=bridge(advice, (cloud, hybrid), MONTHLY),
    )
    return Plan(
        schema_version="1",
        plan_id="0123456789abcdef",
        status="optimal",
        as_of=date(2026, 11, 21),
        start="2026-12",
        months=3,
        month_names=("2026-12", "2027-01", "2027-02"),
        currency="USD",
        hours_per_month=730.0,
        discount_rate_annual=RATE,
        conventions=("A month is 730 hours.", "Purchases fall at the start of a month, running costs at its end."),
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
            ThroughputUsed("llm training", "H100", 16.0, 2e6, 1.8e6, 2.2e6, "measured", "as measured on 16"),
            ThroughputUsed(
                "embedding", "H100", 1.0, 1.25e5, 1.0e5, 1.5e5, "predicted_same_architecture", "from H200 by bandwidth"
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
            Gap("no_price", "B200 in us-west-2", "not considered there"),
            Gap("no_price", "B200 in us-west-1", "not considered there"),
            Gap("predicted", "H100", "throughput is predicted", "embedding"),
            Gap("budget", "llm training", "costs 7,450 a month more than its budget", "llm training"),
        ),
        inputs=Inputs(
            "capacity.xlsx", "xlsx", "ab" * 32, 4, 2,
            (RefusedRow("Plan!A7", "Total", "total"), RefusedRow("Plan!A9", "", "blank")),
            (Reading("workloads[0].name", "Plan!A5", "llm training", "llm training"),),
            ("the header was found in row 4",),
        ),
        catalog_digest="cd" * 32,
        views=views,
    )  # fmt: skip


def impossible():
    """No strategy serves the demand."""
    plan = small()
    none = tuple(
        Strategy(name, "infeasible", 0.0, 0.0, 0.0, 0.0, reasons=(f"{name}: no accelerator has 2,000 GiB",))
        for name in ("cloud", "onprem", "hybrid")
    )
    return dataclasses.replace(
        plan,
        status="infeasible",
        recommendation=Recommendation(None, "No plan is possible: no accelerator has 2,000 GiB.", None, 0.0, 0.0),
        strategies=none,
        break_even=(),
        throughput=(),
        prices=(),
        oldest_price=None,
        reasons=("no accelerator has 2,000 GiB; 288 GiB would do",),
        views=Views(),
    )


def converted():
    """The small plan in euros at 0.80 a dollar: an agreed on-demand price, 12 % off the spot price, one as listed."""
    plan = small()
    told = (
        {"adjustment": "agreed at 40 EUR an hour (ours.csv:3: contract 7)", "source_id": "private-prices"},
        {"list_price_per_hour": 14.2045, "list_currency": "USD", "adjustment": "12 % off the list price (ours.csv:2)"},
        {"list_price_per_hour": 110.0, "list_currency": "USD"},
    )
    prices = tuple(
        dataclasses.replace(price, currency="EUR", **more) for price, more in zip(plan.prices, told, strict=True)
    )
    rate = RateUsed("USD", "EUR", 0.8, date(2026, 11, 20), "a bank")
    return dataclasses.replace(plan, currency="EUR", prices=prices, exchange_rates=(rate,))


def hostile():
    """The small plan with every text that may come from outside replaced by something nasty."""
    return spoiled(small())


def spoiled(plan):
    nasty = iter(HOSTILE * 40)
    outside = {
        "name", "team", "place", "notes", "read", "value", "reason", "subject", "effect", "workload", "system",
        "rented", "where", "explanation", "source", "unit", "meaning", "sentence", "region", "path", "reasons",
        "conventions", "adjustment", "each",
    }  # fmt: skip
    renamed = {}

    def swap(text):
        return renamed.setdefault(text, next(nasty))

    def walk(value, field=""):
        if dataclasses.is_dataclass(value):
            ours = (
                ("name", "unit", "strategy") if isinstance(value, Assumption | Strategy | Purchase) else ("strategy",)
            )
            fields = [f.name for f in dataclasses.fields(value) if f.name not in ours]
            return dataclasses.replace(value, **{name: walk(getattr(value, name), name) for name in fields})
        if isinstance(value, tuple):
            return tuple(walk(item, field) for item in value)
        return swap(value) if isinstance(value, str) and value and field in outside else value

    return walk(plan)


def large():
    """Twelve growing workloads over twelve months, owned nodes, a commitment that outlasts the horizon, many gaps."""
    months = 12
    names = tuple(f"2026-{m}" if m == 12 else f"2027-{m:02d}" for m in [12, *range(1, 12)])
    jobs = [f"team-{i // 3}/workload-{i:02d}-with-a-rather-long-name" for i in range(12)]
    uses, cash = [], []
    for index, job in enumerate(jobs):
        for month in range(1, months + 1):
            hours = (index + 1) * 137.5 * 1.04**month
            option = ("on_demand", "spot", "reserved_3y")[index % 3]
            cost = 0.0 if index % 3 == 2 else hours * (31.333 + index)
            what = "commitment" if index % 3 == 2 else "rental"
            uses.append(
                use(month, job, option, hours, hours / 730, cost, what=what, provider="gcp", name="a3-ultragpu-8g")
            )
            if month > 9:
                uses.append(use(month, job, "owned", hours / 3, hours / 2190, 0.0, what="owned", name="DGX H200",
                                provider="", region="", accelerator="H200"))  # fmt: skip
            if cost:
                cash.append(CashRow(month, "end", option, "a3-ultragpu-8g gcp us-east-1", cost))
    cash += [CashRow(m, "end", "commitment", "reserved_3y", 143210.987) for m in range(1, 37)]
    cash.append(CashRow(2, "start", "hardware", "DGX H200", 2_401_333.333))
    for month in range(10, months + 1):
        for category, amount in (("power", 9876.543), ("space", 12000.01), ("staff", 8666.667), ("support", 15999.99)):
            cash.append(CashRow(month, "end", category, "DGX H200", amount))
        cash.append(CashRow(month, "end", "storage", "own", 1234.5))
        cash.append(CashRow(month, "end", "egress", "gcp", 999.999))
    cash.append(CashRow(12, "end", "resale", "DGX H200", -1_777_777.777))
    cash.sort(key=lambda row: (row.month, row.at, row.category))
    rented = ("on_demand", "spot", "commitment", "storage", "egress")
    plain = [row for row in cash if row.category in rented]
    plain += [CashRow(m, "end", "on_demand", "instead of owned nodes", 345678.901) for m in range(10, months + 1)]
    total = sum(row.amount for row in cash)
    weights = [i + 1 for i in range(12)]
    workloads = tuple(
        WorkloadCost(job, f"team {i // 3}", "tokens", 1e12 * (i + 1), total * w / sum(weights),
                     total * w / sum(weights) / (1e12 * (i + 1)), "gcp us-east-1 and own site")
        for i, (job, w) in enumerate(zip(jobs, weights, strict=True))
    )  # fmt: skip
    purchases = (
        Purchase(2, "owned", "DGX H200", "", "", "owned", "H200", 8.0, 8, 10, 69, 60, 2_401_333.333, 46543.21,
                 2_300_000.5),
        Purchase(1, "commitment", "a3-ultragpu-8g", "gcp", "us-east-1", "reserved_3y", "H200", 8.0, 4, 1, 36, 36, 0.0,
                 143210.987, 4_500_000.25),
    )  # fmt: skip
    hybrid = strategy("hybrid", cash, uses=tuple(uses), purchases=purchases, workloads=workloads)
    scale = sum(row.amount for row in plain) / total
    cloud_uses = tuple(line for line in uses if line.what != "owned")
    scaled = tuple(
        dataclasses.replace(w, cost=w.cost * scale, cost_per_unit=w.cost_per_unit * scale) for w in workloads
    )
    cloud = strategy("cloud", plain, uses=cloud_uses, purchases=purchases[1:], workloads=scaled)
    first, runner_up = sorted((cloud, hybrid), key=lambda s: s.present_cost)
    plan = small()
    advice = Recommendation(
        first.name, "Rent on demand and commit to four nodes for three years.", runner_up.name,
        runner_up.present_cost - first.present_cost, 1 - first.present_cost / runner_up.present_cost,
    )  # fmt: skip
    used = range(10, months + 1)
    owned_part = {"hardware": used, "resale": used, "commitment": range(1, months + 1)}
    return dataclasses.replace(
        plan,
        months=months,
        month_names=names,
        strategies=(cloud, plan.strategy("onprem"), hybrid),
        recommendation=advice,
        views=Views(
            effective(cloud, {"commitment": range(1, months + 1)}) + effective(hybrid, owned_part),
            (owning(cloud, hybrid, 36),),
            unit_costs(cloud) + unit_costs(hybrid),
            (),
            bridge(advice, (cloud, hybrid), MONTHLY),
        ),
        workloads=tuple(
            RequestedWorkload(job, f"team {i // 3}", "batch", "tokens", (1e12 / 12 * (i + 1),) * 12, ("H100", "H200"),
                              8.0, True, f"Plan!A{i + 5}", None, "") for i, job in enumerate(jobs)
        ),
        throughput=tuple(
            ThroughputUsed(job, "H200", 8.0, 3.3e9, 2.9e9, 3.8e9, "predicted_count", "from 4 H200, weak scaling 0.97")
            for job in jobs
        ),
        gaps=plan.gaps + tuple(
            Gap("no_price", f"B300 in region-{i:02d}", "not considered there", jobs[i % 12]) for i in range(40)
        ),
    )  # fmt: skip


def long():
    """Three years: 300,000 for a node ordered at once, used from the seventh month on, power of 100.40 a month and more
    each month, against 12,000.25 a month on demand."""
    months = 36
    names = tuple(f"{2026 + (m + 10) // 12}-{(m + 10) % 12 + 1:02d}" for m in range(1, months + 1))
    rented = [CashRow(m, "end", "on_demand", "p5.48xlarge aws us-east-1", 12000.25) for m in range(1, months + 1)]
    bought = [CashRow(1, "start", "hardware", "DGX H200", 300000.0), *rented[:6]]
    bought += [CashRow(m, "end", "power", "DGX H200", 100.4 + m) for m in range(7, months + 1)]
    bought.append(CashRow(months, "end", "resale", "DGX H200", -50000.0))
    total = sum(row.amount for row in bought)
    purchase = Purchase(1, "owned", "DGX H200", "", "", "owned", "H200", 8.0, 1, 7, 66, 60, 3e5, 119.4, 2.6e5)
    work = (WorkloadCost("llm training", "research", "tokens", 4.38e9, total, total / 4.38e9, "own site"),)
    cloud, hybrid = strategy("cloud", rented), strategy("hybrid", bought, purchases=(purchase,), workloads=work)
    plan = small()
    advice = Recommendation("hybrid", "Buy one.", "cloud", cloud.present_cost - hybrid.present_cost, 0.2)
    used = range(7, months + 1)
    return dataclasses.replace(
        plan,
        months=months,
        month_names=names,
        strategies=(cloud, plan.strategy("onprem"), hybrid),
        recommendation=advice,
        workloads=(dataclasses.replace(plan.workloads[0], demand=(4.38e9 / 36,) * 36),),
        views=Views(
            effective(cloud) + effective(hybrid, {"hardware": used, "resale": used}),
            (owning(cloud, hybrid, months),),
            unit_costs(hybrid),
            (depreciation("hybrid"),),
            bridge(advice, (cloud, hybrid), MONTHLY),
        ),
    )


PLANS = {
    "small": small,
    "long": long,
    "impossible": impossible,
    "hostile": hostile,
    "large": large,
    "converted": converted,
    "hostile money": lambda: spoiled(converted()),
}


@pytest.fixture(params=list(PLANS))
def plan(request):
    return PLANS[request.param]()


@pytest.fixture
def small_plan():
    return small()


@pytest.fixture
def converted_plan():
    return converted()


@pytest.fixture
def hostile_plan():
    return hostile()


@pytest.fixture
def large_plan():
    return large()


@pytest.fixture
def long_plan():
    return long()


@pytest.fixture
def impossible_plan():
    return impossible()
