"""The difference of two plans, taken apart: every part by hand, and laws that hold for any two."""

from __future__ import annotations

import json
import math
import random
from datetime import date

import pytest

from planner.analysis.comparison import CAUSES, NoCommonCurrency, compare_costs
from planner.application import plan
from planner.reports.json import loads, render
from pricing.catalog.price_catalog import NO_RATE_CARD, Catalog
from pricing.exchange_rates import ExchangeRate, ExchangeRates

PLACE = ("aws", "us-east-1")
T4 = (*PLACE, "g4dn.xlarge")
BASE = {(*T4, "on_demand"): 0.5}
H100 = {("aws", "us-east-1", "p5.48xlarge", "on_demand"): 60.0}
OWN = {"strategies": ["onprem"], "months": 12, "assumptions": {"lead_time_months": 0}}


@pytest.fixture
def cloud(priced, ask):
    """A plan for the cloud alone, at these prices."""

    def make(*jobs: dict, prices: dict | None = None, **settings):
        settings = {"strategies": ["cloud"], "months": 3, "discount_rate_annual": 0.0, **settings}
        return plan(ask(*jobs, **settings), priced(prices or BASE))

    return make


@pytest.fixture
def own(priced, ask, hours):
    """A plan with a node of eight H100 of one's own."""

    def make(*, per_month: float = 5000, prices: dict | None = None, **settings):
        figures = {**OWN["assumptions"], **settings.pop("assumptions", {})}
        job = hours("H100", per_month, "train", gang=8)
        return plan(ask(job, **{**OWN, **settings, "assumptions": figures}), priced(prices or H100))

    return make


def adds_up(found) -> None:
    """The parts of every cause, and all causes: to the cent."""
    assert tuple(step.cause for step in found.steps) == tuple(CAUSES)
    for index, name in enumerate(("total", "present")):
        moved = math.fsum(getattr(step, name) for step in found.steps)
        assert found.restated[index] + moved == pytest.approx(found.new[index], rel=1e-12, abs=1e-3)
        for step in found.steps:
            assert math.fsum(getattr(part, name) for part in step.parts) == pytest.approx(getattr(step, name), abs=1e-3)


def steps_of(old, new, name: str = "cloud", index: int = 0) -> dict[str, float]:
    """What each cause adds to the total (or the present cost), those that add nothing left out."""
    found = compare_costs(old, new, name, name)
    adds_up(found)
    moved = {step.cause: (step.total, step.present)[index] for step in found.steps}
    return {cause: amount for cause, amount in moved.items() if abs(amount) > 1e-4}


def parts_of(old, new, cause: str, name: str = "cloud") -> list[tuple]:
    step = next(step for step in compare_costs(old, new, name, name).steps if step.cause == cause)
    return [(part.name, part.old, part.new, part.unit) for part in step.parts]


def euros(base: Catalog, value: float, *more: ExchangeRate) -> Catalog:
    rates = ExchangeRates((ExchangeRate("USD", "EUR", value, date(2026, 11, 20), "a bank"), *more))
    return Catalog(base.layout, base._cache, rates, NO_RATE_CARD)


def test_a_plan_and_itself_differ_in_nothing(cloud, own, hours):
    for made, name in ((cloud(hours("T4", 1000), hours("T4", 10, "b")), "cloud"), (own(), "onprem")):
        found = compare_costs(made, made, name, name)
        assert found.is_same
        assert all(step.total == step.present == 0 and not step.parts for step in found.steps)
        assert (found.new_gaps, found.gone_gaps) == ((), ())


def test_a_price_alone(cloud, hours):
    """3 x 1,000 hours at 0.5 and then at 0.6: 300 more."""
    job = hours("T4", 1000, may_be_owned=False)
    dear = cloud(job, prices={(*T4, "on_demand"): 0.6})
    assert steps_of(cloud(job), dear) == pytest.approx({"price": 300})
    assert parts_of(cloud(job), dear, "price") == [(" ".join((*T4, "on_demand")), 0.5, 0.6, "USD an hour")]


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    "option", ["reserved_1y_all_upfront", "reserved_3y_no_upfront", "savings_plan_1y_compute_no_upfront"]
)
def test_the_price_of_a_commitment_alone(cloud, hours, option):
    """From 0.2 to 0.25 an hour, committed for its whole term of 8,760 hours a year and charged in full."""
    job = hours("T4", 1460, may_be_owned=False)  # two around the clock
    years = 3 if "3y" in option else 1
    old, new = (cloud(job, prices={(*T4, option): p, (*T4, "on_demand"): 9.0}, months=12) for p in (0.2, 0.25))
    assert steps_of(old, new) == pytest.approx({"price": 2 * 0.05 * 8760 * years})


