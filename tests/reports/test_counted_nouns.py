"""No report and no answer of a small case says «1 months»: numbers and nouns go through one function."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.application import plan as plan_request
from planner.reports import formats, load
from planner.request.models import parse_request
from pricing.catalog.price_catalog import Catalog
from pricing.counted_nouns import format_count

NOUNS = (
    "accelerators|cases|columns|commitments|days|draws|files|gaps|hours|lines|machines|months|nodes|orders|others|places"
    "|prices|problems|regions|remarks|replicas|rows|samples|scenarios|sheets|teams|types|values|workloads|years"
)
ONE_OF_SEVERAL = re.compile(rf"(?<![\w.,/$:-])1 (?:{NOUNS})\b(?! (?:=|out))")
TEXTS = ("text", "markdown", "html", "csv")
JOB = {"name": "job", "kind": "training", "demand": {"accelerator_hours_per_month": 1, "accelerator": "L4"}}
SERVICE = {
    "name": "serve", "team": "Ads", "kind": "inference", "budget_per_month": 1,
    "demand": {"accelerator_hours_per_month": 730, "accelerator": "H100"},
}  # fmt: skip
CASES = {
    "a job of a month": {"months": 1, "workloads": [JOB], "strategies": ["cloud"]},
    "a team over its budget": {"months": 1, "workloads": [SERVICE], "strategies": ["cloud"]},
    "a year in one fiscal year": {"months": 13, "workloads": [JOB, SERVICE], "fiscal_year_starts": 12},
    "one month to arrive": {
        "months": 24, "workloads": [SERVICE], "assumptions": {"lead_time_months": 1}, "strategies": ["onprem", "cloud"],
    },
    "risk": {
        "months": 1, "workloads": [SERVICE], "strategies": ["cloud"], "risk": {"draws": 100, "reoptimise": 1},
    },
    "nothing possible": {"months": 1, "workloads": [{**JOB, "demand": {**JOB["demand"], "accelerator": "H100"}}],
                         "regions": ["eu-north-1"], "limits": {"capex_per_year": 1}, "strategies": ["onprem"]},
}  # fmt: skip
"""Small plans, in which most counts are 1."""


@pytest.mark.one_in(6)
@pytest.mark.parametrize("case", CASES)
def test_reports_count_one_in_the_singular(case: str) -> None:
    document = {"as_of": "2026-11-21", "start": "2026-12", "effort": "quick", **CASES[case]}
    found = plan_request(parse_request(document), Catalog.embedded())
    for name in TEXTS:
        text = load(name).render(found).decode()
        assert [match[0] for match in ONE_OF_SEVERAL.finditer(text)] == [], name
    sentences = re.findall(r'"text": "([^"]*)"', json.dumps(json.loads(load("json").render(found))))
    assert [text for text in sentences if ONE_OF_SEVERAL.search(text)] == []


def test_the_formats_scanned_exist() -> None:
    assert set(TEXTS) <= set(formats())


@given(st.integers(-5, 10**6), st.sampled_from(["day", "open box", "entry", "switch", "free quota"]))
def test_only_one_is_singular(number: int, noun: str) -> None:
    text = format_count(number, noun)
    assert text.startswith(f"{number:,} ")
    assert text.endswith(noun) == (number == 1)
