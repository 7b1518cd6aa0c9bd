"""Plans made by hand: a small one (`by_hand.py`), an impossible, a hostile, a large one, and one of three years."""

from __future__ import annotations

import dataclasses
import importlib.util
import io
import sys
from datetime import date
from pathlib import Path

import openpyxl
import pytest

from planner.analysis.recommendation import build_cost_bridge
from planner.reports import xlsx
from planner.result import (
    Assumption,
    CashRow,
    Gap,
    Purchase,
    RateUsed,
    Recommendation,
    RequestedWorkload,
    Strategy,
    ThroughputUsed,
    WorkloadCost,
)
from planner.result.audit_trail import AuditTrail
from planner.result.financial_views import FinancialViews
from planner.result.message import Message


def _load(name):
    """A helper beside this file: tests are no package."""
    spec = importlib.util.spec_from_file_location(f"reports_{name}", Path(__file__).parent / f"{name}.py")
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


by_hand = _load("by_hand")
MONTHLY = by_hand.MONTHLY


@pytest.fixture(scope="session")
def sheets():
    """What computes a workbook a second time: `sheets.py`."""
    return _load("sheets")


@pytest.fixture(scope="session")
def live_plans():
    """Requests whose plans pay in every way: `live_plans.py`."""
    return _load("live_plans")


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


def impossible():
    """No strategy serves the demand."""
    plan = by_hand.small()
    none = tuple(
        Strategy(
            name, "infeasible", 0.0, 0.0, 0.0, 0.0, reasons=(by_hand.words(f"{name}: no accelerator has 2,000 GiB"),)
        )
        for name in ("cloud", "onprem", "hybrid")
    )
    return dataclasses.replace(
        plan,
        status="infeasible",
        recommendation=Recommendation(
            None, by_hand.words("No plan is possible: no accelerator has 2,000 GiB."), None, 0.0, 0.0
        ),
        strategies=none,
        break_even=(),
        throughput=(),
        prices=(),
        oldest_price=None,
        ledger=AuditTrail(),
        reasons=(by_hand.words("no accelerator has 2,000 GiB; 288 GiB would do"),),
        views=FinancialViews(),
    )


def converted():
    """The small plan in euros at 0.80 a dollar: an agreed on-demand price, 12 % off the spot price, one as listed."""
    plan = by_hand.small()
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
    return spoiled(by_hand.small())


def spoiled(plan):
    nasty = iter(HOSTILE * 40)
    outside = {
        "name", "team", "place", "notes", "read", "value", "reason", "subject", "text", "workload", "system",
        "rented", "where", "source", "unit", "meaning", "region", "path", "adjustment", "each", "parts",
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
                by_hand.use(
                    month, job, option, hours, hours / 730, cost, what=what, provider="gcp", name="a3-ultragpu-8g"
                )
            )
            if month > 9:
                own = {"what": "owned", "name": "DGX H200", "provider": "", "region": "", "accelerator": "H200"}
                uses.append(by_hand.use(month, job, "owned", hours / 3, hours / 2190, 0.0, **own))
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
    hybrid = by_hand.strategy("hybrid", cash, uses=tuple(uses), purchases=purchases, workloads=workloads)
    scale = sum(row.amount for row in plain) / total
    cloud_uses = tuple(line for line in uses if line.what != "owned")
    scaled = tuple(
        dataclasses.replace(w, cost=w.cost * scale, cost_per_unit=w.cost_per_unit * scale) for w in workloads
    )
    cloud = by_hand.strategy("cloud", plain, uses=cloud_uses, purchases=purchases[1:], workloads=scaled)
    first, runner_up = sorted((cloud, hybrid), key=lambda s: s.present_cost)
    plan = by_hand.small()
    advice = Recommendation(
        first.name, by_hand.words("Rent on demand and commit to four nodes for three years."), runner_up.name,
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
        views=FinancialViews(
            by_hand.effective(cloud, {"commitment": range(1, months + 1)}) + by_hand.effective(hybrid, owned_part),
            (by_hand.owning(cloud, hybrid, 36),),
            by_hand.unit_costs(cloud) + by_hand.unit_costs(hybrid),
            (),
            build_cost_bridge(advice, (cloud, hybrid), MONTHLY),
        ),
        ledger=by_hand.ledger_from_cash(
            (cloud, hybrid), plan.currency, plan.ledger.offers,
            {("cloud", "commitment"): (1, months), ("hybrid", "commitment"): (1, months),
             ("hybrid", "hardware"): (10, months), ("hybrid", "resale"): (10, months)},
        ),
        workloads=tuple(
            RequestedWorkload(job, f"team {i // 3}", "batch", "tokens", (1e12 / 12 * (i + 1),) * 12, ("H100", "H200"),
                              8.0, True, f"Plan!A{i + 5}", None, "") for i, job in enumerate(jobs)
        ),
        throughput=tuple(
            ThroughputUsed(job, "H200", 8.0, 3.3e9, 2.9e9, 3.8e9, "predicted_count",
                (Message("test", text="from 4 H200, weak scaling 0.97"),),)
            for job in jobs
        ),
        gaps=plan.gaps + tuple(
            Gap("no_price", f"B300 in region-{i:02d}", by_hand.words("not considered there"), jobs[i % 12])
            for i in range(40)
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
    cloud, hybrid = (
        by_hand.strategy("cloud", rented),
        by_hand.strategy("hybrid", bought, purchases=(purchase,), workloads=work),
    )
    plan = by_hand.small()
    advice = Recommendation("hybrid", by_hand.words("Buy one."), "cloud", cloud.present_cost - hybrid.present_cost, 0.2)
    used = range(7, months + 1)
    return dataclasses.replace(
        plan,
        months=months,
        month_names=names,
        strategies=(cloud, plan.strategy("onprem"), hybrid),
        recommendation=advice,
        workloads=(dataclasses.replace(plan.workloads[0], demand=(4.38e9 / 36,) * 36),),
        views=FinancialViews(
            by_hand.effective(cloud) + by_hand.effective(hybrid, {"hardware": used, "resale": used}),
            (by_hand.owning(cloud, hybrid, months),),
            by_hand.unit_costs(hybrid),
            (by_hand.depreciation("hybrid"),),
            build_cost_bridge(advice, (cloud, hybrid), MONTHLY),
        ),
        ledger=by_hand.ledger_from_cash(
            (cloud, hybrid), plan.currency, plan.ledger.offers,
            {("hybrid", "hardware"): (7, months), ("hybrid", "resale"): (7, months)},
        ),
    )  # fmt: skip


PLANS = {
    "small": by_hand.small,
    "long": long,
    "impossible": impossible,
    "hostile": hostile,
    "large": large,
    "converted": converted,
    "hostile money": lambda: spoiled(converted()),
}


@pytest.fixture(params=list(PLANS), scope="session")
def plan(request):
    return PLANS[request.param]()


@pytest.fixture(scope="session")
def workbook(plan):
    """The plan's workbook: its bytes, and as it is read with formulas."""
    data = xlsx.render(plan)
    return data, openpyxl.load_workbook(io.BytesIO(data))


@pytest.fixture
def small_plan():
    return by_hand.small()


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