def test_the_price_of_a_server_alone(own):
    """A tenth off the price of a server of one's own quote is under price, and all of it."""
    names = {"price_of_8x_h100_server": 250_000.0}
    old, new = own(assumptions=names), own(assumptions={"price_of_8x_h100_server": 225_000.0})
    assert steps_of(old, new, "onprem").keys() == {"price"}
    assert steps_of(old, new, "onprem")["price"] == pytest.approx(
        -(old.strategies[0].total_cost - new.strategies[0].total_cost)
    )


def test_demand_alone_by_workload(cloud, hours):
    """Job a from 1,000 to 1,500 hours a month: 3 x 500 x 0.5 = 750; b stays; c is new with 3 x 200 x 0.5 = 300."""
    stays = hours("T4", 400, "b", may_be_owned=False)
    old = cloud(hours("T4", 1000, "a", may_be_owned=False), stays)
    new = cloud(hours("T4", 1500, "a", may_be_owned=False), stays, hours("T4", 200, "c", may_be_owned=False))
    assert steps_of(old, new) == pytest.approx({"demand": 1050})
    unit = "accelerator-hours"
    assert parts_of(old, new, "demand") == [("a", 3000, 4500, unit), ("c", None, 600, unit)]
    assert parts_of(new, old, "demand") == [("a", 4500, 3000, unit), ("c", 600, None, unit)]
    each = next(step for step in compare_costs(old, new, "cloud", "cloud").steps if step.cause == "demand").parts
    assert [part.total for part in each] == pytest.approx([750, 300])


def test_demand_alone_with_storage_that_stays(cloud, hours):
    """Storage does not grow with the work: 500 hours more a month at 0.5, and nothing else."""
    old, new = (cloud(hours("T4", n, may_be_owned=False, storage_gb=900)) for n in (1000, 1500))
    assert steps_of(old, new) == pytest.approx({"demand": 750})


def test_demand_alone_with_room_in_what_is_committed(cloud, hours):
    """A reserved node that was half idle takes the new work: it costs nothing more, and nothing was decided anew."""
    prices = {(*T4, "reserved_1y_no_upfront"): 0.1, (*T4, "on_demand"): 9.0}
    old = cloud(hours("T4", 365, "a", may_be_owned=False), prices=prices, months=12)
    more = hours("T4", 200, "b", may_be_owned=False)
    assert steps_of(old, cloud(hours("T4", 500, "a", may_be_owned=False), more, prices=prices, months=12)) == {}


def test_demand_alone_that_takes_more_nodes(own, cloud, hours):
    """Twice the work on twice the nodes: the new nodes are bought for the demand, whether owned or committed to."""
    old, new = own(per_month=5840), own(per_month=11680)  # one node and two, around the clock
    assert [sum(p.count for p in made.strategies[0].purchases) for made in (old, new)] == [1, 2]
    assert steps_of(old, new, "onprem").keys() == {"demand"}
    prices = {(*T4, "reserved_1y_no_upfront"): 0.1, (*T4, "on_demand"): 9.0}
    old, new = (cloud(hours("T4", n, may_be_owned=False), prices=prices, months=12) for n in (730, 1460))
    assert steps_of(old, new) == pytest.approx({"demand": 876})  # 0.1 x 8,760


def test_demand_of_work_with_a_deadline(cloud):
    job = {"name": "job", "kind": "training", "unit": "steps", "may_be_owned": False, "gang": 1}
    ran = {"accelerator": "T4", "units_per_hour": 10, "per": "job"}
    made = [
        cloud({**job, "measurements": [ran], "demand": {"total_units": total, "deadline_month": 3}},
              assumptions={"failure_interval_accelerator_hours": 1e12})
        for total in (3000, 4000)
    ]  # fmt: skip
    assert steps_of(*made) == pytest.approx({"demand": 50}, rel=1e-3)  # 100 hours more at 0.5


