"""Energy and carbon of plans, by hand.

A node of eight H100 at AWS draws 8 x 0.7 kW (the accelerators) x 1.82 (a server over its accelerators) x 0.75 (draw at
work) x 1.135 (PUE of the clouds) = 8.67594 kW, 6,333.4362 kWh in 730 hours. At 379.069 g in us-east-1 that is 2,400.81
kg a month and 28,809.71 a year, at 8.8 g in eu-north-1 668.81 kg a year. On demand they cost 55.04 and 58.8928 an hour.
"""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from planner.application import plan
from planner.cli._exit_codes import run
from planner.optimization.limit_verification import _check_carbon
from planner.request.errors import InvalidRequest

KW = 8 * 0.7 * 1.82 * 0.75 * 1.135
EAST, NORTH = KW * 0.379069, KW * 0.0088
"""Kilograms an hour."""
AWS = {"providers": ["aws"], "strategies": ["cloud"], "discount_rate_annual": 0}
POLAND = {**AWS, "providers": ["azure"], "regions": ["polandcentral"]}
TWO = {**AWS, "regions": ["us-east-1", "eu-north-1"]}
NODE = {"gang": 8, "accelerators_per_node": 8}


def on_demand(**limits):
    return {"limits": {"purchase_options": ["on_demand"], **limits}}


def service(name: str = "serve", hours: float = 5840, **more) -> dict:
    demand = {"accelerator_hours_per_month": hours, "accelerator": "H100"}
    return {"name": name, "kind": "inference", "demand": demand, **NODE, **more}


def spread(**more) -> dict:
    demand = {"accelerator_hours_per_month": 5840, "accelerator": "H100"}
    return {"name": "batch", "kind": "batch", "demand": demand, "spread": True, **NODE, **more}


def test_a_month_of_a_region_has_its_energy_and_emission(catalog, ask):
    found = plan(ask(service(), **AWS, regions=["us-east-1"], **on_demand()), catalog)
    rows = found.strategy("cloud").emissions
    assert [(row.month, row.provider, row.region) for row in rows] == [
        (month, "aws", "us-east-1") for month in range(1, 13)
    ]
    for row in rows:
        assert row.node_hours == pytest.approx(730)
        assert row.energy_kwh == pytest.approx(6_333.4362)
        assert row.carbon_kg == pytest.approx(2_400.809, abs=0.001)


def test_a_limit_moves_the_work_to_a_cleaner_region_at_its_cost(catalog, ask):
    """Without a limit 55.04 x 8,760 = 482,150.40; with 1,000 kg a year 58.8928 x 8,760 = 515,900.93 and 668.81 kg."""
    free = plan(ask(service(), **TWO, **on_demand()), catalog).strategy("cloud")
    held = plan(ask(service(), **TWO, **on_demand(carbon_kg_per_year=1_000)), catalog).strategy("cloud")
    assert free.total_cost == pytest.approx(482_150.40)
    assert held.total_cost == pytest.approx(515_900.93, abs=0.01)
    assert sum(row.carbon_kg for row in held.emissions) == pytest.approx(668.81, abs=0.01)


def test_the_shadow_price_is_what_a_kilogram_less_costs(catalog, ask):
    """15,000 kg a year: x hours in us-east-1 and 8,760 - x in eu-north-1 emit 3.28878 x + 0.0763483 (8,760 - x) =
    15,000, so x = 4,461.17 and the cost is 515,900.93 - 3.8528 x = 498,712.9. A kilogram is worth 3.8528 / 3.21243 =
    1.19934 USD."""
    hours_east = (15_000 - 8_760 * NORTH) / (EAST - NORTH)
    found = plan(ask(spread(), **TWO, **on_demand(carbon_kg_per_year=15_000)), catalog)
    own = found.strategy("cloud")
    assert hours_east == pytest.approx(4_461.17, abs=0.01)
    assert own.total_cost == pytest.approx(58.8928 * 8_760 - 3.8528 * hours_east)
    assert sum(row.carbon_kg for row in own.emissions) == pytest.approx(15_000)
    [margin] = [each for each in found.margins if each.subject.startswith("carbon_kg_per_year")]
    assert (margin.unit, margin.added) == ("kg CO2e a year", 1_500)
    assert margin.per_unit == pytest.approx(-1.19934, abs=1e-5)


