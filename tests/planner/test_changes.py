"""What changed since the last review: sums by hand, months by the calendar, and laws that hold for any two plans."""

from __future__ import annotations

import dataclasses
import io
import math
import random
from datetime import date

import openpyxl
import pytest

from planner.analysis.comparison import build_review_record, list_changes
from planner.application import plan, read_review
from planner.messages import text_of
from planner.reports.json import loads, render
from planner.reports.xlsx import render as workbook
from planner.result.message import message
from pricing.catalog.price_catalog import NO_RATE_CARD, Catalog
from pricing.exchange_rates import ExchangeRate, ExchangeRates

T4 = ("aws", "us-east-1", "g4dn.xlarge")
BASE = {(*T4, "on_demand"): 0.5}


@pytest.fixture
def cloud(priced, ask):
    """A plan for the cloud alone, three months from 2026-12 at these prices."""

    def make(*jobs: dict, prices: dict | None = None, catalog: Catalog | None = None, **settings):
        settings = {"strategies": ["cloud"], "months": 3, "start": "2026-12", "discount_rate_annual": 0.0, **settings}
        return plan(ask(*jobs, **settings), catalog or priced(prices or BASE))

    return make


def rows(found, topic):
    return {change.subject: (change.then, change.now, change.difference) for change in found.of(topic)}


def holds(old, new):
    """The laws of any two plans; what changed between them."""
    found = list_changes(old, new)
    for change in found.changes:
        if change.difference:
            assert change.difference == change.now - change.then
        assert change.then is not None or change.now is not None
    for side, then in ((old, True), (new, False)):
        chosen = side.strategy(side.recommendation.strategy)
        paid = [change.then if then else change.now for change in found.of("month") if len(change.subject) == 7]
        assert math.fsum(amount for amount in paid if amount is not None) == pytest.approx(chosen.total_cost)
    if found.causes:
        for index, name in enumerate(("total", "present")):
            moved = math.fsum(getattr(part, name) for step in found.causes.steps for part in step.parts)
            assert found.causes.restated[index] + moved == pytest.approx(found.causes.new[index], abs=1e-3)
        assert found.causes.new[0] == new.strategy(new.recommendation.strategy).total_cost
    assert loads(render(dataclasses.replace(new, changes=found))).changes == found
    return found


def test_a_price_alone(cloud, hours):
    """3 x 1,000 hours at 0.5 and then at 0.6: 3 x 500 = 1,500 and 1,800, 300 more, all of it the price."""
    job = hours("T4", 1000, may_be_owned=False)
    found = holds(cloud(job), cloud(job, prices={(*T4, "on_demand"): 0.6}))
    assert rows(found, "cost")["cloud: total cost"] == pytest.approx((1500, 1800, 300))
    assert rows(found, "price") == {f"{' '.join(T4)} on_demand": pytest.approx((0.5, 0.6, 0.1))}
    assert rows(found, "month")["2027-01"] == pytest.approx((500, 600, 100))
    assert rows(found, "recommendation") == {"recommended strategy": ("cloud", "cloud", None)}
    assert {step.cause: step.total for step in found.causes.steps if step.total} == {"price": pytest.approx(300)}
    assert not any(found.of(topic) for topic in ("workload", "purchase", "assumption", "throughput", "gap", "frame"))


def test_a_plan_and_itself_differ_in_nothing(cloud, hours):
    made = cloud(hours("T4", 1000))
    found = holds(made, made)
    assert all(change.is_same for change in found.changes)
    assert {change.topic for change in found.changes} == {"cost", "recommendation", "month"}
    assert found.notes == ()


def test_work_that_is_new_gone_and_other_and_what_is_assumed(cloud, hours):
    """a: 3 x 1,000 -> 3 x 1,500 hours; b is gone, c is new. Then 3 x 1,100 x 0.5 = 1,650; now 3 x 1,700 x 0.5 x 1.05
    = 2,677.50 with a tax of 5 %, of which 3 x 850 x 0.05 = 127.50."""
    old = cloud(hours("T4", 1000, "a"), hours("T4", 100, "b"))
    new = cloud(hours("T4", 1500, "a"), hours("T4", 200, "c"), assumptions={"cloud_tax_fraction": 0.05})
    found = holds(old, new)
    work = rows(found, "workload")
    assert work == {"a": (3000, 4500, 1500), "c": (None, 600, None), "b": (300, None, None)}
    assert rows(found, "assumption") == {"cloud_tax_fraction": (0.0, 0.05, 0.05)}
    assert rows(found, "cost")["cloud: total cost"] == pytest.approx((1650, 2677.5, 1027.5))
    assumed = next(step for step in found.causes.steps if step.cause == "assumption")
    assert assumed.total == pytest.approx(127.5)
    assert "given in the request" in text_of(found.of("assumption")[0].why)