def test_an_assumption_alone(cloud, hours):
    """10 % enterprise discount: 150 of 1,500 less; the list price stays."""
    job = hours("T4", 1000, may_be_owned=False)
    new = cloud(job, assumptions={"enterprise_discount_fraction": 0.1})
    assert steps_of(cloud(job), new) == pytest.approx({"assumption": -150})
    assert parts_of(cloud(job), new, "assumption") == [("enterprise_discount_fraction", 0.0, 0.1, "fraction")]


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("electricity_price_per_kwh", 0.3),
        ("value_loss_annual", 0.4),
        ("staff_cost_annual", 200_000),
        ("deposit_fraction", 0.5),
        ("colocation_per_kw_month", 80),
        ("power_kw_of_8x_h100_server", 9.0),
        ("idle_draw_fraction", 0.4),
    ],
)
def test_an_assumption_about_owned_nodes_alone(own, name, value):
    """Everything is under assumption, for all ways to own."""
    for ways in ({}, {"finance": {"hardware": "loan"}, "site": {"facility": "own_room", "staff": "whole"}}):
        old, new = own(**ways), own(**ways, assumptions={name: value})
        moved = steps_of(old, new, "onprem", 1)
        acts = old.strategies[0].present_cost != pytest.approx(new.strategies[0].present_cost, abs=1e-3)
        assert moved.keys() == ({"assumption"} if acts else set())


def test_how_owned_nodes_are_paid_for_is_an_assumption(own):
    height = {"rack_units_of_8x_h100_server": 8}
    old = own(assumptions=height)
    for ways in (
        {"finance": {"hardware": "loan"}},
        {"finance": {"hardware": "lease"}},
        {"site": {"facility": "own_room"}},
        {"site": {"facility": "colocation_per_rack"}},
        {"site": {"energy_included": True}},
        {"site": {"staff": "whole"}},
    ):
        new = own(**ways, assumptions=height)
        assert steps_of(old, new, "onprem", 1).keys() == {"assumption"}
        assert steps_of(new, old, "onprem", 1).keys() == {"assumption"}


def test_interruptions_are_an_assumption_and_throughput_is_none(cloud, measured):
    """Work that is lost more often takes more hours; a job measured a quarter faster takes a fifth less."""
    spot = {(*T4, "spot"): 0.2}
    make = {"interruptible": True, "may_be_owned": False}
    old = cloud(measured("T4", 1, 100.0, 2e8, **make), prices=spot)
    often = cloud(measured("T4", 1, 100.0, 2e8, **make), prices=spot, assumptions={"spot_hours_to_interruption": 6})
    assert steps_of(old, often).keys() == {"assumption"}
    fast = cloud(measured("T4", 1, 125.0, 2e8, **make), prices=spot)
    moved = steps_of(old, fast)
    assert moved == pytest.approx({"throughput": -0.2 * old.strategies[0].total_cost})


def test_the_discount_rate_moves_the_present_cost_alone(cloud, hours):
    job = hours("T4", 1000, may_be_owned=False)
    old, new = cloud(job), cloud(job, discount_rate_annual=0.12)
    assert steps_of(old, new) == {}
    r = 1.12 ** (1 / 12) - 1
    expected = sum(500 * (1 + r) ** -m for m in (1, 2, 3)) - 1500
    assert steps_of(old, new, index=1) == pytest.approx({"discount rate": expected})
    assert parts_of(old, new, "discount rate") == [("discount_rate_annual", 0.0, 0.12, "fraction per year")]


def test_months_that_only_one_plan_has(cloud, hours):
    """From three months to five: two more of 500. A commitment charged in full costs the same in twelve and nine."""
    job = hours("T4", 1000, may_be_owned=False)
    assert steps_of(cloud(job), cloud(job, months=5)) == pytest.approx({"months": 1000})
    assert steps_of(cloud(job, months=5), cloud(job)) == pytest.approx({"months": -1000})
    prices = {(*T4, "reserved_1y_no_upfront"): 0.1, (*T4, "on_demand"): 9.0}
    old, new = (cloud(hours("T4", 730, may_be_owned=False), prices=prices, months=n) for n in (9, 12))
    assert steps_of(old, new) == {}


def test_months_of_owned_nodes(own):
    """A longer horizon is more running costs and a later sale of the same node, and nothing else."""
    assert steps_of(own(months=12), own(months=18), "onprem").keys() == {"months"}


def test_price_and_demand_together_in_their_order(cloud, hours):
    """0.5 to 0.6 on the old 3,000 hours is 300; then 1,500 hours more at 0.6 are 900."""
    old = cloud(hours("T4", 1000, may_be_owned=False))
    new = cloud(hours("T4", 1500, may_be_owned=False), prices={(*T4, "on_demand"): 0.6})
    assert steps_of(old, new) == pytest.approx({"price": 300, "demand": 900})


