"""The difference of two plans, taken apart: every part by hand, and laws that hold for any two."""

from __future__ import annotations

import json
import math
import random

import pytest

from planner.diff import CAUSES, diff
from planner.plan import plan
from planner.reports.json import render

PLACE = ("aws", "us-east-1")
BASE = {(*PLACE, "g4dn.xlarge", "on_demand"): 0.5}


@pytest.fixture
def cloud(priced, ask):
    """A plan for the cloud alone, at these prices."""

    def make(*jobs: dict, prices: dict | None = None, **settings):
        settings = {"strategies": ["cloud"], "months": 3, "discount_rate_annual": 0.0, **settings}
        return plan(ask(*jobs, **settings), priced(prices or BASE))

    return make


def steps_of(old, new) -> dict[str, float]:
    """What each cause adds to the total, those that add nothing left out."""
    found = diff(old, new, "cloud", "cloud")
    assert tuple(step.cause for step in found.steps) == CAUSES
    for index, part in enumerate(("total", "present")):
        moved = math.fsum(getattr(step, part) for step in found.steps)
        assert found.old[index] + moved == pytest.approx(found.new[index], rel=1e-9, abs=1e-6)
    return {step.cause: step.total for step in found.steps if abs(step.total) > 1e-6}


def test_a_price_alone(cloud, hours):
    """3 x 1,000 hours at 0.5 and then at 0.6: 300 more."""
    job = hours("T4", 1000, may_be_owned=False)
    dear = cloud(job, prices={(*PLACE, "g4dn.xlarge", "on_demand"): 0.6})
    assert steps_of(cloud(job), dear) == pytest.approx({"price": 300})


def test_demand_alone_by_workload(cloud, hours):
    """Job a from 1,000 to 1,500 hours a month: 3 x 500 x 0.5 = 750; b stays; c is new with 3 x 200 x 0.5 = 300."""
    stays = hours("T4", 400, "b", may_be_owned=False)
    old = cloud(hours("T4", 1000, "a", may_be_owned=False), stays)
    new = cloud(hours("T4", 1500, "a", may_be_owned=False), stays, hours("T4", 200, "c", may_be_owned=False))
    assert steps_of(old, new) == pytest.approx({"demand": 1050})
    told = next(step for step in diff(old, new, "cloud", "cloud").steps if step.cause == "demand").details
    assert told == ("a: 3,000 -> 4,500", "c: new")


def test_an_assumption_alone(cloud, hours):
    """10 % enterprise discount: 150 of 1,500 less; the list price stays."""
    job = hours("T4", 1000, may_be_owned=False)
    assert steps_of(cloud(job), cloud(job, assumptions={"enterprise_discount_fraction": 0.1})) == pytest.approx(
        {"assumption": -150}
    )


def test_the_discount_rate_moves_the_present_cost_alone(cloud, hours):
    job = hours("T4", 1000, may_be_owned=False)
    old, new = cloud(job), cloud(job, discount_rate_annual=0.12)
    assert steps_of(old, new) == {}
    moved = {step.cause: step.present for step in diff(old, new, "cloud", "cloud").steps if step.present}
    r = 1.12 ** (1 / 12) - 1
    assert moved == pytest.approx({"discount rate": sum(500 * (1 + r) ** -m for m in (1, 2, 3)) - 1500})


def test_months_that_only_one_plan_has(cloud, hours):
    """From three months to five: two more of 500."""
    job = hours("T4", 1000, may_be_owned=False)
    assert steps_of(cloud(job), cloud(job, months=5)) == pytest.approx({"months": 1000})


def test_price_and_demand_together_in_their_order(cloud, hours):
    """0.5 to 0.6 on the old 3,000 hours is 300; then 1,500 hours more at 0.6 are 900."""
    old = cloud(hours("T4", 1000, may_be_owned=False))
    new = cloud(hours("T4", 1500, may_be_owned=False), prices={(*PLACE, "g4dn.xlarge", "on_demand"): 0.6})
    assert steps_of(old, new) == pytest.approx({"price": 300, "demand": 900})


