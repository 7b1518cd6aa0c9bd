"""What cannot be served says why and what would have to give; what was asked wrongly says where."""

from __future__ import annotations

import pytest

from planner.analysis.relaxations import LiftedLimits, find_sufficient
from planner.application import plan
from planner.optimization import limit_relief
from planner.optimization.limit_relief import LimitRelief
from planner.request.errors import InvalidRequest


def reasons(found) -> str:
    assert found.status == "infeasible"
    assert found.recommendation.strategy is None
    assert all(s.status == "infeasible" and not s.cash for s in found.strategies)
    return "\n".join(map(str, found.reasons))


def test_memory_that_fits_nothing(catalog, ask, measured):
    job = measured("H100", 8, 1000, 1e9, memory_gib_per_accelerator=400)
    text = reasons(plan(ask(job), catalog))
    assert "less than 400 GiB of memory per accelerator" in text
    assert "would be served with less memory per accelerator, at most 270 GiB" in text


def test_an_accelerator_that_nobody_rents_any_more_says_what_is_there_instead(catalog, ask, hours):
    with pytest.raises(InvalidRequest) as caught:
        plan(ask(hours("T4", 1, name="fine"), hours("P40", 100)), catalog)
    [fault] = caught.value.complaints
    assert (fault.path, fault.value) == ("workloads[1].demand.accelerator", "P40")
    assert "Standard_ND6s (1 x P40-24GB)" in fault.message
    assert "; instead Standard_NC" in fault.message
    assert "substitution: true" in fault.expected


def test_every_accelerator_that_a_workload_allows_has_ended(catalog, ask, measured):
    allowed = measured("A100", 1, 100, 1e8, accelerators=["K80", "MI25"])
    with pytest.raises(InvalidRequest) as caught:
        plan(ask(allowed), catalog)
    assert [fault.path for fault in caught.value.complaints] == [f"workloads[0].accelerators[{n}]" for n in (0, 1)]


def test_work_that_was_measured_on_what_has_ended_is_planned_on_others(catalog, ask, measured, hours):
    found = plan(ask(measured("K80-12GB-die", 1, 100, 1e8), strategies=["cloud"]), catalog)
    assert found.status == "optimal"
    found = plan(ask(hours("K80-12GB-die", 10, substitution=True), strategies=["cloud"]), catalog)
    assert found.status == "optimal"


def test_what_has_ended_may_run_on_a_system_of_ones_own(catalog, ask, hours):
    box = {"name": "old box", "accelerator": "K80-12GB-die", "accelerators": 8, "price": 9_000, "max_power_kw": 2}
    found = plan(ask(hours("K80-12GB-die", 100), systems=[box], months=24, strategies=["cloud"]), catalog)
    assert reasons(found).splitlines() == [
        "job: 100.0% of its work cannot be done in time",  # renting alone does none of it
        "job: all of its work could be done on another accelerator (substitution: true)",
    ]


def test_a_residency_that_rules_all_out(catalog, ask, hours):
    text = reasons(plan(ask(hours("TPU-v5p", 100, residency=["CH"])), catalog))
    assert "not sold in the providers, regions or residency allowed" in text
    assert "would be served without its limit of residency" in text


def test_a_deadline_that_no_offering_meets(catalog, ask):
    job = {
        "name": "pretrain",
        "kind": "training",
        "unit": "tokens",
        "demand": {"total_units": 1e12, "deadline_month": 1},
        "gang": 8,
        "measurements": [{"accelerator": "A100-80GB-SXM", "count": 8, "units_per_second": 20000, "per": "job"}],
        "accelerators": ["A100-80GB-SXM"],
    }
    found = plan(ask(job, strategies=["cloud"]), catalog)
    assert "of its work cannot be done in time" in reasons(found)
    (reason,) = found.reasons
    assert reason.code == "work_not_done_in_parallel"
    # 1e12 / (20,000 x 3,600 x 730) = 19.03 months at best; a little more with failures.
    assert reason.parameters["months"] == pytest.approx(19.1, abs=0.05)
    assert reason.parameters["parallel_jobs_needed"] == 20