def test_data_alone(cloud, hours):
    """More to store at the same place: all of it under data."""
    old, new = (cloud(hours("T4", 1000, may_be_owned=False, storage_gb=gb)) for gb in (1000, 3000))
    moved = steps_of(old, new)
    assert moved == pytest.approx({"data": new.strategies[0].total_cost - old.strategies[0].total_cost})
    assert moved["data"] > 0


def test_a_decision_alone(cloud, hours):
    """The same work elsewhere at 0.4, where it may now run: 3 x 1,000 x 0.1 less, nothing of it a change of price."""
    job = hours("T4", 1000, may_be_owned=False)
    there = ("aws", "us-east-2", "g4dn.xlarge", "on_demand")
    old, new = cloud(job), cloud(job, prices={**BASE, there: 0.4})
    assert steps_of(old, new) == pytest.approx({"decisions": -300})
    moved = next(step for step in compare_costs(old, new, "cloud", "cloud").steps if step.cause == "decisions").parts
    assert {(p.name, p.old, p.new, round(p.total)) for p in moved} == {
        (" ".join((*T4, "on_demand")), 3000, 0, -1500),
        (" ".join(there), 0, 3000, 1200),
    }


def test_existing_estate(own):
    """What a live commitment still takes a month is its own cause; power of nodes that are there is an assumption."""
    line = {"provider": "aws", "region": "us-east-1", "instance_type": "p5.48xlarge", "count": 1, "ends": "2027-03",
            "purchase_option": "reserved_1y_no_upfront"}  # fmt: skip
    old, new = (own(existing={"commitments": [{**line, "fee_per_month": fee}]}) for fee in (1000, 1500))
    assert steps_of(old, new, "onprem") == pytest.approx({"existing": 4 * 500})  # December to March
    nodes = {"nodes": [{"system": "8x H100 server", "count": 2, "bought": "2026-02"}]}
    old, new = own(existing=nodes), own(existing=nodes, assumptions={"electricity_price_per_kwh": 0.3})
    assert steps_of(old, new, "onprem").keys() == {"assumption"}


def test_another_rate_of_exchange_alone(priced, ask, hours):
    """A dollar at 0.95 euros after 0.90: prices, default assumptions and storage, all under exchange rate."""
    job = hours("T4", 1000, may_be_owned=False, storage_gb=900)
    asked = ask(job, strategies=["cloud"], months=3, currency="EUR")
    old, new = (plan(asked, euros(priced(BASE), rate)) for rate in (0.90, 0.95))
    total = old.strategies[0].total_cost
    assert steps_of(old, new) == pytest.approx({"exchange rate": total * (0.95 / 0.90 - 1)})
    assert parts_of(old, new, "exchange rate") == [("1 USD", 0.90, 0.95, "EUR")]
    asked = ask(hours("H100", 5000, gang=8), **OWN, currency="EUR")
    old, new = (plan(asked, euros(priced(H100), rate)) for rate in (0.90, 0.95))
    assert steps_of(old, new, "onprem").keys() == {"exchange rate"}


def test_another_currency_is_no_difference(priced, ask, hours):
    """The same plan in dollars and in euros: restated, and nothing has changed."""
    job = hours("T4", 1000, may_be_owned=False, storage_gb=900)
    catalog = euros(priced(BASE), 0.8)
    dollars, others = (plan(ask(job, strategies=["cloud"], months=3, currency=c), catalog) for c in ("USD", "EUR"))
    for old, new, rate in ((dollars, others, 0.8), (others, dollars, 1.25)):
        found = compare_costs(old, new, "cloud", "cloud")
        adds_up(found)
        assert found.currencies == (old.currency, new.currency)
        assert found.restated[0] == pytest.approx(old.strategies[0].total_cost * rate)
        assert not any(step.parts for step in found.steps)


def test_currencies_without_a_rate_are_refused(priced, ask, hours):
    job = hours("T4", 1000, may_be_owned=False)
    old, new = (plan(ask(job, strategies=["cloud"], months=3), priced(BASE)) for _ in range(2))
    document = json.loads(render(new))
    document["currency"] = "SEK"
    with pytest.raises(NoCommonCurrency, match="USD and SEK"):
        compare_costs(old, loads(json.dumps(document).encode()), "cloud", "cloud")


