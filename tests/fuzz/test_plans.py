"""Random requests over the whole schema: each ends with a plan that the checker passes, with a refusal that names the
fault, or with reasons that, once mended, make it possible.

`python -m tests.fuzz.plans 0 2000 --keep FILE` is the long run; a fault names its seed, and `python -m tests.fuzz.plans
SEED 1` is it again.
"""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable
from itertools import count, islice
from pathlib import Path

import pytest

from planner.request.models import Request
from tests.fuzz.plans.answer import Answer
from tests.fuzz.plans.check_work import standing_nodes_are_whole
from tests.fuzz.plans.checker import find_faults
from tests.fuzz.plans.defects import DEFECTS, IN_THE_PLAN, SMALL, plant
from tests.fuzz.plans.draw import AS_OF, EXCHANGE_RATES, RATES_FILE, draw
from tests.fuzz.plans.question import Question
from tests.fuzz.plans.run import check_request, run_seed
from tests.golden.runner import case_folder, run_command

ROOT = Path(__file__).parents[2]
FOUND = sorted(Path(__file__).with_name("found").glob("*.json"))
"""Requests in which a fault was found and mended."""
QUICK = 5
"""Small requests in the tests of every day."""
SLOW, OF_SLOW = 400, 50


@pytest.fixture(autouse=True)
def _folder():
    with case_folder({RATES_FILE: EXCHANGE_RATES}) as folder:
        yield folder


@pytest.fixture(scope="module")
def plans() -> dict[str, dict]:
    made = {}
    with case_folder({}):
        for name, request in SMALL.items():
            Path("request.json").write_text(json.dumps({"as_of": AS_OF, **request}))
            answer = run_command(["estimate", "request.json", "--format", "json"])
            assert answer.code == 0, answer.errors
            made[name] = json.loads(answer.printed)
    return made


def run_seeds(seeds: Iterable[int]) -> None:
    outcomes = [run_seed(seed, own_process=seed % 25 == 0) for seed in seeds]
    assert [f"{each.seed}: {fault}" for each in outcomes for fault in each.faults] == []
    assert Counter(each.code for each in outcomes)[0] > len(outcomes) / 3


def is_small(document: dict) -> bool:
    named = len(document.get("providers", "any")) == 1
    return named and document["months"] * len(document["workloads"]) <= 3


def names_in(value: object) -> set[str]:
    if isinstance(value, dict):
        return {*value, *(name for each in value.values() for name in names_in(each))}
    return {name for each in value for name in names_in(each)} if isinstance(value, list) else set()


NOT_DRAWN = {"mixed_accelerators", "fiscal_year_starts"}
"""The first divides a service before planning: the plan has other workloads (tests/planner/serving/test_division.py).
The second changes no decision: tests/planner/test_fiscal_quarters.py."""


def test_the_requests_are_of_the_whole_schema():
    schema = Request.model_json_schema()
    fields = {name for each in (schema, *schema["$defs"].values()) for name in each.get("properties", ())}
    drawn = {name for seed in range(2_000) for name in names_in(draw(seed).document)}
    assert fields - drawn == NOT_DRAWN


def test_some_random_requests():
    run_seeds(islice((seed for seed in count() if is_small(draw(seed).document)), QUICK))


@pytest.mark.slow
@pytest.mark.parametrize("first", range(10_000, 10_000 + SLOW, OF_SLOW))
def test_random_requests(first):
    run_seeds(range(first, first + OF_SLOW))


@pytest.mark.parametrize("path", FOUND, ids=lambda path: path.stem)
def test_what_was_found_stays_mended(path):
    assert check_request(json.loads(path.read_text(encoding="utf-8"))).faults == []


def test_the_checker_imports_nothing_of_the_product():
    code = "import sys, tests.fuzz.plans.checker; print(sorted({name.partition('.')[0] for name in sys.modules}))"
    shown = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert "'tests'" in shown
    assert not {"planner", "pricing", "highspy", "pydantic"} & set(ast.literal_eval(shown))


@pytest.mark.parametrize("name", SMALL)
def test_the_checker_passes_sound_plans(plans, name):
    assert list(map(str, find_faults({"as_of": AS_OF, **SMALL[name]}, plans[name]))) == []


@pytest.mark.parametrize(("spares", "short"), [(3, []), (4, ["too few replicas in all places"])])
def test_the_checker_lets_replicas_be_of_the_size_of_which_most_stand(spares, short):
    """One request a second is one replica of one T4, or one of four at ten times its speed, and the spares beside. A
    node of four T4s holds four small replicas (all with 3 spares, 4 of 5 with 4) and one large (1 of 4, 1 of 5),
    although it does more work with that."""
    job = {"name": "api", "kind": "inference", "spread": True, "spare_replicas": spares}
    question = Question({"as_of": AS_OF, "months": 1, "workloads": [job | {"demand": {"requests_per_second": 1}}]})
    rates = [{"gang": 1, "units_per_hour": 3_600}, {"gang": 4, "units_per_hour": 36_000}]
    plan = {"assumptions": [], "block_of_hour": [], "throughput": [
        {"workload": "api", "accelerator": "T4-16GB", "explanation": []} | each for each in rates]}  # fmt: skip
    use = {
        "workload": "api", "month": 1, "what": "hourly", "provider": "aws", "region": "us-east-1",
        "name": "g4dn.12xlarge", "purchase_option": "on_demand", "accelerator": "T4-16GB", "accelerators_per_node": 4,
        "node_hours": 730, "nodes": 1, "units": 3_600 * 730, "block_nodes": [],
    }  # fmt: skip
    answer = Answer(question, plan, {"name": "cloud", "uses": [use], "purchases": []})
    assert [fault.rule for fault in standing_nodes_are_whole(answer)] == short


@pytest.mark.one_in(4)
@pytest.mark.parametrize("defect", DEFECTS)
def test_the_checker_finds_a_defect_of_a_strategy(plans, defect):
    name, strategy, change, rule = DEFECTS[defect]
    found = find_faults({"as_of": AS_OF, **SMALL[name]}, plant(plans[name], strategy, change))
    assert rule in {fault.rule for fault in found}


@pytest.mark.parametrize("defect", IN_THE_PLAN)
def test_the_checker_finds_a_defect_of_a_plan(plans, defect):
    name, change, rule = IN_THE_PLAN[defect]
    found = find_faults({"as_of": AS_OF, **SMALL[name]}, plant(plans[name], "", change))
    assert rule in {fault.rule for fault in found}
