"""Quotas held against a plan: what to ask for, where, how much, from when; every sum is worked by hand."""

from __future__ import annotations

from dataclasses import fields, replace
from datetime import date
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.analysis.warnings import NO_QUOTAS
from planner.application import plan
from planner.messages import text_of
from planner.optimization.strategy import _round_up_to_gangs
from planner.request.errors import InvalidRequest
from planner.request.limits import QuotaLine
from planner.request.models import parse_request
from planner.result import Purchase, Strategy, Use
from planner.result.message import message
from planner.supply import quotas as quota
from pricing.quota import Quota

P5, P4 = ("aws", "us-east-1", "p5.48xlarge", "on_demand"), ("aws", "us-east-1", "p4d.24xlarge", "on_demand")
LINE = {
    "provider": "aws", "region": "us-east-1", "code": "L-417A185B", "title": "Running On-Demand P instances",
    "unit": "vcpu", "limit": 192, "used": 0, "types": "p[0-9]*", "kinds": "on_demand reserved savings_plan",
    "as_of": "2026-11-20", "source_id": "aws-service-quotas",
}  # fmt: skip
THREE = 3 * 8 * 730
"""Accelerator-hours of three p5.48xlarge around the clock for a month."""


def use(month: int, name: str, nodes: float, *, what: str = "hourly", option: str = "on_demand", **more) -> Use:
    found = Use(
        month, "job", what, name, "aws", "us-east-1", option, "H100-80GB-SXM", 8.0, nodes * 730, nodes, 1.0, 0.0
    )
    return replace(found, **more)


def bought(name: str, count: int, first: int, last: int, option: str = "reserved_1y_no_upfront") -> Purchase:
    return Purchase(
        first, "commitment", name, "aws", "us-east-1", option, "H100-80GB-SXM", 8.0, count, first, last, 12, 0, 0, 0
    )


def strategy(uses=(), purchases=(), name="cloud") -> Strategy:
    return Strategy(name, "optimal", 0.0, 0.0, 0.0, 0.0, tuple(purchases), tuple(uses))


@pytest.fixture
def asked(ask, hours):
    """A request of four months with these quotas, and a workload for each of these names."""

    def make(*lines: dict, jobs=("job",), **more):
        workloads = [hours("H100", 1, name, **more) for name in jobs]
        return ask(*workloads, months=4, quotas=[{**LINE, **line} for line in lines])

    return make


MONTHS = ("2026-12", "2027-01", "2027-02", "2027-03")


def test_a_line_of_a_request_has_the_fields_of_a_quota():
    assert tuple(QuotaLine.model_fields) == tuple(field.name for field in fields(Quota))
    assert QuotaLine.model_validate(LINE).quota == Quota(**{**LINE, "as_of": date(2026, 11, 20)})


def test_a_plan_that_needs_more_says_how_much(priced, ask, hours):
    # 3 p5.48xlarge of 192 vCPUs are 576; the limit is 192 and nothing is used: 576 in all, 576 - 192 = 384 more.
    found = plan(ask(hours("H100", THREE), months=2, strategies=["cloud"], quotas=[LINE]), priced({P5: 55.04}))
    (asked,) = found.quota_requests
    assert (asked.limit, asked.used, asked.needed, asked.ask_for) == (192, 0, 576, 576)
    assert (asked.provider, asked.region, asked.code, asked.unit) == ("aws", "us-east-1", "L-417A185B", "vcpu")
    assert (asked.strategy, asked.first_month, asked.workloads) == ("cloud", 1, ("job",))
    assert (asked.as_of, asked.source_id) == (date(2026, 11, 20), "aws-service-quotas")
    (gap,) = [gap for gap in found.gaps if gap.kind == "quota"]
    assert gap.subject == "aws us-east-1 Running On-Demand P instances (L-417A185B)"
    assert gap.effect.text == (
        "ask for 576 vCPUs in all, 384 more by 2026-12: the plan runs up to 576 at once; the limit was 192 on"
        " 2026-11-20, 0 of it in use"
    )
    assert gap.workload == "job"
    assert NO_QUOTAS.effect.code not in {gap.effect.code for gap in found.gaps}
    assert [(gap.subject, gap.effect.code) for gap in found.gaps if gap.kind == "no_capacity_figure"] == [
        ("capacity", "stock_unknown")
    ]
    assert "quotas_compared" in {each.code for each in found.conventions}


