"""Names that users write: whatever they hold, they reach Terraform as quoted values and nothing else.

Every emitted file is parsed back with python-hcl2, a parser that is none of ours, and what it reads is what was given.
"""

from __future__ import annotations

import re
import runpy
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import hcl2
import pytest
from hcl2.utils import SerializationOptions
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.reports.terraform import files
from planner.result import InputProvenance, InputReading, Plan, QuotaRequest

NASTY = st.text(st.sampled_from('a"\\$%{}~\n\r\t`|<#/*é😀\x00\x1b\u2028\u202e\ud800'), min_size=1, max_size=30)
NAMES = NASTY | st.text(min_size=1, max_size=200)
ESCAPE = re.compile(r'\\(?:u([0-9a-f]{4})|U([0-9a-f]{8})|(["\\nrt]))|\$\$\{|%%\{')
PLAIN = {"n": "\n", "r": "\r", "t": "\t", '"': '"', "\\": "\\"}


def meant(literal: str) -> str:
    """The string that a quoted literal means by HCL's rules; fails where a template or a quote in it is alive."""
    inside = literal.removeprefix('"').removesuffix('"')
    rest = ESCAPE.sub(" ", inside)
    assert not re.search(r'"|\\|\$\{|%\{', rest), literal
    return ESCAPE.sub(
        lambda m: m[0][1:] if m[0][0] in "$%" else PLAIN[m[3]] if m[3] else chr(int(m[1] or m[2], 16)), inside
    )


def clean(name: str) -> str:
    return re.sub("[\ud800-\udfff]", "\ufffd", name)


def parsed(text: str) -> dict[str, Any]:
    found: dict[str, Any] = hcl2.loads(text, serialization_options=SerializationOptions(strip_string_quotes=False))
    return found


@cache
def plain_plan() -> Plan:
    plan: Plan = runpy.run_path(str(Path(__file__).with_name("conftest.py")))["PLANS"]["gcp_n1"]
    return plan


def hostile(name: str, team: str) -> Plan:
    """A plan whose every name of a user's is `name` or `team`, with quota and storage."""
    plan = plain_plan()
    uses = tuple(replace(item, workload=name) for item in plan.strategies[0].uses)
    quota = QuotaRequest(
        "hybrid", "gcp", "us-west1", "NVIDIA_T4_GPUS", name, "accelerator", 0, 0, 4, 4, 1, (name,), plan.as_of, "s"
    )
    return replace(
        plan,
        plan_id=name,
        strategies=(replace(plan.strategies[0], uses=uses),),
        workloads=(replace(plan.workloads[0], name=name, team=team),),
        quota_requests=(quota,),
        inputs=InputProvenance(
            name, "yaml", "", readings=(InputReading("workloads[0].storage_gb", name, "500", "500"),)
        ),
    )


@settings(max_examples=settings.default.max_examples // 2)
@given(NAMES, NAMES)
def test_a_hostile_name_stays_inside_quotes(name: str, team: str) -> None:
    before, after = files(hostile("w", "t")), files(hostile(name, team))
    for path in ("gcp/main.tf", "gcp/variables.tf", "gcp/outputs.tf", "gcp/versions.tf"):
        stable = re.compile(r"storage[_-][0-9a-f]{8}")  # a name of our own, made from the workload's digest
        assert stable.sub("", after[path].decode()) == stable.sub("", before[path].decode()), path
    values = parsed(after["gcp/terraform.tfvars"].decode())
    assert set(values) == set(parsed(before["gcp/terraform.tfvars"].decode()))
    assert meant(values["plan_id"]) == clean(name)
    assert {meant(item) for pool in values["workloads"].values() for item in pool} == {clean(name)}
    assert {meant(item) for pool in values["teams"].values() for item in pool} == {clean(team)}
    for store in values.get("storage", {}).values():
        assert meant(store["workload"]) == clean(name)
    for request in values.get("quota_requests", []):
        assert meant(request["title"]) == clean(name)


@settings(max_examples=settings.default.max_examples // 4)
@given(NAMES)
def test_every_emitted_file_is_still_hcl(name: str) -> None:
    for path, content in files(hostile(name, name)).items():
        if path.endswith((".tf", ".tfvars")) and "/modules/" not in path:
            assert hcl2.loads(content.decode())


@settings(max_examples=settings.default.max_examples // 2)
@given(NASTY)
def test_types_regions_and_options_of_a_plan_from_elsewhere_are_quoted_too(name: str) -> None:
    """A plan.json may come from anyone: its instance types and regions are texts as well."""
    plan = plain_plan()
    use = replace(plan.strategies[0].uses[0], name="a2-highgpu-1g", region=name)
    text = files(replace(plan, strategies=(replace(plan.strategies[0], uses=(use,)),)))["gcp/main.tf"].decode()
    bodies = [b for c in parsed(text)["module"] for label, b in c.items() if label != "__is_block__"]
    (body,) = [b for b in bodies if "machine_type" in b]
    assert meant(body["region"]) == clean(name)


@pytest.mark.parametrize("live", ["${", "%{", "<script>", "\x1b", "\u202e"])
def test_a_hostile_name_is_not_alive_in_the_readme_or_the_code(plans: dict[str, Plan], live: str) -> None:
    for path, content in files(plans["hostile"]).items():
        if "/modules/" in path:
            continue
        rest = content.decode().replace('"${var.name_prefix}-', "").replace("$${", "").replace("%%{", "")
        assert live not in rest or (path.endswith(".tfvars") and live == "<script>"), path