def test_the_limit_chooses_which_of_several_services_moves(catalog, ask):
    """Two services of one node and one of two: 30,500 kg a year lets one node stay (28,809.71 + 3 x 668.81 =
    30,816.14 is too much; 28,809.71 + 668.81 would be two nodes). By enumeration the two-node service and one of the
    others move where the limit is 31,000."""
    jobs = [service("a"), service("b"), service("c", hours=11_680)]
    found = plan(ask(*jobs, **TWO, **on_demand(carbon_kg_per_year=31_000)), catalog).strategy("cloud")
    assert found.total_cost == pytest.approx(8_760 * (55.04 + 3 * 58.8928))
    tight = plan(ask(*jobs, **TWO, **on_demand(carbon_kg_per_year=30_500)), catalog).strategy("cloud")
    assert tight.total_cost == pytest.approx(8_760 * 4 * 58.8928)


def test_a_limit_that_nothing_meets_says_how_much_would_do(catalog, ask):
    found = plan(ask(service(), **AWS, regions=["us-east-1"], **on_demand(carbon_kg_per_year=10_000)), catalog)
    assert found.status == "infeasible"
    [reason] = [r for r in found.strategy("cloud").reasons if "carbon_kg_per_year" in r.text]
    assert "carbon_kg_per_year year 1: 10,000 kg CO2e a year is too little; 28,810 would do" in reason.text


def test_an_unknown_grid_is_a_gap_and_no_zero(catalog, ask):
    """Poland Central of Azure has no figure: energy is known, the emission is not."""
    found = plan(ask(service(), **POLAND, **on_demand()), catalog)
    row = found.strategy("cloud").emissions[0]
    assert row.energy_kwh == pytest.approx(6_333.4362)
    assert row.carbon_kg is None
    assert any(gap.kind == "no_carbon_figure" and gap.subject == "azure polandcentral" for gap in found.gaps)
    limited = plan(ask(service(), **POLAND, **on_demand(carbon_kg_per_year=1e9)), catalog)
    assert limited.status == "infeasible"
    assert any("not used, since carbon is limited" in gap.effect.text for gap in limited.gaps)
    stated = {**on_demand(carbon_kg_per_year=1e6), "grid_gco2e_per_kwh": {"azure polandcentral": 100}}
    known = plan(ask(service(), **POLAND, **stated), catalog)
    assert known.strategy("cloud").emissions[0].carbon_kg == pytest.approx(633.34362)


def test_owned_nodes_draw_from_their_delivery_on_and_more_at_work(catalog, ask):
    """A server of 10.2 kW at most: 10.2 x 0.75 x 1.54 = 11.781 kW at work. With an idle draw of 0.25 and 2,920 of
    5,840 accelerator-hours a month, a month that it works is 730 h x 11.781 x 0.25 + 365 h x 11.781 x 0.75 =
    5,375.08125 kWh, at 300 g 1,612.52 kg."""
    own = {
        "strategies": ["onprem"], "months": 24, "site": {"grid_gco2e_per_kwh": 300},
        "assumptions": {"idle_draw_fraction": 0.25, "accelerator_failures_annual": 0},
        "existing": {"nodes": [{"system": "8x H100 server", "count": 1}]}, "providers": ["aws"],
    }  # fmt: skip
    batch = {**spread(), "demand": {"accelerator_hours_per_month": 2_920, "accelerator": "H100"}, "spread": False}
    found = plan(ask(batch, **own), catalog)
    rows = [row for row in found.strategy("onprem").emissions if row.provider == ""]
    assert len(rows) == 24
    for row in rows:
        assert row.energy_kwh == pytest.approx(5_375.08125)
        assert row.carbon_kg == pytest.approx(1_612.524375)


def test_a_limit_needs_the_grid_of_nodes_that_are_there(catalog, ask):
    own = {"existing": {"nodes": [{"system": "8x H100 server", "count": 1}]}, "limits": {"carbon_kg_per_year": 1}}
    with pytest.raises(InvalidRequest) as caught:
        plan(ask(service(), **own), catalog)
    assert [problem.path for problem in caught.value.complaints] == ["site.grid_gco2e_per_kwh"]


def test_a_stated_grid_must_be_of_a_known_region(catalog, ask):
    with pytest.raises(InvalidRequest) as caught:
        plan(ask(service(), grid_gco2e_per_kwh={"aws us-est-1": 1}), catalog)
    [problem] = caught.value.complaints
    assert "us-east-1" in str(problem)