def test_a_decision_alone(cloud, hours):
    """The same work elsewhere at 0.4, where it may now run: 3 x 1,000 x 0.1 less, nothing of it a change of price."""
    job = hours("T4", 1000, may_be_owned=False)
    more = {**BASE, ("aws", "us-east-2", "g4dn.xlarge", "on_demand"): 0.4}
    assert steps_of(cloud(job), cloud(job, prices=more)) == pytest.approx({"decisions": -300})


def test_a_plan_and_itself_differ_in_nothing(cloud, hours):
    old = cloud(hours("T4", 1000), hours("T4", 10, "b"))
    found = diff(old, old, "cloud", "cloud")
    assert all(
        step.total == step.present == 0 and (step.cause == "decisions" or not step.details) for step in found.steps
    )


@pytest.mark.parametrize("seed", range(12))
def test_the_steps_add_up_and_turn_round(catalog, ask, hours, seed):
    """Any two plans over the real catalogue; back again, the total difference is the same with its sign turned."""
    chance = random.Random(seed)

    def some() -> object:
        jobs = [hours("L4", chance.uniform(100, 9000), "a", interruptible=chance.random() < 0.5)]
        if chance.random() < 0.7:
            jobs.append(hours("H100", chance.uniform(100, 9000), "b", gang=8, storage_gb=chance.choice([0, 500])))
        figures = {"lead_time_months": chance.choice([0, 2]), "cloud_price_change_annual": chance.choice([0, -0.2])}
        settings = {"months": chance.choice([6, 14]), "start": chance.choice(["2026-12", "2027-02"])}
        rate = chance.choice([0.06, 0.1])
        return plan(
            ask(*jobs, **settings, discount_rate_annual=rate, assumptions=figures, providers=["aws", "gcp"]), catalog
        )

    old, new = some(), some()
    for name in ("cloud", "hybrid"):
        there, back = diff(old, new, name, name), diff(new, old, name, name)
        for index, part in enumerate(("total", "present")):
            moved = math.fsum(getattr(step, part) for step in there.steps)
            assert there.old[index] + moved == pytest.approx(there.new[index], rel=1e-9, abs=1e-6)
            turned = math.fsum(getattr(step, part) for step in back.steps)
            assert moved == pytest.approx(-turned, rel=1e-9, abs=1e-6)


def test_the_command_adds_up_as_shown(cloud, hours, tmp_path, capfdbinary):
    job = hours("T4", 1000.3, may_be_owned=False)
    for name, made in (("a", cloud(job)), ("b", cloud(job, prices={(*PLACE, "g4dn.xlarge", "on_demand"): 0.6123}))):
        (tmp_path / f"{name}.json").write_bytes(render(made))
    from planner.cli._diff import show_diff

    assert show_diff(str(tmp_path / "a.json"), str(tmp_path / "b.json"), None, as_json=False) == 0
    shown = capfdbinary.readouterr().out.decode().splitlines()
    table = [line.split() for line in shown[4:13]]
    figures = [int(cells[-2].replace(",", "").replace("-", "0", cells[-2] == "-")) for cells in table]
    assert sum(figures[:-1]) == figures[-1]
    assert show_diff(str(tmp_path / "a.json"), str(tmp_path / "b.json"), "cloud", as_json=True) == 0
    assert [s["cause"] for s in json.loads(capfdbinary.readouterr().out)["steps"]] == list(CAUSES)


def test_every_fault_of_both_files_is_told(cloud, hours, tmp_path):
    from planner.cli._diff import show_diff
    from planner.errors import InvalidRequest

    good, bad = tmp_path / "good.json", tmp_path / "bad.json"
    good.write_bytes(render(cloud(hours("T4", 10))))
    bad.write_text("{}")
    with pytest.raises(InvalidRequest) as refused:
        show_diff(str(bad), str(tmp_path / "none.json"), None, as_json=False)
    assert [complaint.place for complaint in refused.value.complaints] == [str(bad), str(tmp_path / "none.json")]
    with pytest.raises(InvalidRequest) as refused:
        show_diff(str(good), str(good), "onprem", as_json=False)
    assert len(refused.value.complaints) == 2
    assert "one of cloud" in refused.value.complaints[0].expected