def test_more_jobs_at_once_meet_it(catalog, ask):
    job = {
        "name": "pretrain",
        "kind": "training",
        "demand": {"total_units": 1e12, "deadline_month": 1},
        "gang": 8,
        "parallel_jobs": 20,
        "measurements": [{"accelerator": "A100-80GB-SXM", "count": 8, "units_per_second": 20000, "per": "job"}],
        "accelerators": ["A100-80GB-SXM"],
    }
    assert plan(ask(job, strategies=["cloud"]), catalog).status == "optimal"


def test_owning_that_comes_too_late_is_infeasible_alone(catalog, ask, hours):
    found = plan(ask(hours("H100", 800), months=6), catalog)
    onprem = found.strategy("onprem")
    assert onprem.status == "infeasible"
    assert "no owned system arrives after 8 months of lead time" in onprem.reasons[0].text
    assert found.strategy("cloud").status == found.strategy("hybrid").status == "optimal"


def codes(strategy) -> list[tuple[str, object]]:
    return [(reason.code, reason.parameters.get("without")) for reason in strategy.reasons]


@pytest.mark.parametrize(("months", "without"), [(12, ("may_be_owned",)), (6, ("may_be_owned", "lead_time_months"))])
def test_what_may_not_be_owned_is_told_all_that_has_to_change(catalog, ask, hours, months, without):
    """Delivered after 8 months it works in 4 of 12 and in none of 6. With all that is told there is a plan."""
    asked = {"months": months, "strategies": ["onprem"]}
    found = plan(ask(hours("H100", 800, may_be_owned=False), **asked), catalog).strategy("onprem")
    assert codes(found) == [("nothing_to_own", None), ("would_be_owned", without)]
    assert found.reasons[1].text.startswith("job: could be owned with may_be_owned: true")
    at_once = dict.fromkeys(("lead_time_months", "migration_months"), 0) if "lead_time_months" in without else {}
    assert plan(ask(hours("H100", 800), **asked, assumptions=at_once), catalog).status == "optimal"


def test_work_that_only_an_owned_system_can_do_before_it_arrives(catalog, ask, hours):
    """Rented nowhere (the request allows aws, the job gcp), owned after 8 of 6 months: a deadline would not help."""
    job = hours("H100", 800, providers=["gcp"], parallel_jobs=2)
    found = plan(ask(job, months=6, providers=["aws"], strategies=["hybrid"]), catalog)
    assert codes(found.strategy("hybrid")) == [
        ("work_not_done", None), ("would_be_done", ("lead_time_months",)), ("would_be_done", ("providers",)),
    ]  # fmt: skip
    assert (
        found.strategy("hybrid").reasons[2].text == "job: all of its work could be done without its limit of providers"
    )


def test_more_replicas_at_once_than_jobs_that_may_run(catalog, ask, hours):
    """3 x 730 hours of a service are 3 accelerators that stand there; 2 jobs of one may run."""
    job = hours("L4", 2190, kind="inference", parallel_jobs=2, may_be_owned=False)
    found = plan(ask(job, months=1, strategies=["cloud"]), catalog)
    assert ("would_be_done", ("parallel_jobs",)) in codes(found.strategy("cloud"))
    job["parallel_jobs"] = 3
    assert plan(ask(job, months=1, strategies=["cloud"]), catalog).status == "optimal"


def test_limits_that_are_only_together_in_the_way_are_named_together():
    """Of three limits two have to be lifted; where each of two suffices, both are named apart."""
    one, two, three = (LiftedLimits((name,), {name: ()}) for name in ("one", "two", "three"))
    (found,) = find_sufficient((one, two, three), lambda each: {"one", "three"} <= set(each.limits))
    assert (found.limits, found.on_request) == (("one", "three"), {"one": (), "three": ()})
    assert find_sufficient((one, two), lambda each: bool(each.limits)) == (one, two)
    assert find_sufficient((one, two), lambda _: False) == ()