def test_without_quotas_a_plan_says_that_there_were_none(priced, ask, hours):
    catalog = priced({P5: 55.04})
    with_none = plan(ask(hours("H100", THREE), months=2, strategies=["cloud"]), catalog)
    assert NO_QUOTAS.effect.code in {gap.effect.code for gap in with_none.gaps}
    assert with_none.quota_requests == ()
    assert not [each for each in with_none.conventions if "quota" in each.code]


def test_quotas_change_nothing_in_what_is_planned(priced, ask, hours):
    catalog = priced({P5: 55.04, P4: 21.96})
    jobs = (hours("H100", THREE, "a"), hours("A100-40GB-SXM", 99, "b"))
    without, held = (plan(ask(*jobs, months=2, quotas=quotas), catalog) for quotas in ([], [{**LINE, "limit": 0}]))
    assert without.strategies == held.strategies
    assert without.recommendation == held.recommendation


def test_what_others_use_is_added_to_what_is_asked_for(catalog, asked):
    # 2 x 192 = 384 needed, 500 - 200 = 300 free: ask for 384 + 200 = 584.
    made = strategy([use(1, "p5.48xlarge", 2.0)])
    (found,) = quota.list_quota_requests(asked({"limit": 500, "used": 200}), catalog, [made])
    assert (found.needed, found.ask_for) == (384, 584)
    assert quota.list_quota_requests(asked({"limit": 584, "used": 200}), catalog, [made]) == ()


def test_types_of_one_quota_add_up_and_the_peak_counts(catalog, asked):
    # Month 1: 1 x 192 + 1 x 96 (p4d) = 288; month 2: 2 x 192 = 384, the peak. 300 are free: short from month 2 on.
    uses = [use(1, "p5.48xlarge", 1.0), use(1, "p4d.24xlarge", 1.0, workload="other"), use(2, "p5.48xlarge", 2.0)]
    (found,) = quota.list_quota_requests(asked({"limit": 300}, jobs=("job", "other")), catalog, [strategy(uses)])
    assert (found.needed, found.first_month, found.workloads) == (384, 2, ("job", "other"))


def test_parts_of_nodes_add_up_to_whole_ones(catalog, asked):
    # 0.5 + 0.5 + 1.2 nodes on average are 2.2: three nodes, 3 x 192 = 576. Solver noise is no node: 1.0000000004 is 1.
    parts = [use(1, "p5.48xlarge", part, workload=name) for name, part in {"a": 0.5, "b": 0.5, "c": 1.2}.items()]
    (found,) = quota.list_quota_requests(asked({"limit": 575}, jobs=("a", "b", "c")), catalog, [strategy(parts)])
    assert found.needed == 576
    assert (
        quota.list_quota_requests(asked({"limit": 192}), catalog, [strategy([use(1, "p5.48xlarge", 1 + 4e-10)])]) == ()
    )


def test_a_gang_that_spans_nodes_has_all_of_them(priced, ask, hours):
    # 35,040 / 730 = 48 accelerators on average are one and a half gangs of 32: in no month does less than two gangs at
    # once do the work. 2 x 32 / 8 = 8 nodes x 192 = 1,536; six nodes (1,152), the mean, hold one gang and idle.
    job = hours("H100", 48 * 730, gang=32, accelerators_per_node=8)
    found = plan(ask(job, months=2, strategies=["cloud"], quotas=[LINE]), priced({P5: 55.04}))
    assert [asked.needed for asked in found.quota_requests] == [1536]


@pytest.mark.parametrize(
    ("nodes", "span", "counted"),
    [
        (3.0, 4, 4),  # a gang of 32 on nodes of 8 takes four, though the work is three nodes' worth
        (4.0, 4, 4),
        (4 + 1e-9, 4, 4),  # the solver's noise is no gang
        (4.5, 4, 8),
        (2.5, 1, 2.5),  # a gang that fits a node: what others leave of a node adds up
        (2.5, 2, 4),  # 12 on nodes of 8 take two: two gangs
    ],
)
def test_a_use_tells_the_nodes_of_whole_gangs(nodes, span, counted):
    assert _round_up_to_gangs(SimpleNamespace(nodes_per_gang=span), nodes) == counted


def test_committed_nodes_count_while_they_are_paid_for(catalog, asked):
    # Two nodes from month 2 on, one more in months 3 and 4 (of 12): 384, then 576. What runs on them is not added.
    made = strategy(
        [use(2, "p5.48xlarge", 1.5, what="commitment", option="reserved_1y_no_upfront", workload="resident")],
        [bought("p5.48xlarge", 2, 2, 13), bought("p5.48xlarge", 1, 3, 14)],
    )
    (found,) = quota.list_quota_requests(asked({"limit": 192}, jobs=("resident",)), catalog, [made])
    assert (found.needed, found.first_month, found.workloads) == (576, 2, ("resident",))