def test_months_that_start_later_stand_by_the_calendar(cloud, hours):
    """2026-12..2027-02 and 2027-01..2027-03 with 1,000 hours a month: two months are in both, 2 x 500 each."""
    job = hours("T4", 1000, may_be_owned=False)
    found = holds(cloud(job), cloud(job, start="2027-01"))
    months = rows(found, "month")
    assert months["2027-01..2027-02, months that both have"] == (1000, 1000, 0)
    assert (months["2026-12"], months["2027-03"]) == ((500, None, None), (None, 500, None))
    assert months["2027-01"] == months["2027-02"] == (500, 500, 0)
    assert found.of("workload") == ()
    assert rows(found, "frame")["first month"] == ("2026-12", "2027-01", None)
    assert "compared by calendar month (the 2 months that both have, 2027-01..2027-02)" in text_of(found.notes[0])
    assert found.notes[1] == message("causes_match_months_by_place", then_month="2026-12", now_month="2027-01")


def test_work_is_compared_in_the_months_that_both_have(cloud, hours):
    """Then 100, 200, 300 from 2026-12; now 200, 310, 400 from 2027-01: 500 and 510 in the two months of both."""
    by_month = {"2026-12": 100, "2027-01": 200, "2027-02": 300}
    later = {"2027-01": 200, "2027-02": 310, "2027-03": 400}
    jobs = [
        {**hours("T4", 0), "demand": {"accelerator_hours_per_month": each, "accelerator": "T4"}}
        for each in (by_month, later)
    ]
    found = holds(cloud(jobs[0]), cloud(jobs[1], start="2027-01"))
    assert rows(found, "workload") == {"job": pytest.approx((500, 510, 10))}
    assert text_of(found.of("workload")[0].why) == "work of 2027-01..2027-02, changed in 2027-02"


def test_no_month_in_both(cloud, hours):
    job = hours("T4", 1000, may_be_owned=False)
    found = holds(cloud(job), cloud(hours("T4", 1100), start="2028-01"))
    assert found.notes[0].parameters["common_months"] == ()
    assert rows(found, "workload") == {"job": pytest.approx((3000, 3300, 300))}
    assert text_of(found.of("workload")[0].why) == "work of all months of each plan"
    assert all(None in (change.then, change.now) for change in found.of("month"))


def test_what_is_bought(cloud, hours):
    """One node reserved from the first month; then two; and in a plan that starts later the order lies behind it."""
    prices = {(*T4, "reserved_1y_no_upfront"): 0.1, (*T4, "on_demand"): 9.0}
    old, new = (cloud(hours("T4", 730 * n), prices=prices, months=12) for n in (1, 2))
    name = f"2026-12: {T4[2]} aws us-east-1 reserved_1y_no_upfront"
    assert rows(holds(old, new), "purchase") == {name: (1, 2, 1)}
    later = holds(old, cloud(hours("T4", 730), prices=prices, months=12, start="2027-01"))
    first, second = later.of("purchase")
    assert (first.subject, first.then, first.now) == (name, 1, None)
    assert first.why == message("purchase_outside_new_plan")
    assert (second.subject[:7], second.then, second.now, second.why) == ("2027-01", None, 1, message("purchase_added"))


def euros(base: Catalog, value: float) -> Catalog:
    rates = ExchangeRates((ExchangeRate("USD", "EUR", value, date(2026, 11, 20), "a bank"),))
    return Catalog(base.layout, base._cache, rates, NO_RATE_CARD)


