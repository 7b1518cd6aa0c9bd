"""The content digest: what it covers, written out by hand, and what leaves it as it is."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from dataclasses import fields, is_dataclass, replace
from datetime import date
from pathlib import Path

import pytest

from planner.application import plan
from planner.reports._content.sections import status_text
from planner.reports.json import loads, render
from planner.result import Plan, Recommendation, RequestedWorkload, Strategy
from planner.result.content_digest import COVERED, canonical_text, digest_content
from planner.result.message import Message

EAST = ("aws", "us-east-1")
PRICES = {(*EAST, "g4dn.xlarge", "on_demand"): 0.5, (*EAST, "g4dn.12xlarge", "on_demand"): 2.0}


def small(**more) -> Plan:
    """A plan of one month that nothing serves."""
    reason = Message("nothing_fits", {"needed_gib": 80.0}, "Nothing fits.")
    strategies = (Strategy("cloud", "infeasible", 0.0, 0.0, 0.0, 0.0, reasons=(reason,), candidates=7),)
    job = RequestedWorkload("job", "ml", "batch", "tokens", (1 / 3,), (), 1.0, False, "A2", None, "")
    fields = {
        "schema_version": "2", "plan_id": "abc", "status": "infeasible", "as_of": date(2026, 11, 21),
        "start": "2026-12", "months": 1, "month_names": ("2026-12",), "currency": "USD", "hours_per_month": 730.0,
        "discount_rate_annual": 0.08, "conventions": (), "strategies": strategies, "break_even": (), "prices": (),
        "recommendation": Recommendation(None, Message("no_plan_possible"), None, 0.0, 0.0), "workloads": (job,),
        "throughput": (), "oldest_price": None, "assumptions": (), "gaps": (), "inputs": None, "catalog_digest": "d",
    }  # fmt: skip
    return Plan(**(fields | more))


def test_the_text_that_is_hashed_by_hand():
    text = (
        '{"as_of":"2026-11-21","assumptions":[],"currency":"USD","discount_rate_annual":"0.08","exchange_rates":[],'
        '"hours_per_month":"730","months":"1","prices":[],"reasons":[],'
        '"recommendation":{"runner_up":null,"strategy":null},"start":"2026-12","status":"infeasible",'
        '"strategies":[{"cash":[],"cut_by_clock":false,"name":"cloud","present_cost":"0","purchases":[],'
        '"reasons":[{"code":"nothing_fits","parameters":{"needed_gib":"80"}}],"status":"infeasible","total_cost":"0",'
        '"uses":[],"workloads":[]}],'
        '"workloads":[{"demand":["0.333333"],"kind":"batch","name":"job","unit":"tokens"}]}'
    )
    assert canonical_text(small()) == text
    assert digest_content(small()) == hashlib.sha256(text.encode()).hexdigest()[:12]


def test_ids_sentences_and_the_size_of_the_search_change_nothing():
    plain = small()
    strategy = replace(plain.strategies[0], candidates=8, columns=9, bound=1.0, gap_fraction=1.0)
    reworded = replace(strategy, reasons=(replace(strategy.reasons[0], text="Another sentence."),))
    other = small(plan_id="x", catalog_digest="y", schema_version="3", strategies=(reworded,))
    assert digest_content(other) == digest_content(plain)


def test_the_last_bits_of_a_float_change_nothing_and_its_ninth_digit_does():
    """0.1 + 0.2 is 0.30000000000000004."""
    found = [digest_content(small(discount_rate_annual=rate)) for rate in (0.3, 0.1 + 0.2, 0.300001)]
    assert found[0] == found[1] != found[2]


def variants(value):
    """The value with one thing in it changed, for each thing in it that is covered."""
    if is_dataclass(value):
        for name in COVERED.get(type(value)) or [field.name for field in fields(value)]:
            yield from (replace(value, **{name: changed}) for changed in variants(getattr(value, name)))
    elif isinstance(value, dict):
        for name, one in value.items():
            yield from ({**value, name: changed} for changed in variants(one))
    elif isinstance(value, tuple):
        yield (*value, *(value[-1:] or ("more",)))
        for index, one in enumerate(value):
            yield from ((*value[:index], changed, *value[index + 1 :]) for changed in variants(one))
    else:
        yield other_than(value)


def other_than(value):
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1
    return date(2020, 1, 1) if isinstance(value, date) else f"{value or ''}x"


def test_every_decision_amount_and_price_counts(priced, ask, hours):
    catalog = priced(PRICES)
    found = plan(ask(hours("T4", 700), hours("T4", 80, "other"), months=2), catalog)
    digests = [digest_content(changed) for changed in variants(found)]
    assert len(digests) > 100
    assert len({found.content_digest, *digests}) == len(digests) + 1


def test_another_price_changes_it_where_the_request_is_the_same(priced, ask, hours):
    """By a thousandth of what is paid: 700 h x 0.5 a month."""
    request = ask(hours("T4", 700), months=1, strategies=["cloud"])
    one = plan(request, priced(PRICES))
    dearer = plan(request, priced({**PRICES, (*EAST, "g4dn.xlarge", "on_demand"): 0.5005}))
    assert one.content_digest != dearer.content_digest


def test_order_of_workloads_and_of_keys_changes_nothing(priced, ask, hours):
    catalog = priced(PRICES)
    jobs = [hours("T4", 700), hours("T4", 80, "other")]
    turned = [dict(reversed(job.items())) for job in reversed(jobs)]
    one, other = (plan(ask(*each, months=2), catalog) for each in (jobs, turned))
    assert one.content_digest == other.content_digest
    assert one.plan_id != other.plan_id


def test_a_plan_read_back_has_the_digest_that_it_shows(priced, ask, hours):
    found = plan(ask(hours("T4", 700), months=2), priced(PRICES))
    assert found.content_digest == digest_content(found) == digest_content(loads(render(found)))


@pytest.mark.one_in(2)
@pytest.mark.parametrize("seed", ["0", "4711"])
def test_another_process_with_another_hash_seed_gives_the_same_digest(tmp_path, seed, hours):
    """The command, for a request written in another order, against this process."""
    request = {
        "as_of": "2026-11-21", "months": 2, "strategies": ["cloud"], "workloads": [hours("T4", 700)],
        "providers": ["aws"],
    }  # fmt: skip
    from planner.request.models import parse_request
    from pricing.catalog.price_catalog import Catalog

    expected = plan(parse_request(request), Catalog.current()).content_digest
    source, target = tmp_path / "request.json", tmp_path / "plan.json"
    source.write_text(json.dumps(dict(reversed(request.items()))), encoding="utf-8")
    arguments = [Path(sys.executable).with_name("planner"), "estimate", str(source), "-o", str(target)]
    environment = {**os.environ, "PYTHONHASHSEED": seed}
    subprocess.run(arguments, env=environment, check=True, capture_output=True)
    assert json.loads(target.read_text(encoding="utf-8"))["content_digest"] == expected


def test_a_strategy_that_no_plan_was_found_for_in_time_is_not_called_infeasible():
    by_clock = (Message("solver_time_limit", {}, ""),)
    found = replace(small().strategies[0], cut_by_clock=True, reasons=by_clock)
    assert status_text(found) == "not solved, cut by clock"
    by_work = replace(found, cut_by_clock=False, reasons=(Message("solver_work_limit", {}, ""),))
    assert status_text(by_work) == "not solved"
    assert status_text(replace(by_work, reasons=())) == "infeasible"


def test_a_plan_cut_by_the_clock_says_so_and_has_another_digest(priced, ask, hours, monkeypatch):
    from planner.optimization import solve_strategies
    from planner.reports import load

    solve = solve_strategies.solve_strategy
    request, catalog = ask(hours("T4", 700), months=2, strategies=["cloud"]), priced(PRICES)
    whole = plan(request, catalog)

    def cut(name, *rest):
        solved = solve(name, *rest)
        return replace(solved, strategy=replace(solved.strategy, status="within_gap", cut_by_clock=True))

    monkeypatch.setattr(solve_strategies, "solve_strategy", cut)
    found = plan(request, catalog)
    assert found.plan_id == whole.plan_id
    assert found.content_digest != whole.content_digest
    assert found.recommendation.reasons[0].code == "cut_by_clock"
    for format_name in ("text", "markdown"):
        shown = load(format_name).render(found).decode()
        assert "within the gap, cut by clock" in " ".join(shown.split())
        assert "Cut by clock (" in shown