def test_spot_has_a_quota_of_its_own(catalog, asked):
    lines = ({}, {"code": "L-SPOT", "title": "All P Spot Instance Requests", "kinds": "spot", "limit": 64})
    uses = [use(1, "p5.48xlarge", 1.0), use(1, "p5.48xlarge", 1.0, option="spot")]
    (found,) = quota.list_quota_requests(asked(*lines), catalog, [strategy(uses)])
    assert (found.code, found.needed, found.ask_for) == ("L-SPOT", 192, 192)


@pytest.mark.parametrize(("unit", "needed"), [("node", 3), ("accelerator", 24), ("vcpu", 576)])
def test_a_quota_counts_in_its_own_unit(catalog, asked, unit, needed):
    (found,) = quota.list_quota_requests(
        asked({"unit": unit, "limit": 1}), catalog, [strategy([use(1, "p5.48xlarge", 3.0)])]
    )
    assert (found.unit, found.needed) == (unit, needed)


def test_each_strategy_has_its_requests_and_the_recommended_one_its_gaps(catalog, asked):
    request = asked({})
    cloud, hybrid = strategy([use(1, "p5.48xlarge", 3.0)]), strategy([use(3, "p5.48xlarge", 2.0)], name="hybrid")
    found = quota.list_quota_requests(request, catalog, [cloud, hybrid])
    assert [(q.strategy, q.needed, q.first_month) for q in found] == [("cloud", 576, 1), ("hybrid", 384, 3)]
    (gap,) = [g for g in quota.find_quota_gaps(request, catalog, [cloud, hybrid], hybrid, MONTHS) if g.kind == "quota"]
    assert gap.effect == message(
        "quota_too_small", unit="vcpu", limit=192, used=0, needed=384, request_more=192, needed_by="2027-02",
        as_of=date(2026, 11, 20),
    )  # fmt: skip
    assert text_of(gap.effect).startswith("ask for 384 vCPUs in all, 192 more by 2027-02: the plan runs up to 384")
    assert not [g for g in quota.find_quota_gaps(request, catalog, [cloud, hybrid], None, MONTHS) if g.kind == "quota"]


# what cannot be told


def told(asked_for, catalog, *uses: Use) -> list[tuple[str, str]]:
    made = strategy(uses)
    return [
        (g.subject, text_of(g.effect))
        for g in quota.find_quota_gaps(asked_for, catalog, [made], made, MONTHS)
        if g != quota.NO_CAPACITY_GAP
    ]


def test_use_that_is_not_told_is_no_use_of_zero(catalog, asked):
    subject = "aws us-east-1 Running On-Demand P instances (L-417A185B)"
    within = told(asked({"used": None}), catalog, use(1, "p5.48xlarge", 1.0))
    text = "the plan runs up to 192 of 192 vCPUs; how much is in use is unknown: check that 192 are free"
    assert within == [(subject, text)]
    ((_, beyond),) = told(asked({"used": None}), catalog, use(1, "p5.48xlarge", 2.0))
    assert beyond.endswith("the limit was 192 on 2026-11-20, how much of it is in use is unknown")


def test_a_place_without_a_quota_is_named(catalog, asked):
    found = told(asked({"used": 0}), catalog, use(1, "p5.48xlarge", 1.0, region="us-west-2"), use(1, "g5.xlarge", 1.0))
    assert [subject for subject, _ in found] == [
        "aws us-east-1: g5.xlarge on_demand",
        "aws us-west-2: p5.48xlarge on_demand",
    ]
    assert {effect for _, effect in found} == {
        "no quota that was given counts them: whether they may run there is unknown"
    }


def test_a_provider_without_quotas_and_quotas_without_a_provider_are_named(catalog, asked):
    request = asked({"provider": "aws2"})
    assert [subject for subject, _ in told(request, catalog, use(1, "p5.48xlarge", 1.0))] == [
        "aws quotas",
        "quotas of aws2",
    ]


def test_a_type_that_cannot_be_counted_is_named_and_never_zero(catalog, asked):
    unknown = replace(catalog.offerings["aws", "p4d.24xlarge"], vcpus=None)
    stated = SimpleNamespace(providers=catalog.providers, offerings={**catalog.offerings, unknown.key: unknown})
    uses = [use(1, "p5.48xlarge", 1.0), use(1, "p4d.24xlarge", 5.0)]
    text = "its number of vCPUs is unknown: not counted against L-417A185B in us-east-1"
    assert told(asked({}), stated, *uses) == [("aws p4d.24xlarge", text)]
    (found,) = quota.list_quota_requests(asked({"limit": 100}), stated, [strategy(uses)])
    assert found.needed == 192