def test_limits_whose_own_part_was_not_found_are_named_together(catalog, ask, hours, monkeypatch):
    """Where the work of the search ends before a limit's sufficient amount is found, what is known is told: the limits
    without which all work is done, and that works when it is applied."""
    monkeypatch.setattr(
        limit_relief, "_find_enough", lambda _, limit, __, **___: LimitRelief(limit, None, is_known=False)
    )
    tight = {"opex_per_year": 10, "capex_per_year": 5}
    [cloud] = plan(ask(hours("L4", 730), strategies=["cloud"], limits=tight), catalog).strategies
    [together] = [reason for reason in cloud.reasons if reason.code == "limits_in_the_way_together"]
    assert "opex_per_year year 1" in together.parameters["limits"]
    assert str(together).startswith("all work could be done without ")
    assert plan(ask(hours("L4", 730), strategies=["cloud"]), catalog).status == "optimal"


def test_the_least_that_would_do_is_found_among_near_homes_in_large_programs(catalog, ask, hours, monkeypatch):
    """The cheapest home is among them, so the amount is the same; a search that ends without any proves none."""
    asked = ask(hours("L4", 730), hours("L4", 730, "another"), strategies=["cloud"], limits={"opex_per_year": 10})
    needed = []
    for most in (limit_relief.MOST_COLUMNS, 0):
        monkeypatch.setattr(limit_relief, "MOST_COLUMNS", most)
        [cloud] = plan(asked, catalog).strategies
        needed.append([each.parameters["needed"] for each in cloud.reasons if each.code == "limit_too_low"])
    assert needed[0]
    assert needed[0] == needed[1]


@pytest.mark.parametrize(("most", "each"), [(4e6, 2e6), (6e5, 3e5)])
def test_two_limits_share_the_work_of_all_of_them(catalog, ask, hours, monkeypatch, most, each):
    works = []

    def record(_, limit, work, **__):
        works.append(work)
        return LimitRelief(limit, None, is_known=False)

    monkeypatch.setattr(limit_relief, "_find_enough", record)
    monkeypatch.setattr(limit_relief, "ALL_LIMITS_WORK", most)
    asked = ask(hours("L4", 730), months=24, strategies=["cloud"], limits={"opex_per_year": 10})
    assert plan(asked, catalog).strategy("cloud").status == "infeasible"
    assert set(works) == {each}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("searched", "gap", "code"),
    [(5_000, 0.05, "work_not_done"), (0, 0.05, "work_not_done"), (0, 0.001, "work_not_done_at_most")],
)
def test_a_budget_in_the_way_has_no_word_of_deadlines(monkeypatch, catalog, ask, measured, searched, gap, code):
    """What a little more money does, a later deadline does not. The least that stays undone is that of the whole,
    searched at once or from the near columns of its relaxation; of far ones it is the least that is known."""
    monkeypatch.setattr(limit_relief, "SEARCHED_COLUMNS", searched)
    monkeypatch.setattr(limit_relief, "LARGE_GAP", gap)
    job = measured("A100-80GB-SXM", 1, 1000, 1e9, kind="training")
    job["demand"] = {"total_units": 1e9, "deadline_month": 2}
    found = plan(ask(job, months=2, strategies=["cloud"], limits={"opex_per_year": 10}), catalog)
    assert [kind for kind, _ in codes(found.strategy("cloud"))] == ["limit_too_low", code]


def test_what_cannot_be_owned_stays_in_the_cloud_and_is_named(catalog, ask, hours):
    found = plan(ask(hours("H100", 5840, gang=8), hours("T4", 500, "nb")), catalog)
    assert any(gap.kind == "not_ownable" and gap.workload == "nb" for gap in found.gaps)
    assert {u.what for u in found.strategy("onprem").uses if u.workload == "nb"} <= {"hourly", "commitment"}


def test_another_vendor_is_a_candidate_only_by_name(catalog, ask, measured):
    job = measured("A100-80GB-SXM", 8, 1000, 1e9)
    used = {u.accelerator for s in plan(ask(job), catalog).strategies for u in s.uses}
    vendors = {catalog.names.by_name[name].vendor for name in used}
    assert vendors == {"NVIDIA"}
    named = plan(ask({**job, "accelerators": ["MI300X"]}, strategies=["cloud"]), catalog)
    assert {u.accelerator for u in named.strategy("cloud").uses} == {"MI300X-192GB"}