@pytest.fixture
def verified(catalog, ask, monkeypatch):
    """What verification was given of a plan at its limit."""
    given = []
    monkeypatch.setattr("planner.optimization.solve_strategies.verify_plan", given.append)
    plan(ask(spread(), **TWO, **on_demand(carbon_kg_per_year=15_000)), catalog)
    return given[0]


def test_verification_adds_up_the_emission_on_its_own(verified):
    assert list(_check_carbon(verified)) == []
    shares = tuple(replace(use, node_hours=use.node_hours * 1.001) for use in verified.decisions.shares)
    planted = replace(verified, decisions=replace(verified.decisions, shares=shares))
    [violation] = _check_carbon(planted)
    assert (violation.rule, violation.allowed) == ("carbon_kg_per_year", 15_000)
    assert violation.found == pytest.approx(15_015)


def test_work_without_a_known_place_is_told_what_would_serve_it_under_the_limit(catalog, ask):
    """Without its figure Poland Central has nothing within a limit, whatever the way of paying, type or estimate: the
    limit or the region has to go. Either is enough."""
    limited = on_demand(carbon_kg_per_year=1e9)
    found = plan(ask(service(), **POLAND, **limited), catalog).strategy("cloud")
    told = [reason.parameters["without"] for reason in found.reasons if reason.code == "would_be_served"]
    assert told == [("carbon_kg_per_year",), ("regions",)]
    for mended in (POLAND | on_demand(), {**POLAND, "regions": []} | limited):
        assert plan(ask(service(), **mended), catalog).status == "optimal"


def test_carbon_and_ways_of_paying_that_are_only_together_in_the_way(priced, ask, hours):
    """Of TPU v6e no power is known, and a service has no use for dated blocks: both limits have to go."""
    sold = priced({("gcp", "asia-northeast1", "ct6e-standard-1t", "on_demand"): 3.24})
    job = hours("TPU-v6e", 730, kind="inference")
    ways, carbon = {"purchase_options": ["capacity_block"]}, {"carbon_kg_per_year": 1e9}
    found = plan(ask(job, strategies=["cloud"], limits=ways | carbon), sold).strategy("cloud")
    told = [reason.parameters["without"] for reason in found.reasons if reason.code == "would_be_served"]
    assert told == [("purchase_options", "carbon_kg_per_year")]
    for left, status in (({}, "optimal"), (ways, "infeasible"), (carbon, "infeasible")):
        assert plan(ask(job, strategies=["cloud"], limits=left), sold).status == status


def test_nodes_that_services_share_emit_once(catalog, ask):
    """Two services of four H100 share one node: one node's emission, and a limit just above it is kept."""
    halves = [service(name, hours=2_920, gang=4, accelerators_per_node=4, shares_nodes=True) for name in ("a", "b")]
    asked = ask(*halves, **AWS, regions=["us-east-1"], **on_demand(carbon_kg_per_year=28_810))
    found = plan(asked, catalog).strategy("cloud")
    assert sum(row.carbon_kg for row in found.emissions) == pytest.approx(28_809.71, abs=0.01)
    assert found.total_cost == pytest.approx(482_150.40)


def test_the_option_of_the_command_is_the_limit_of_the_request(tmp_path, capfd):
    """8,760 hours of eight H100 in us-east-1 emit 28,810 kg: 20,000 a year move the service to eu-north-1, whose grid
    emits less than a tenth."""
    request = {
        "providers": ["aws"], "regions": ["us-east-1", "eu-north-1"], "strategies": ["cloud"], "start": "2026-12",
        "limits": {"purchase_options": ["on_demand"]},
        "workloads": [{
            "name": "chat", "kind": "inference", "gang": 8,
            "demand": {"accelerator_hours_per_month": 5840, "accelerator": "H100"},
        }],
    }  # fmt: skip
    path = tmp_path / "chat.json"
    path.write_text(json.dumps(request), encoding="utf-8")
    regions = {}
    for options in ([], ["--carbon-limit", "20000"], ["--carbon-limit", "much"]):
        code = run(["estimate", str(path), "--as-of", "2026-11-21", "--format", "json", *options])
        out, err = capfd.readouterr()
        if code == 2:
            assert "--carbon-limit" in err
            continue
        regions[len(options)] = {use["region"] for use in json.loads(out)["strategies"][0]["uses"]}
    assert regions == {0: {"us-east-1"}, 2: {"eu-north-1"}}