def test_a_limit_that_others_have_passed_asks_for_nothing_by_itself(catalog, asked):
    # Lowered to 100 while 200 run: 100 less than nothing is free. Only what the plan itself takes is asked for.
    passed = {"limit": 100, "used": 200}
    unknown = replace(catalog.offerings["aws", "p5.48xlarge"], vcpus=None)
    stated = SimpleNamespace(providers=catalog.providers, offerings={unknown.key: unknown})
    uses = [use(1, "p5.48xlarge", 5.0)]
    assert quota.list_quota_requests(asked(passed), stated, [strategy(uses)]) == ()
    assert [subject for subject, _ in told(asked(passed), stated, *uses)] == ["aws p5.48xlarge"]
    # 5 x 192 = 960, and the 200 of others.
    (found,) = quota.list_quota_requests(asked(passed), catalog, [strategy(uses)])
    assert (found.needed, found.ask_for, found.first_month) == (960, 1160, 1)


def test_old_quotas_are_named(catalog, asked):
    # As of 2026-11-21: 2026-10-22 is 30 days before, 2026-10-21 is 31.
    assert told(asked({"as_of": "2026-10-22"}), catalog) == []
    ((subject, effect),) = told(asked({}, {"code": "old", "as_of": "2026-10-21"}), catalog)
    assert subject == "quotas of aws"
    assert effect.startswith("read on 2026-10-21, 31 days before the plan")


# laws


some_use = st.tuples(st.integers(1, 4), st.floats(0, 20), st.sampled_from(["p5.48xlarge", "p4d.24xlarge"]))


@given(st.lists(some_use, max_size=8), st.integers(0, 5000), st.integers(0, 5000))
def test_with_what_is_asked_for_granted_nothing_more_is_needed(catalog, rows, limit, used):
    made = strategy([use(month, name, nodes, workload=str(n)) for n, (month, nodes, name) in enumerate(rows)])

    def request(allowed: float):
        line = {**LINE, "limit": allowed, "used": used}
        workloads = [{"name": str(n), "demand": {"units_per_month": 1}} for n in range(max(1, len(rows)))]
        return parse_request({"as_of": "2026-11-21", "months": 4, "workloads": workloads, "quotas": [line]})

    found = quota.list_quota_requests(request(limit), catalog, [made])
    for each in found:
        assert each.ask_for == each.needed + used > limit
        assert quota.list_quota_requests(request(each.ask_for), catalog, [made]) == ()
        assert quota.list_quota_requests(request(each.ask_for - 1), catalog, [made])


# what a request may say


def test_faults_of_quotas_are_told_by_their_path():
    lines = [{**LINE, "unit": "cores"}, {**LINE, "kinds": "on_demnd spot"}, {**LINE, "limit": -1}, {**LINE, "extra": 1}]
    with pytest.raises(InvalidRequest) as raised:
        parse_request(
            {"as_of": "2026-11-21", "workloads": [{"name": "w", "demand": {"units_per_month": 1}}], "quotas": lines}
        )
    assert [complaint.path for complaint in raised.value.complaints] == [
        "quotas[0].unit", "quotas[1].kinds", "quotas[2].limit", "quotas[3].extra",
    ]  # fmt: skip


def test_one_quota_is_stated_once():
    with pytest.raises(InvalidRequest, match="the same provider, region and code"):
        parse_request(
            {
                "as_of": "2026-11-21",
                "workloads": [{"name": "w", "demand": {"units_per_month": 1}}],
                "quotas": [LINE, LINE],
            }
        )


@pytest.mark.parametrize("amount", [1e-9, 1e-5, 1e-3, 1])
def test_a_gang_of_seconds_counts_all_its_nodes_against_a_quota_that_holds(priced, ask, hours, amount):
    """16 A100 are two nodes of 96 vCPUs, and 100 vCPUs are free in the cheaper region."""
    catalog = priced({P4: 20.0, ("aws", "us-west-2", "p4d.24xlarge", "on_demand"): 22.0})
    job = hours("A100-40GB", amount, gang=16, may_be_owned=False)
    held = {"quotas": [{**LINE, "limit": 100}], "limits": {"quotas": "hold"}}
    cloud = plan(ask(job, months=1, strategies=["cloud"], **held), catalog).strategy("cloud")
    assert [each.region for each in cloud.uses] == ["us-west-2"]