def test_currencies_are_not_subtracted(cloud, hours, priced):
    """1,500 USD then, 0.8 x 1,500 = 1,200 EUR now: no difference of the two; the causes start from 1,200."""
    job = hours("T4", 1000, may_be_owned=False)
    catalog = priced(BASE)
    old, new = cloud(job, catalog=catalog), cloud(job, catalog=euros(catalog, 0.8), currency="EUR")
    found = holds(old, new)
    total = found.of("cost")[0]
    assert (total.then, total.now, total.difference) == (pytest.approx(1500), pytest.approx(1200), None)
    assert total.unit == "USD -> EUR"
    assert text_of(total.why) == "another unit: not subtracted; then and now: recommended"
    assert all(change.difference is None for change in found.of("month"))
    assert not found.of("price") + found.of("assumption")
    assert found.notes[0].parameters["exchange_rate"] == pytest.approx(0.8)
    dear = list_changes(cloud(job, prices={(*T4, "on_demand"): 0.6}), new)
    assert rows(dear, "price") == {f"{' '.join(T4)} on_demand": (0.6, pytest.approx(0.4), None)}
    assert found.causes.restated[0] == pytest.approx(1200)
    assert "amounts are not subtracted" in text_of(found.notes[0])
    assert found.notes[1].parameters["total_cost"] == pytest.approx(1200)
    told = list_changes(old, dataclasses.replace(new, exchange_rates=()))
    assert told.causes is None
    assert message("causes_need_a_rate", then_currency="USD", now_currency="EUR") in told.notes


def test_gaps_that_are_new_and_closed(cloud, hours):
    """A workload that only A100s may do has no price here: a gap that comes with it and goes with it."""
    job = hours("T4", 1000)
    old = cloud(job)
    gap = dataclasses.replace(old.gaps[0], subject="something else", workload="") if old.gaps else None
    assert gap is not None
    new = dataclasses.replace(old, gaps=(*old.gaps[1:], gap))
    found = holds(old, new)
    kind = gap.kind.replace("_", " ")
    closed = next(change for change in found.of("gap") if change.now is None)
    fresh = next(change for change in found.of("gap") if change.then is None)
    assert (fresh.subject, fresh.now) == (f"{kind}: something else", "open")
    assert fresh.why == message("gap_opened", effect=str(gap.effect))
    assert closed.why == message("gap_closed", effect=str(old.gaps[0].effect))
    assert len(found.of("gap")) == 2


def test_a_new_plan_that_is_impossible(cloud, hours):
    old = cloud(hours("T4", 1000))
    new = cloud(hours("A100", 1000))
    assert new.status == "infeasible"
    found = list_changes(old, new)
    assert rows(found, "cost")["cloud: total cost"] == (pytest.approx(1500), "not possible", None)
    assert rows(found, "recommendation") == {"recommended strategy": ("cloud", "none", None)}
    assert found.causes is None
    assert text_of(found.notes[0]) == "causes are unknown: now no strategy is possible"
    assert found.of("month") == ()


@pytest.mark.one_in(4)
@pytest.mark.parametrize("seed", range(4))
def test_laws_of_any_two_plans(cloud, hours, seed):
    rng = random.Random(seed)
    prices = {(*T4, option): rng.uniform(0.1, 1) for option in ("on_demand", "reserved_1y_no_upfront", "spot")}

    def some():
        jobs = [hours("T4", rng.uniform(10, 3000), name) for name in "abc" if rng.random() < 0.8] or [hours("T4", 5)]
        changed = {place: price * rng.choice((1, 1.1)) for place, price in prices.items()}
        frame = {"months": rng.choice((3, 12)), "start": rng.choice(("2026-12", "2027-01")),
                 "discount_rate_annual": rng.choice((0.0, 0.1))}  # fmt: skip
        return cloud(*jobs, prices=changed, **frame)

    old, new = some(), some()
    there, back = holds(old, new), holds(new, old)
    both = {change.subject for change in there.of("workload")}
    assert both == {change.subject for change in back.of("workload")}
    for topic in ("cost", "workload", "month", "purchase"):
        turned = {name: (now, then) for name, (then, now, _) in rows(back, topic).items()}
        assert turned == {name: (then, now) for name, (then, now, _) in rows(there, topic).items()}


def test_the_workbook_of_the_last_review_tells_the_same_but_the_causes(cloud, hours):
    prices = {(*T4, "reserved_1y_no_upfront"): 0.1, (*T4, "on_demand"): 0.5}
    job = hours("T4", 1000, "a")
    old = cloud(job, hours("T4", 50, "b"), prices=prices, months=12)
    new = cloud(job, prices=BASE, months=12, start="2027-01", assumptions={"cloud_tax_fraction": 0.05})
    whole, read = list_changes(old, new), list_changes(read_review(workbook(old)), new)
    assert read.causes is None
    assert "review_read_from_workbook" in {note.code for note in read.notes}
    assert (read.plan_id, read.as_of, read.month_names, read.currency, read.strategy) == (
        whole.plan_id, whole.as_of, whole.month_names, whole.currency, whole.strategy,
    )  # fmt: skip
    told = [change for change in whole.changes if change.subject not in ("hours in a month", "oldest price")]
    assert len(told) == len(read.changes) > 15
    for ours, theirs in zip(told, read.changes, strict=True):
        assert dataclasses.replace(theirs, then=ours.then, difference=ours.difference) == ours
        assert theirs.then == (pytest.approx(ours.then) if isinstance(ours.then, float) else ours.then)


