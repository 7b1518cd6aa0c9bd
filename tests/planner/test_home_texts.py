"""What a plan tells of homes: where each workload lives, how it is paid for, what goes elsewhere, and the rules."""

from __future__ import annotations

import re

from planner.application import plan
from planner.reports import load
from planner.reports.text import render_sections

EAST, WEST = ("aws", "us-east-1"), ("aws", "us-west-2")
STABLE = {"cloud_price_change_annual": 0, "spot_price_change_annual": 0, "commitment_price_change_annual": 0}
BOX = {"name": "box", "accelerator": "T4", "accelerators": 1, "price": 4_000, "max_power_kw": 0.3}


def service(rate: float, **more) -> dict:
    """A service of T4s that do two requests a second."""
    measured = [{"accelerator": "T4", "units_per_second": 2.0, "per": "job", "count": 1}]
    demand = {"requests_per_second": rate}
    return {
        "name": "api",
        "kind": "inference",
        "demand": demand,
        "measurements": measured,
        "accelerators": ["T4"],
        **more,
    }


def where_of(found) -> str:
    (row,) = found.strategy("cloud").workloads
    return row.where


def test_a_workload_says_where_it_lives_and_how_it_is_paid(priced, ask):
    """Five replicas, of which two may be on spot."""
    catalog = priced({(*EAST, "g4dn.xlarge", "on_demand"): 0.5, (*EAST, "g4dn.xlarge", "spot"): 0.2})
    settings = {"months": 1, "strategies": ["cloud"], "assumptions": STABLE}
    part = plan(ask(service(10, interruptible=True, spot_fraction_max=0.5), **settings), catalog)
    assert where_of(part) == "aws us-east-1 g4dn.xlarge: on_demand (60%), spot (40%)"
    assert where_of(plan(ask(service(10), **settings), catalog)) == "aws us-east-1 g4dn.xlarge: on_demand"


def test_a_workload_says_what_overflows_and_where(priced, ask):
    """One box and two T4s by the hour do 5.5 requests a second, in whichever parts."""
    catalog = priced({(*EAST, "g4dn.xlarge", "on_demand"): 0.5})
    settings = {"systems": [BOX], "existing": {"nodes": [{"system": "box", "count": 1}]}, "strategies": ["cloud"]}
    found = plan(ask(service(5.5), months=1, **settings, assumptions=STABLE), catalog)
    told = r"box \(existing\): owned \((\d+)%\); overflow to aws us-east-1 g4dn.xlarge: on_demand \((\d+)%\)"
    assert sum(map(int, re.fullmatch(told, where_of(found)).groups())) == 100
    assert "owned_homes_overflow" in {told.code for told in found.conventions}


def test_a_workload_whose_type_ends_says_when_it_moves(priced, ask):
    """The cheaper type ends in the middle of January 2027: its last whole month is December."""
    ends = "aws,g4dn.xlarge,on_demand,us-east-1,,yes,,,,,no,no,2027-01-15,,a page,2026-11-01,vendor page"
    prices = {(*EAST, "g4dn.xlarge", "on_demand"): 0.5, (*WEST, "g4dn.12xlarge", "on_demand"): 2.0}
    catalog = priced(prices, terms=(ends,))
    found = plan(ask(service(2), months=2, strategies=["cloud"], assumptions=STABLE), catalog)
    first, then = "aws us-east-1 g4dn.xlarge: on_demand (50%)", "aws us-west-2 g4dn.12xlarge: on_demand (50%)"
    assert where_of(found) == f"{first}; from 2027-01 in {then}"


def test_the_conventions_say_what_a_home_is_and_what_is_billed_whole(priced, ask):
    catalog = priced({(*EAST, "g4dn.xlarge", "on_demand"): 0.5})
    found = plan(ask(service(2), months=1, strategies=["cloud"]), catalog)
    told = {each.code: each.text for each in found.conventions}
    assert told["workloads_have_homes"].startswith("Each workload lives in one place for the whole plan")
    assert "whole nodes, billed for every hour that they stand" in told["standing_work_has_whole_nodes"]
    assert "node-hours" in told["other_work_takes_node_hours"]
    assert "bought whole" in told["purchases_are_whole"]
    assert not told.keys() & {"owned_homes_overflow", "work_may_spread"}


def test_reports_show_whole_nodes_at_once_and_node_hours(priced, ask, hours):
    """2,190 T4-hours on nodes of four are 547.5 node-hours, 0.75 of a node on average: one node at once."""
    catalog = priced({(*EAST, "g4dn.12xlarge", "on_demand"): 2.0})
    found = plan(ask(hours("T4", 2_190), months=1, strategies=["cloud"], assumptions=STABLE), catalog)
    (use,) = found.strategy("cloud").uses
    assert (use.nodes_at_once, use.node_hours) == (1, 547.5)
    for shown in (render_sections(found, ["use"]).decode(), load("markdown").render(found).decode()):
        (row,) = (line for line in shown.splitlines() if "on_demand" in line and "548" in line)
        assert re.search(r"on_demand[ |]+1[ |]+548[ |]+1,095", row), row
