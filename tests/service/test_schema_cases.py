"""Requests made from the OpenAPI document by Schemathesis: no answer is a fault of the service, all are as described.

PLANNER_SCHEMA_CASES=10000 asks for so many, which takes half an hour. Three quarters of those that plan are fed with
demands that can be planned, as texts made from a schema hardly ever name an accelerator.
"""

from __future__ import annotations

import math
import os
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.doors.conftest import HOURS, serving

# The service runs in a thread of this process: what it uses may draw from the shared generator while a case is made.
pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore:Do not use the `random` module inside strategies"),
]

CASES = int(os.environ.get("PLANNER_SCHEMA_CASES", "2000"))
LEAST_PLANNED = 0.3
SEARCH_SECONDS = 20
PLANNING = ("/plan", "/v1/plans", "/v1/plans/file", "/v1/plans/{plan_id}/again")
PLANNING_SHARE = 0.7
CHECKS = [
    schemathesis.checks.content_type_conformance,
    schemathesis.checks.status_code_conformance,
    schemathesis.checks.response_schema_conformance,
]


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    from planner.service import ServiceLimits

    limits = ServiceLimits(workers=2, seconds=SEARCH_SECONDS, grace_seconds=SEARCH_SECONDS)
    with serving(limits) as client:
        yield str(client.base_url).rstrip("/")


@pytest.fixture(scope="module")
def schema(site) -> Any:
    return schemathesis.openapi.from_url(f"{site}/openapi.json")


@pytest.fixture(scope="module")
def known(site) -> list[str]:
    """Ids of plans that are there when the cases begin."""
    with httpx.Client(base_url=site, timeout=600) as client:
        return [client.post("/plan", json=HOURS | {"months": months}).json()["plan_id"] for months in (1, 2, 3)]


ACCELERATORS = st.sampled_from(["L4", "T4", "A10G", "H100", "A100-80GB"])
DEMANDS = st.fixed_dictionaries(
    {"accelerator_hours_per_month": st.floats(1, 20_000), "accelerator": ACCELERATORS},
)
WORKLOADS = st.fixed_dictionaries(
    {"name": st.text("abc äß漢'\"<>&", min_size=1, max_size=12).filter(str.strip), "demand": DEMANDS},
    optional={"team": st.text(max_size=8), "budget_per_month": st.floats(0, 1e6), "residency": st.just("eu")},
)
REQUESTS = st.fixed_dictionaries(
    {
        "workloads": st.lists(WORKLOADS, min_size=1, max_size=2, unique_by=lambda each: each["name"].strip()),
        "months": st.integers(1, 3),
        "strategies": st.just(["cloud"]),
        "as_of": st.just("2026-11-21"),
    },
    optional={"currency": st.sampled_from(["USD", "EUR"]), "effort": st.just("quick")},
)
FED = st.sampled_from([True, True, True, False])
QUERIES = st.fixed_dictionaries({}, optional={"months": st.integers(1, 3), "measured_only": st.booleans()})


def csv_file(workloads: list[tuple[str, float]]) -> bytes:
    rows = (
        f"{name},{accelerator},{hours:.1f},1"
        for number, (accelerator, hours) in enumerate(workloads)
        for name in [f"w{number}"]
    )
    return "\n".join(("name,accelerator,hours per month,gpus", *rows)).encode()


FILES = st.lists(st.tuples(ACCELERATORS, st.floats(1, 730)), min_size=1, max_size=2).map(csv_file)


@st.composite
def fed_cases(draw: Any, operation: Any, known: list[str]) -> Any:
    """A case of an operation; half of them have what can be planned or found in place of what the schema gave."""
    case = draw(operation.as_strategy())
    if "plan_id" in case.path_parameters and draw(st.booleans()):
        case.path_parameters["plan_id"] = draw(st.sampled_from(known))
    if operation.path not in PLANNING or not draw(FED):
        return case
    case.query = draw(QUERIES)
    if operation.path != PLANNING[0]:
        case.headers["Prefer"] = f"wait={2 * SEARCH_SECONDS}"
        case.headers.pop("Idempotency-Key", None)
    if operation.path == PLANNING[2]:
        case.body, case.query = {"file": draw(FILES)}, {**case.query, "name": "plan.csv"}
    elif operation.path != PLANNING[3]:
        case.body = draw(REQUESTS)
    return case


def test_every_case_has_an_answer_as_described(site, schema, known, record_property):
    operations = [each.ok() for each in schema.get_all_operations()]
    posts = [each for each in operations if each.method == "post" and each.path in PLANNING]
    assert sorted(each.path for each in posts) == sorted(PLANNING)
    counted: Counter[tuple[str, int]] = Counter()
    asked: Counter[str] = Counter()
    others = [each for each in operations if each not in posts]
    for operation in others:  # some of them have only one case
        run_cases(site, operation, known, round(CASES * (1 - PLANNING_SHARE) / len(others)) + 1, counted, asked)
    left = CASES - sum(asked.values())
    for operation in posts:
        run_cases(site, operation, known, math.ceil(left / len(posts)), counted, asked)
    total = sum(asked.values())
    made = sum(count for (path, status), count in counted.items() if path in PLANNING and status == 200)
    planned = made / sum(asked[f"post {path}"] for path in PLANNING)
    record_property("cases", total)
    record_property("planned", f"{planned:.0%} of the POSTs")
    record_property("answers", str(sorted(counted.items())))
    assert total >= CASES
    assert planned >= LEAST_PLANNED, sorted(counted.items())


def find_outcome(site: str, answer: Any) -> int:
    """The status of an answer; of a plan that is still made, the status that it ends with."""
    status: int = answer.status_code
    if status == 202 and answer.request.method == "POST":
        location = answer.headers["location"][0]
        while (status := httpx.get(f"{site}{location}", timeout=600).status_code) == 202:
            time.sleep(0.05)
    return status


def run_cases(site: str, operation: Any, known: list[str], count: int, counted: Counter, asked: Counter) -> None:
    @settings(max_examples=count, phases=[Phase.generate], deadline=None, suppress_health_check=list(HealthCheck))
    @given(fed_cases(operation, known))
    def ask(case: Any) -> None:
        if operation.method == "delete" and case.path_parameters.get("plan_id") in known:
            case.path_parameters["plan_id"] = "gone"  # the others look these plans up
        answer = case.call(base_url=site, timeout=600)
        asked[f"{operation.method} {operation.path}"] += 1
        counted[operation.path, find_outcome(site, answer)] += 1
        assert answer.status_code < 500 or answer.status_code == 503, (answer.status_code, answer.text[:500])
        case.validate_response(answer, checks=CHECKS)

    ask()