def test_hours_stay_on_their_accelerator(catalog, ask, hours):
    found = plan(ask(hours("L4", 1000)), catalog)
    assert {u.accelerator for s in found.strategies for u in s.uses} == {"L4-24GB"}


def test_measured_only_refuses_predictions(catalog, ask, measured):
    found = plan(ask(measured("A100-80GB-SXM", 8, 1000, 1e9), measured_only=True), catalog)
    assert {t.basis for t in found.throughput} == {"measured"}


@pytest.mark.parametrize(
    ("change", "path", "said"),
    [
        ({"providers": ["awz"]}, "workloads[0].providers[0]", "aws"),
        ({"regions": ["us-esat-1"]}, "workloads[0].regions[0]", "us-east-1"),
        ({"residency": ["Germany"]}, "workloads[0].residency[0]", "one of"),
        ({"accelerators": ["H1000"]}, "workloads[0].accelerators[0]", "H100"),
        ({"demand": {"units_per_month": {"2026-12": 1}}}, "workloads[0].demand.units_per_month", "fewer months"),
        ({"demand": {"units_per_month": [0] * 12}}, "workloads[0].demand", "at least one month above 0"),
        ({"demand": {"total_units": 5, "deadline_month": 13}}, "workloads[0].demand.deadline_month", "1 to 12"),
        ({"demand": {"total_units": 5, "deadline_month": "2028-01"}}, "workloads[0].demand.deadline_month", "2026-12"),
        ({"measurements": []}, "workloads[0].measurements", "a measured throughput"),
        ({"memory_gib_per_accelerator": 1, "memory_gib_total": 8}, "workloads[0].memory_gib_total", "or"),
    ],
)
def test_a_fault_is_named_with_its_path_and_what_is_expected(catalog, ask, measured, change, path, said):
    with pytest.raises(InvalidRequest) as caught:
        plan(ask({**measured("H100", 8, 1000, 1e9), **change}), catalog)
    (complaint,) = caught.value.complaints
    assert complaint.path == path
    assert said in complaint.expected


def test_all_faults_come_at_once(catalog, ask, measured):
    jobs = [measured("H1000", 8, 1, 1, name=f"job {n}", providers=["awz"]) for n in range(3)]
    with pytest.raises(InvalidRequest) as caught:
        plan(ask(*jobs, assumptions={"pu": 1}), catalog)
    assert len(caught.value.complaints) == 7


def test_assumptions_are_checked(catalog, ask, hours):
    wrong = {"pue": 0.9, "value_loss_annual": 1.5, "lead_time_months": 2.5, "useful_life_months": 0}
    with pytest.raises(InvalidRequest) as caught:
        plan(ask(hours("H100", 1), assumptions=wrong), catalog)
    assert {c.path.removeprefix("assumptions.") for c in caught.value.complaints} == set(wrong)


def test_an_own_quote_for_a_server_replaces_the_catalogue(catalog, ask, hours):
    """A quote of 200,000 for the server and 9 kW measured: capital 200,000 / 0.81 = 246,913.58."""
    own = {"price_of_8x_h100_server": 200_000, "power_kw_of_8x_h100_server": 9, "lead_time_months": 0}
    request = ask(hours("H100", 5840, gang=8), assumptions=own, strategies=["onprem"])
    found = plan(request, catalog)
    paid = {row.category: row.amount for row in found.strategy("onprem").cash if row.month == 1}
    assert paid["hardware"] == pytest.approx(246_913.58)
    assert paid["space"] == pytest.approx(9 * 195)
    shown = {a.name: a for a in found.assumptions}
    assert shown["price_of_8x_h100_server"].overridden
    assert shown["price_of_8x_h100_server"].value == 200_000
    assert not shown["price_of_8x_b200_server"].overridden
    assert "LP2368" in shown["price_of_8x_b200_server"].source


def test_a_quote_brings_back_a_system_that_had_no_price(catalog, ask, hours):
    request = ask(hours("H200", 5840, gang=8), assumptions={"price_of_dgx_h200": 280_000})
    found = plan(request, catalog)
    assert "DGX H200" in {row.system for row in found.break_even}
    assert not any(gap.subject == "DGX H200" for gap in found.gaps)