def test_support_with_a_least_fee_and_tax(cloud, hours):
    """1,500 with 10 % support, at least 200 a month, and 20 % tax: from 3 x 200 to 3 x 50 of support at 0.5 less fee.

    500 a month: 50 of support, topped up to 200, is (500 + 200) x 1.2 = 840; without the least fee 550 x 1.2 = 660.
    """
    job = hours("T4", 1000, may_be_owned=False)
    figures = {"cloud_support_fraction": 0.1, "cloud_tax_fraction": 0.2}
    old = cloud(job, assumptions={**figures, "cloud_support_minimum_per_month": 200})
    assert old.strategies[0].total_cost == pytest.approx(3 * 840)
    assert steps_of(old, cloud(job, assumptions=figures)) == pytest.approx({"assumption": -3 * 180})


def test_a_bill_of_data_alone_has_the_least_fee_of_support(cloud, hours):
    """A node paid all upfront in the first month: in the second and third only storage is billed, and 200 each are
    due as well. Without the least fee 3 x 200 less."""
    job = hours("T4", 730, may_be_owned=False, storage_gb=1000)
    prices = {(*T4, "on_demand"): 5.0, (*T4, "reserved_1y_all_upfront"): 0.1}
    old = cloud(job, prices=prices, assumptions={"cloud_support_minimum_per_month": 200})
    [strategy] = old.strategies
    assert [row.month for row in strategy.cash if row.category == "commitment"] == [1]
    assert [row.amount for row in strategy.cash if row.category == "cloud_support"] == [200, 200, 200]
    assert steps_of(old, cloud(job, prices=prices)) == pytest.approx({"assumption": -3 * 200})


def test_a_plan_of_before_is_read(cloud, hours):
    """What has a default may be missing: a plan written before a field was thought of can be compared."""
    made = cloud(hours("T4", 1000, may_be_owned=False))
    document = json.loads(render(made))
    for name in ("reasons", "exchange_rates", "quota_requests", "margins", "flips", "risk", "views"):
        del document[name]
    for strategy in document["strategies"]:
        for name in ("reasons", "candidates", "pruned"):
            del strategy[name]
    later = {"installation_fraction", "cloud_support_minimum_per_month", "migration_months", "deposit_fraction"}
    document["assumptions"] = [each for each in document["assumptions"] if each["name"] not in later]
    found = compare_costs(loads(json.dumps(document).encode()), made, "cloud", "cloud")
    adds_up(found)
    assert not any(step.parts for step in found.steps)


@pytest.mark.one_in(12)
@pytest.mark.parametrize("seed", range(12))
def test_the_steps_add_up_and_turn_round(catalog, ask, hours, seed):
    """Any two plans over the real catalogue, all strategies; back again, the difference is the same with its sign
    turned; and both documents are explained to the last payment."""
    chance = random.Random(seed)

    def some() -> object:
        jobs = [hours("L4", chance.uniform(100, 9000), "a", interruptible=chance.random() < 0.5)]
        if chance.random() < 0.7:
            jobs.append(hours("H100", chance.uniform(100, 9000), "b", gang=8, storage_gb=chance.choice([0, 500])))
        figures = {"lead_time_months": chance.choice([0, 2]), "cloud_price_change_annual": chance.choice([0, -0.2])}
        settings = {"months": chance.choice([6, 14]), "start": chance.choice(["2026-12", "2027-02"])}
        settings["finance"] = {"hardware": chance.choice(["cash", "loan", "lease"])}
        settings["site"] = {"facility": chance.choice(["own_room", "colocation_per_kw"])}
        rate = chance.choice([0.06, 0.1])
        return plan(
            ask(*jobs, **settings, discount_rate_annual=rate, assumptions=figures, providers=["aws", "gcp"]), catalog
        )

    old, new = some(), some()
    for name in ("cloud", "hybrid", "onprem"):
        there, back = compare_costs(old, new, name, name), compare_costs(new, old, name, name)
        adds_up(there)
        adds_up(back)
        assert not next(step for step in there.steps if step.cause == "existing").parts
        for index, part in enumerate(("total", "present")):
            moved, turned = (math.fsum(getattr(step, part) for step in each.steps) for each in (there, back))
            assert moved == pytest.approx(-turned, rel=1e-9, abs=1e-3)
            assert moved == pytest.approx(there.new[index] - there.old[index], rel=1e-9, abs=1e-3)
