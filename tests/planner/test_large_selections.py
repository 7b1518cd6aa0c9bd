"""Plans of chosen homes: where those first chosen cannot do all of the work, and where they make a large program."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from planner.application import plan
from planner.optimization import home_selection, plan_search, program_parts, strategy
from planner.optimization.linear_program import LinearProgram, ProgramColumn
from planner.optimization.search_limits import EFFORTS
from planner.optimization.search_progress import follow_search, name_search
from planner.optimization.solver import NO_SOLUTION, Solution

EAST = ("aws", "us-east-1")
QUOTA = {
    "provider": "aws", "region": "us-east-1", "code": "L-DB2E81BA", "title": "Running On-Demand G and VT instances",
    "unit": "vcpu", "limit": 4, "used": 0, "types": "g[0-9]*", "kinds": "on_demand",
    "as_of": "2026-11-20", "source_id": "aws-service-quotas",
}  # fmt: skip
PART = {"whole_columns": 0, "place_columns": 0}
BOX = {"name": "box", "accelerator": "T4", "accelerators": 1, "price": 4_000, "max_power_kw": 0.3}
PAID_NODE = {
    "provider": "aws", "region": "us-east-1", "instance_type": "g4dn.12xlarge", "count": 1, "ends": "2027-12",
    "purchase_option": "reserved_3y_no_upfront", "fee_per_month": 0,
}  # fmt: skip


def two_services(ask, rate: float = 1.0, months: int = 1, **settings):
    """A quota of 4 vCPUs in the cheap region leaves room for one g4dn.xlarge: the second service lives elsewhere, which
    the program by place does not know. A month costs 730 x (0.5 + 0.9) = 1,022.00."""
    measured = [{"accelerator": "T4", "units_per_second": 2.0, "per": "job", "count": 1}]
    service = {"kind": "inference", "demand": {"requests_per_second": rate}, "measurements": measured}
    return ask(
        {"name": "first", **service},
        {"name": "second", **service},
        months=months,
        providers=["aws"],
        strategies=["cloud"],
        quotas=[QUOTA],
        limits={"quotas": "hold"},
        **settings,
    )


TWO_REGIONS = {(*EAST, "g4dn.xlarge", "on_demand"): 0.5, ("aws", "us-west-2", "g4dn.xlarge", "on_demand"): 0.9}


def without_room(request, *regions: str):
    """The request with as large a quota in each of these regions, all of it used."""
    full = (request.quotas[0].model_copy(update={"region": region, "used": 4}) for region in regions)
    return request.model_copy(update={"quotas": (*request.quotas, *full)})


def double_homes(monkeypatch, whole_columns: int) -> None:
    """From one home near the best on, twice as many with each search; no program is searched whole."""
    monkeypatch.setattr(plan_search, "SMALL_COLUMNS", 0)
    monkeypatch.setattr(plan_search, "MORE_HOMES", 2)
    monkeypatch.setattr(plan_search, "count_columns", lambda *_: math.inf)
    limits = {"nearest": 1, "place_columns": 0, "chooses_nearest": False, "whole_columns": whole_columns}
    monkeypatch.setattr(plan_search, "EFFORTS", {"standard": replace(EFFORTS["standard"], **limits)})


def record_searches(monkeypatch) -> list[tuple[int, int]]:
    """Of each search for the best units of some homes: the homes of the first workload, and the columns."""
    searches, solve = [], plan_search._Search.solve_homes

    def solve_and_record(self, homes, *given, **more):
        solved = solve(self, homes, *given, **more)
        searches.append((len(homes[0]), len(solved.program.columns)))
        return solved

    monkeypatch.setattr(plan_search._Search, "solve_homes", solve_and_record)
    return searches


def test_a_selection_that_cannot_do_all_work_is_widened_until_it_can(priced, ask, monkeypatch):
    monkeypatch.setattr(plan_search, "SMALL_COLUMNS", 0)
    monkeypatch.setattr(plan_search, "EFFORTS", {"standard": replace(EFFORTS["standard"], nearest=1, **PART)})
    cloud = plan(two_services(ask), priced(TWO_REGIONS)).strategy("cloud")
    assert sorted(use.region for use in cloud.uses) == ["us-east-1", "us-west-2"]
    assert cloud.total_cost == pytest.approx(1022.0)


def test_without_work_that_is_left_the_relaxation_chooses_the_homes_and_there_is_a_plan(priced, ask, monkeypatch):
    """Those of the relaxation alone have no room for both services, so more homes are searched until there is a plan;
    none is chosen by moves. One service of a node at 0.5 and one at 0.9 an hour: 730 x 1.4."""
    monkeypatch.setattr(plan_search, "SMALL_COLUMNS", 0)
    monkeypatch.setattr(plan_search, "find_homes", lambda *_: pytest.fail("homes are chosen by moves"))
    monkeypatch.setattr(strategy, "EFFORTS", {"standard": replace(EFFORTS["standard"], budget=-1.0)})
    found = plan(two_services(ask), priced(TWO_REGIONS)).strategy("cloud")
    assert sorted(use.region for use in found.uses) == ["us-east-1", "us-west-2"]
    assert found.total_cost == pytest.approx(1022.0)
    assert found.bound <= found.present_cost


@pytest.mark.parametrize(("most", "cost"), [(0, 365.0 + 12 * 730 * 5.0), (1_000, 1022.0)])
def test_a_plan_far_from_its_bound_is_searched_among_more_homes(priced, ask, monkeypatch, most, cost):
    """The region next to the cheap one has no room: among these two the second service takes a commitment of a year at
    5.00 an hour, which no quota counts. The third region at 0.90 is looked at where the program may be as large."""
    double_homes(monkeypatch, most)
    asked = without_room(two_services(ask), "us-east-2")
    offers = {
        (*EAST, "g4dn.xlarge", "reserved_1y_no_upfront"): 5.0,
        ("aws", "us-east-2", "g4dn.xlarge", "on_demand"): 0.6,
    }
    cloud = plan(asked, priced(TWO_REGIONS | offers)).strategy("cloud")
    assert cloud.total_cost == pytest.approx(cost)


def test_no_more_homes_are_searched_once_their_program_is_large(priced, ask, monkeypatch):
    """The regions beside the cheap one have no room, so the first plan is the best, and far above a bound that knows no
    quota. All regions are searched for a better one; where a program may be twice as large as the first, the search
    ends after the next one, though the best plan is that of a small program."""
    others = {"us-east-2": 0.6, "us-west-1": 0.7, "us-west-2": 0.8, "eu-west-1": 0.9}
    request = without_room(two_services(ask), *others)
    year = {(*EAST, "g4dn.xlarge", "on_demand"): 0.5, (*EAST, "g4dn.xlarge", "reserved_1y_no_upfront"): 5.0}
    catalog = priced(year | {("aws", region, "g4dn.xlarge", "on_demand"): price for region, price in others.items()})
    searches = record_searches(monkeypatch)

    def list_programs(whole_columns: int) -> list[int]:
        searches.clear()
        double_homes(monkeypatch, whole_columns)
        cloud = plan(request, catalog).strategy("cloud")
        assert cloud.total_cost == pytest.approx(365.0 + 12 * 730 * 5.0)
        return [columns for _, columns in searches]

    first, again, widened, *others = list_programs(1_000)
    assert (first, len(others)) == (again, 2)
    assert list_programs(2 * first) == [first, again, widened]


@pytest.mark.parametrize(("columns", "has_start"), [(0, True), (10_000, False)])
def test_a_search_of_many_columns_begins_with_what_the_relaxation_uses(priced, ask, monkeypatch, columns, has_start):
    """The plan costs 1,022.00 either way, and no start of it costs less."""
    monkeypatch.setattr(plan_search, "STARTED_COLUMNS", columns)
    starts, solve = [], plan_search.solve_small_program

    def solve_and_record(program, **terms):
        find_start = terms["find_start"]
        starts.append(find_start and find_start(program.to_arrays()))
        return solve(program, **terms)

    monkeypatch.setattr(plan_search, "solve_small_program", solve_and_record)
    cloud = plan(two_services(ask), priced(TWO_REGIONS)).strategy("cloud")
    assert (cloud.total_cost, cloud.status) == (pytest.approx(1022.0), "optimal")
    assert [bool(start and start.values) for start in starts] == [has_start] * len(starts)
    assert all(start.objective >= cloud.present_cost - 1e-6 for start in starts if start is not None)


def test_the_whole_is_searched_from_the_plan_and_its_bound(priced, ask, monkeypatch):
    """The first plan costs 1,022.00 and its bound is 2 x 365.00. Among all homes of cheaper plans it costs the same and
    is no nearer to its bound, before these are searched."""
    monkeypatch.setattr(plan_search, "SMALL_COLUMNS", 0)
    monkeypatch.setattr(plan_search, "MOST_COLUMNS", 1)
    monkeypatch.setattr(plan_search, "EFFORTS", {"standard": replace(EFFORTS["standard"], nearest=1, place_columns=0)})
    begun, narrow = [], plan_search._Search.narrow

    def narrow_and_record(self, planned):
        begun.append(narrow(self, planned))
        return begun[-1]

    monkeypatch.setattr(plan_search._Search, "narrow", narrow_and_record)
    cloud = plan(two_services(ask), priced(TWO_REGIONS)).strategy("cloud")
    (known,) = begun
    assert known.solution.objective == pytest.approx(cloud.present_cost)
    assert known.solution.bound / known.solution.objective == pytest.approx(730 / 1022, rel=1e-5)
    assert (cloud.total_cost, cloud.status) == (pytest.approx(1022.0), "optimal")


@pytest.mark.parametrize("committed", [0.1, 0.6])
def test_a_large_selection_is_planned_from_work_by_the_hour(priced, ask, monkeypatch, committed):
    """The same two services for two months: a plan by the hour costs 2 x 1,022. A commitment of a year in the dear
    region is taken where 12 x 730 hours at 0.1 cost less than two months at 0.9, not where they cost more."""
    monkeypatch.setattr(plan_search, "SMALL_COLUMNS", 0)
    monkeypatch.setattr(plan_search, "HOURLY_COLUMNS", 0)
    monkeypatch.setattr(plan_search, "EFFORTS", {"standard": replace(EFFORTS["standard"], nearest=1, **PART)})
    year = {("aws", "us-west-2", "g4dn.xlarge", "reserved_1y_no_upfront"): committed}
    cloud = plan(two_services(ask, months=2), priced(TWO_REGIONS | year)).strategy("cloud")
    assert cloud.total_cost == pytest.approx(2 * 365.0 + min(2 * 657.0, 12 * 730 * committed))


def test_units_that_cannot_do_the_work_are_added_to(priced, ask, monkeypatch):
    """Two services of one node each, which is sold for a year only, for 0.5 an hour. The homes come with one node: a
    second one is added, 2 x 12 x 730 x 0.5 = 8,760, and nothing is chosen anew."""
    monkeypatch.setattr(plan_search, "SMALL_COLUMNS", 0)
    monkeypatch.setattr(plan_search, "HOURLY_COLUMNS", 0)
    monkeypatch.setattr(plan_search, "EFFORTS", {"standard": replace(EFFORTS["standard"], nearest=1, **PART)})
    choose = plan_search.find_homes

    def choose_too_few(*given):
        choice = choose(*given)
        assert sum(choice.units.values()) == pytest.approx(2.0)
        return replace(choice, units={start: round(count) - 1.0 for start, count in choice.units.items() if count > 1})

    monkeypatch.setattr(plan_search, "find_homes", choose_too_few)
    monkeypatch.delattr(plan_search._Search, "_solve_from_hours")
    year = {(*EAST, "g4dn.xlarge", "reserved_1y_no_upfront"): 0.5}
    asked = two_services(ask, months=12).model_copy(update={"quotas": ()})
    cloud = plan(asked, priced(year)).strategy("cloud")
    assert cloud.total_cost == pytest.approx(8760.0)


@pytest.mark.parametrize("expected", [1022.0, 100.0])
def test_units_that_cost_far_more_than_the_choice_expected_are_not_searched(priced, ask, monkeypatch, expected):
    """A node of each service at 0.7 costs 2 x 730 x 0.7 = 1,022 a month. Where the choice expected 100, its units are
    chosen anew at once, with the same plan: in both ways the selection is searched once."""
    monkeypatch.setattr(plan_search, "SMALL_COLUMNS", 0)
    monkeypatch.setattr(plan_search, "EFFORTS", {"standard": replace(EFFORTS["standard"], nearest=1, **PART)})
    choose, solve, searched = plan_search.find_homes, plan_search.solve_parts, []
    monkeypatch.setattr(plan_search, "find_homes", lambda *given: replace(choose(*given), cost=expected))
    monkeypatch.setattr(plan_search, "solve_parts", lambda *given: searched.append(given) or solve(*given))
    asked = two_services(ask).model_copy(update={"quotas": ()})
    cloud = plan(asked, priced({**TWO_REGIONS, (*EAST, "g4dn.xlarge", "on_demand"): 0.7})).strategy("cloud")
    assert cloud.total_cost == pytest.approx(1022.0)
    assert len(searched) == 1


@pytest.mark.parametrize(("places", "dear_hours"), [(4, [730.0]), (1, [730.0, 1460.0])])
def test_overflow_that_its_place_cannot_take_goes_to_a_near_one(priced, ask, monkeypatch, places, dear_hours):
    """Two services have a T4 of their own each and need one more: the quota of the cheap region is one, so one of them
    overflows to the dear region. With one place near, both T4s may go to one of them, and the other rents two."""
    monkeypatch.setattr(plan_search, "SMALL_COLUMNS", 0)
    monkeypatch.setattr(plan_search, "NEAREST_OVERFLOW", places)
    monkeypatch.setattr(plan_search, "EFFORTS", {"standard": replace(EFFORTS["standard"], nearest=1, **PART)})
    box = {"name": "box", "accelerator": "T4", "accelerators": 1, "price": 4_000, "max_power_kw": 0.3}
    there = {"systems": [box], "existing": {"nodes": [{"system": "box", "count": 2}]}}
    cloud = plan(two_services(ask, rate=3.0, **there), priced(TWO_REGIONS)).strategy("cloud")
    rented = {use.region: round(use.node_hours, 3) for use in cloud.uses if use.provider}
    assert sum(rented.values()) == 1460.0
    assert rented["us-west-2"] in dear_hours


@pytest.mark.parametrize(("regions", "cost"), [(2, 1022.0), (1, None)])
def test_homes_that_are_denied_at_first_are_found_by_the_search_of_the_whole(priced, ask, monkeypatch, regions, cost):
    """No search for a start finds any plan: the whole has one where there are two regions, and none in one of them."""
    monkeypatch.setattr(plan_search, "SMALL_COLUMNS", 0)
    monkeypatch.setattr(plan_search, "solve_parts", lambda *_: NO_SOLUTION)
    cloud = plan(two_services(ask), priced(dict([*TWO_REGIONS.items()][:regions]))).strategy("cloud")
    assert (None if cloud.status == "infeasible" else pytest.approx(cloud.total_cost)) == cost


@pytest.mark.parametrize(("exact", "among"), [(15_000, None), (0, 2)])
def test_homes_that_cannot_do_the_work_are_not_chosen_anew_by_a_large_program(priced, ask, monkeypatch, exact, among):
    """The program by place knows of no quota: its best choice has none of the work of one service. Only a small one
    chooses among all homes then, a larger one among the two nearest."""
    monkeypatch.setattr(plan_search, "SMALL_COLUMNS", 0)
    monkeypatch.setattr(plan_search, "EXACT_COLUMNS", exact)
    asked, choose = [], plan_search.choose_homes

    def choose_and_record(by_place, ranking, nearest, *limits):
        asked.append(nearest)
        return choose(by_place, ranking, nearest, *limits)

    monkeypatch.setattr(plan_search, "choose_homes", choose_and_record)
    cloud = plan(two_services(ask), priced(TWO_REGIONS)).strategy("cloud")
    assert (cloud.total_cost, asked) == (pytest.approx(1022.0), [among])


@pytest.mark.parametrize(("share", "most"), [(1.0, 2), (0.5, 1)])
def test_a_better_plan_is_not_sought_among_most_homes(priced, ask, monkeypatch, share, most):
    """No plan is near enough; a quota leaves room for both services. Both regions are all columns: they are searched
    for a better plan, or, as the whole is searched then, not before it."""
    for name, value in {"SMALL_COLUMNS": 0, "EXACT_COLUMNS": 0, "FAR_GAP": -1.0, "MOST_KNOWN": share}.items():
        monkeypatch.setattr(plan_search, name, value)
    searches = record_searches(monkeypatch)
    request = two_services(ask)
    request = request.model_copy(update={"quotas": (request.quotas[0].model_copy(update={"limit": 8}),)})
    cloud = plan(request, priced(TWO_REGIONS)).strategy("cloud")
    assert cloud.total_cost == pytest.approx(730.0)  # both in the cheap region: 2 x 730 h x 0.5
    assert max(homes for homes, _ in searches) == most


@pytest.mark.parametrize(
    ("share", "times", "relaxed", "huge", "most"),
    [(1, 0, 1e5, 4e5, 3), (1, 0, 0, 4e5, 2), (1, 0, 0, 0, 3), (1, 2, 1e5, 4e5, 2), (0.5, 0, 1e5, 4e5, 1)],
)
def test_a_selection_that_is_nearly_the_whole_is_not_widened(
    priced, ask, monkeypatch, share, times, relaxed, huge, most
):
    """No search for a start finds any plan. Two regions of three are more than half of all columns: the whole is the
    next that is searched, not all three regions before it; or that is searched and not the two. Nor are the three where
    they would be too many columns, unless the whole is huge."""
    monkeypatch.setattr(plan_search, "SMALL_COLUMNS", 0)
    monkeypatch.setattr(plan_search, "MOST_COLUMNS", share)
    monkeypatch.setattr(plan_search, "NEARLY_ALL", times)
    monkeypatch.setattr(plan_search, "RELAXED_COLUMNS", relaxed)
    monkeypatch.setattr(plan_search, "HUGE_COLUMNS", huge)
    monkeypatch.setattr(plan_search, "EFFORTS", {"standard": replace(EFFORTS["standard"], nearest=1)})
    monkeypatch.setattr(plan_search, "solve_parts", lambda *_: NO_SOLUTION)
    searches = record_searches(monkeypatch)
    dearer = {("aws", "us-east-2", "g4dn.xlarge", "on_demand"): 1.0}
    request = two_services(ask)
    room = request.quotas[0].model_copy(update={"region": "us-west-2"})
    request = request.model_copy(update={"quotas": (*request.quotas, room)})
    cloud = plan(request, priced(TWO_REGIONS | dearer)).strategy("cloud")
    assert cloud.total_cost == pytest.approx(1022.0)
    assert max(homes for homes, _ in searches) == most


def test_a_large_selection_whose_relaxation_has_no_solution_is_not_searched(priced, ask, monkeypatch):
    """Without the dear region the quota leaves one node for two services: the relaxation shows that, so that nothing is
    searched for a plan, with the units of a choice or any."""
    monkeypatch.setattr(plan_search, "SMALL_COLUMNS", 0)
    monkeypatch.setattr(plan_search, "HOURLY_COLUMNS", 0)
    monkeypatch.setattr(program_parts, "LARGE_COLUMNS", 0)
    monkeypatch.setattr(plan_search, "EFFORTS", {"standard": replace(EFFORTS["standard"], nearest=1, **PART)})
    aims, solve = [], program_parts.solve_program
    monkeypatch.setattr(
        program_parts, "solve_program", lambda *given, **more: aims.append(more.get("aim")) or solve(*given, **more)
    )
    cloud = plan(two_services(ask), priced(dict([*TWO_REGIONS.items()][:1]))).strategy("cloud")
    assert cloud.status == "infeasible"
    assert [reason.code for reason in cloud.reasons] == ["limit_too_low", "work_not_done"]
    assert not {"plan", "trial", "start", "used"} & set(aims)


@pytest.mark.parametrize(("least", "searches"), [(3.0, 1), (2.5, 2)])
def test_units_are_not_searched_where_homes_alone_have_whole_ones(monkeypatch, least, searches):
    """One home, and units at a cost of 2 with at least 3 or 2.5 of them: the first step has 3 or 2.5."""
    program = LinearProgram()
    home = program.column(ProgramColumn("home", 0, 0), 1.0, 1.0, whole=True)
    units = program.column(ProgramColumn("start", 0, 1), 2.0, 10.0, whole=True)
    program.row(1.0, 1.0, [(home, 1.0)])
    program.row(least, math.inf, [(units, 1.0)])
    monkeypatch.setattr(home_selection, "STEPWISE_COLUMNS", 0)
    searched, solve = [], home_selection.solve_parts
    monkeypatch.setattr(home_selection, "solve_parts", lambda *given: searched.append(given) or solve(*given))
    found = home_selection._solve_stepwise(program, program.to_arrays(), 1e6, 1e-6)
    assert (found.values, found.objective, len(searched)) == ((1.0, 3.0), 7.0, searches)
    assert found.bound == pytest.approx(1 + 2 * least)


@pytest.mark.parametrize(
    ("most", "proves", "cost", "bound", "aim"),
    [
        (0.0, True, 7.5, 7.5, "bound"),  # nothing that adds little: then the whole, for its bound: half of 10.00 is far
        (0.5, True, 7.5, 7.5, "optimum"),  # five of them: a third of 7.50 is not so far
        (0.0, False, 10.0, 5.0, None),  # the plan stays, and only the relaxation bounds it
        (0.1, False, 10.0, 5.0, None),  # a tenth of 5.00 is one unit alone
        (0.5, False, 7.5, 5.0, None),  # five of them
    ],
)
def test_units_that_add_little_are_searched_first_and_do_not_bound_the_whole(
    monkeypatch, most, proves, cost, bound, aim
):
    """Five of something: a pack of ten costs 10.00, each alone 1.50. Half a pack is 5.00, and each alone adds 0.50."""
    program = LinearProgram()
    pack = program.column(ProgramColumn("start", 0, 0), 10.0, 1.0, whole=True)
    alone = program.column(ProgramColumn("start", 1, 0), 1.5, 9.0, whole=True)
    program.row(5.0, math.inf, [(pack, 10.0), (alone, 1.0)])
    for name, value in {"EXACT_COLUMNS": 0, "VERY_FAR_GAP": 0.4, "LITTLE_MORE": most}.items():
        monkeypatch.setattr(plan_search, name, value)
    known = plan_search.SearchedPlan(None, None, program, Solution("within_gap", 10.0, 0.0, (1.0, 0.0)), 2)
    reports, aims, solve = [], [], plan_search.solve_program

    def solve_and_record(*program, report=None, **settings):
        reports.append(report is not None)
        aims.append((settings.get("aim"), settings["work"]))
        return solve(*program, report=report, **settings)

    monkeypatch.setattr(plan_search, "solve_program", solve_and_record)
    with follow_search(lambda _: None), name_search("cloud"):
        found = plan_search._search_whole(known, 1e6, 1e-6, math.inf, proves=proves).solution
    assert reports == [False, True][: 1 + proves]  # only bounds of the whole are
    share = 0.5 * plan_search.FAR_BOUND_WORK if aim == "bound" else 0.5
    assert aims[1:] == ([(aim, pytest.approx(share * plan_search.LARGE_WORK * 1e6))] if proves else [])
    assert (found.objective, found.bound) == (pytest.approx(cost), pytest.approx(bound))


def test_work_due_before_owned_nodes_arrive_is_done_once(priced, ask, monkeypatch):
    """100 hours by the end of the first month, a committed T4 that is paid already, and an own one from the second: the
    work is done once, on the committed node; overflow of no home cost nothing there, and was done in every block."""
    monkeypatch.setattr(plan_search, "SMALL_COLUMNS", 0)
    measured = [{"accelerator": "T4", "units_per_second": 2.0, "per": "job", "count": 1}]
    job = {"name": "job", "kind": "batch", "measurements": measured}
    job["demand"] = {"total_units": 100 * 3600 * 2.0, "deadline_month": 1}
    night = {"name": "night", "kind": "inference", "measurements": measured}
    night["demand"] = {"requests_per_second": 1.0, "daily_shape": [1.0] * 12 + [0.0] * 12}
    request = ask(
        job, night, months=3, strategies=["onprem"], systems=[BOX], existing={"commitments": [PAID_NODE]},
        assumptions={"lead_time_months": 1},
    )  # fmt: skip
    made = plan(request, priced({(*EAST, "g4dn.12xlarge", "on_demand"): 4.0}))
    (strategy,) = made.strategies
    assert strategy.status == "optimal"
    assert sum(use.units for use in strategy.uses if use.workload == "job") == pytest.approx(100 * 3600 * 2.0)