def edited(data: bytes, edit) -> bytes:
    book = openpyxl.load_workbook(io.BytesIO(data), data_only=True)
    edit(book)
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


@pytest.mark.slow
def test_a_workbook_is_read_as_it_was_saved_or_refused(cloud, hours):
    data = workbook(cloud(hours("T4", 1000)))

    def hide(book):
        book["Offers"].sheet_state = "hidden"
        del book["Gaps"]

    kept = read_review(edited(data, hide))
    assert not {"price", "gap"} & kept.topics
    assert "assumption" in kept.topics

    def spoil(value):
        def edit(book):
            row = next(row for row in book["Summary"] if str(row[0].value).startswith("total cost"))
            row[1].value = value

        return edit

    for value in (None, "#REF!", "lots"):
        with pytest.raises(ValueError, match="no cost of cloud"):
            read_review(edited(data, spoil(value)))
    costs = {fact.subject: fact.value for fact in read_review(edited(data, spoil(1234.5))).facts}
    assert costs["cloud: total cost"] == 1234.5
    with pytest.raises(ValueError, match="no workbook of a plan"):
        read_review(edited(data, lambda book: book["Summary"].__setattr__("title", "Other")))
    with pytest.raises(ValueError, match="damaged"):
        read_review(data[:2000])


def test_a_record_names_each_fact_once(cloud, hours):
    kept = build_review_record(cloud(hours("T4", 1000), hours("T4", 5, "b")))
    named = [(fact.topic, fact.subject) for fact in kept.facts]
    assert len(named) == len(set(named))


def test_regions_that_were_asked_for_are_no_decision(cloud, hours):
    """3 x 1,000 hours at 0.5 in us-east-1, then at 0.7 in us-west-2, the only region allowed: 1,500 and 2,100. All of
    the 600 was asked for, as the limit on hardware was, which changes nothing."""
    prices = {(*T4, "on_demand"): 0.5, ("aws", "us-west-2", "g4dn.xlarge", "on_demand"): 0.7}
    job = hours("T4", 1000, may_be_owned=False)
    old = cloud(job, prices=prices, regions=["us-east-1"])
    new = cloud(job, prices=prices, regions=["us-west-2"], limits={"capex_per_year": 1000})
    found = holds(old, new)
    assert rows(found, "request") == {
        "regions": ("us-east-1", "us-west-2", None),
        "limits: capex per year": (None, "1,000", None),
    }
    steps = {step.cause: step for step in found.causes.steps}
    assert (steps["limit"].total, steps["decisions"].total) == pytest.approx((600, 0))
    assert {(part.name, part.old, part.new) for part in steps["limit"].parts} >= {
        ("regions", "us-east-1", "us-west-2"), ("limits: capex per year", None, "1,000"),
    }  # fmt: skip
    assert steps["decisions"].parts == ()


def test_a_choice_within_the_same_limits_stays_a_decision(cloud, hours):
    """Both regions are allowed in both; the old prices make us-east-1 the place, the new ones us-west-2, 3 x 1,000 x
    (0.7 - 0.5) dearer. The new plan names no price of us-east-1 any more, so none of it is a price."""
    east, west = (*T4, "on_demand"), ("aws", "us-west-2", "g4dn.xlarge", "on_demand")
    job, both = hours("T4", 1000, may_be_owned=False), {"regions": ["us-east-1", "us-west-2"]}
    found = holds(cloud(job, prices={east: 0.5, west: 0.7}, **both), cloud(job, prices={east: 0.8, west: 0.7}, **both))
    assert rows(found, "request") == {}
    steps = {step.cause: step for step in found.causes.steps}
    assert steps["limit"].parts == ()
    assert steps["decisions"].total == pytest.approx(600)


def test_what_plans_of_before_asked_is_not_known(cloud, hours):
    made = cloud(hours("T4", 1000), regions=["us-east-1"])
    assert list_changes(dataclasses.replace(made, settings=None), made).of("request") == ()