def test_a_quote_for_an_unknown_server_names_the_nearest(catalog, ask, hours):
    with pytest.raises(InvalidRequest) as caught:
        plan(ask(hours("H100", 1), assumptions={"price_of_8x_h100_servr": 1}), catalog)
    (complaint,) = caught.value.complaints
    assert "price_of_8x_h100_server" in complaint.expected


def test_without_estimates_no_derived_price_is_paid(catalog, ask, hours):
    job = hours("TPU-v5e", 500, gang=8, interruptible=True)
    assert "derived" in {price.method for price in plan(ask(job), catalog).prices}
    assert {price.method for price in plan(ask(job, allow_estimates=False), catalog).prices} == {"listed"}


@pytest.mark.parametrize(("needed_gib", "fits"), [(3.9, True), (4.1, False)])
def test_a_slice_has_its_share_of_the_memory(catalog, ask, hours, needed_gib, fits):
    """A sixth of an A10 with 24 GiB has 4 GiB: Standard_NV6ads_A10_v5 holds 3.9 GiB and not 4.1."""
    job = hours("A10", 50, gang=1 / 6, memory_gib_per_accelerator=needed_gib, regions=["eastus"])
    found = plan(ask(job, strategies=["cloud"]), catalog)
    used = {use.name for s in found.strategies for use in s.uses}
    assert ("Standard_NV6ads_A10_v5" in used) == fits


def test_work_that_others_leave_no_room_for_says_so(priced, ask, hours):
    """One committed node has 730 h, the two jobs want 600 h and 400 h: 270 of the 600 (45 %) are the least share left
    undone. Either could be done alone; together where the first may go where nodes are sold, or be committed to."""
    here, other = (("aws", region, "g4dn.xlarge") for region in ("us-east-1", "us-east-2"))
    catalog = priced({(*here, "reserved_1y_no_upfront"): 0.3, (*other, "on_demand"): 0.5})
    held = {
        "provider": "aws", "region": "us-east-1", "instance_type": "g4dn.xlarge", "count": 1, "ends": "2027-06",
        "purchase_option": "reserved_1y_no_upfront", "fee_per_month": 0,
    }  # fmt: skip
    jobs = [hours("T4", 600, "a", regions=["us-east-1"]), hours("T4", 400, "b", regions=["us-east-1"])]
    limits = {"limits": {"purchase_options": ["on_demand"]}, "existing": {"commitments": [held]}}
    text = reasons(plan(ask(*jobs, months=1, strategies=["cloud"], **limits), catalog))
    assert text.splitlines() == [
        "a: 45.0% of its work cannot be done in time",
        "a: all of its work could be done without the other workloads, which use what it needs",
        "a: all of its work could be done without its limit of purchase_options",
        "a: all of its work could be done without its limit of regions",
    ]


def test_a_slice_with_the_chips_of_the_gang_is_not_told_to_one_whose_providers_do_not_sell_it(catalog, ask, hours):
    """v5e is Google Cloud's: of aws alone, the provider is in the way and not the number of chips."""
    job = hours("TPU-v5e", 100, gang=16)
    found = plan(ask(job, providers=["aws"], strategies=["cloud"]), catalog).strategy("cloud")
    assert codes(found) == [("workload_unserved", None), ("would_be_served", ("providers",))]


def test_a_service_that_nothing_sold_for_dates_can_do_and_that_may_not_be_owned(catalog, ask):
    """Blocks end after days, so a service has none: without that limit, or with nodes of its own, it is served."""
    service = {
        "name": "job", "kind": "inference", "may_be_owned": False,
        "demand": {"accelerator_hours_per_month": 1460, "accelerator": "H100", "daily_shape": "business_hours"},
    }  # fmt: skip
    asked = ask(service, months=6, strategies=["cloud"], limits={"purchase_options": ["capacity_block"]})
    found = plan(asked, catalog).strategy("cloud")
    assert codes(found) == [
        ("workload_unserved", None), ("would_be_served", ("purchase_options",)), ("would_be_served", ("may_be_owned",)),
    ]  # fmt: skip
