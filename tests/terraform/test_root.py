"""What is emitted for a plan, without any binary: counts by hand, existing arguments, the same bytes, no live text."""

from __future__ import annotations

import io
import os
import re
import runpy
import subprocess
import sys
import zipfile
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.answer import Plan, Recommendation, RequestedWorkload
from planner.reports.terraform import MEDIA_TYPE, SUFFIX, files, render
from planner.shipped import hcl
from planner.shipped.pools import SHARED, clouds

MODULES = {f"./modules/{m.provider}/{m.name}": m for cloud in clouds().values() for m in cloud.modules}
META = {"source", "providers"}


def calls(text: str) -> dict[str, dict[str, str]]:
    """Module calls of a main.tf: label -> argument -> expression."""
    blocks = [block for block in hcl.BLOCK.finditer(text) if block["kind"] == "module"]
    return {b["label"]: {a["name"]: a["value"] for a in hcl.ATTRIBUTE.finditer(b["body"])} for b in blocks}


def counts(plan: Plan) -> dict[str, int]:
    """Nodes that each module call starts with."""
    found = calls(files(plan)["main.tf"].decode())
    return {label: int(re.findall(r"(\d+)\)$", call["node_count"])[0]) for label, call in found.items()}


def test_it_is_a_format() -> None:
    assert (MEDIA_TYPE, SUFFIX) == ("application/zip", ".zip")


def test_every_argument_is_a_variable_of_its_module_and_none_is_missing(plan: Plan) -> None:
    for label, call in calls(files(plan)["main.tf"].decode()).items():
        module = MODULES[call["source"].strip('"')]
        given_ = set(call) - META
        assert given_ <= set(module.variables), label
        assert {name for name, variable in module.variables.items() if variable.required} <= given_, label
        assert set(SHARED) <= given_


def test_every_variable_that_is_referred_to_is_declared_and_the_reverse(plan: Plan) -> None:
    written = files(plan)
    declared = hcl.variables(written["variables.tf"].decode())
    used = set(re.findall(r"var\.(\w+)", written["main.tf"].decode()))
    assert used == set(declared)
    example = written["terraform.tfvars.example"].decode()
    assert set(re.findall(r"^(\w+) =", example, re.MULTILINE)) == {n for n, v in declared.items() if v.required}


def test_the_root_holds_no_resource(plan: Plan) -> None:
    for name, content in files(plan).items():
        if "/" not in name and name.endswith(".tf"):
            assert not re.search(r"^\s*(resource|data|locals|provisioner)\b", content.decode(), re.MULTILINE), name


def test_the_modules_are_the_shipped_ones(plan: Plan) -> None:
    for name, content in files(plan).items():
        if name.startswith("modules/"):
            _, provider, module, file = name.split("/")
            assert content == (MODULES[f"./modules/{provider}/{module}"].folder / file).read_bytes()


def test_names_of_pools_and_of_resources_differ_and_obey_the_limit(plan: Plan) -> None:
    names = [call["name"] for call in calls(files(plan)["main.tf"].decode()).values()]
    assert len(set(names)) == len(names)
    longest = [name.strip('"').replace("${var.name_prefix}", "abcdef") for name in names]
    assert all(re.fullmatch(r"[a-z][-a-z0-9]{0,38}[a-z0-9]", name) for name in longest)


def test_nodes_are_those_of_the_busiest_month_rounded_up(plans: dict[str, Plan]) -> None:
    # p5 on demand: month 1 has 1.4 rented and 2 committed = 3.4 -> 4 nodes, month 2 has 3 committed -> 3; the most is 4
    # g6e: 0.2 -> 1; g4ad: 5 in month 2 only
    assert counts(plans["aws"]) == {
        "aws_eu_west_1_g6e_xlarge_spot": 1,
        "aws_eu_west_1_trn1_32xlarge_on_demand": 1,
        "aws_us_east_1_p5_48xlarge_on_demand": 4,
        "aws_us_east_2_g4ad_xlarge_spot": 5,
        "aws_us_east_2_p5en_48xlarge_capacity_block": 2,
    }


def test_rounding_forgives_the_noise_of_a_solver(build: Callable[..., Plan]) -> None:
    assert counts(build([("aws/us-east-1", "p5.48xlarge", "on_demand", 3.0000000001)])) == {
        "aws_us_east_1_p5_48xlarge_on_demand": 3
    }


def test_workloads_that_share_committed_nodes_do_not_add_up_beyond_them() -> None:
    # 3 nodes are committed; two workloads use 3 and 2.5 of them in turn; 1.2 more are rented: min(5.5, 3) + 1.2 -> 5
    made = runpy.run_path(str(Path(__file__).with_name("conftest.py")))
    place = ("aws/us-east-1", "p5.48xlarge")
    uses = [
        made["use"](*place, "reserved_1y_no_upfront", 3, workload="a"),
        made["use"](*place, "reserved_1y_no_upfront", 2.5, workload="b"),
        made["use"](*place, "on_demand", 1.2, workload="b"),
    ]
    plan = made["make_plan"](uses, [made["commitment"](*place, "reserved_1y_no_upfront", 3)])
    assert counts(plan) == {"aws_us_east_1_p5_48xlarge_on_demand": 5}


def test_a_gang_gets_all_its_nodes_however_short_it_runs(build: Callable[..., Plan]) -> None:
    # a gang of 20 accelerators on nodes of 8 needs ceil(20 / 8) = 3 nodes, though it works 0.1 x 730 node-hours
    plan = build([("aws/us-east-1", "p5.48xlarge", "on_demand", 0.1)], gangs={"w": 20})
    assert counts(plan) == {"aws_us_east_1_p5_48xlarge_on_demand": 3}


def test_the_readme_tells_counts_costs_and_what_is_bought_elsewhere(plans: dict[str, Plan]) -> None:
    text = files(plans["aws"])["README.md"].decode()
    assert "| 2026-12 | 4 | 2,482 | 140 |\n| 2027-01 | 3 | 2,190 | - |" in text
    assert "| 2026-12 | aws | us-east-1 | `p5.48xlarge` | reserved_1y_no_upfront | 3 | 12 | 500 | 900 |" in text
    assert "| `aws_subnet_ids` | yes |" in text
    everything = files(plans["three_clouds"])["README.md"].decode()
    assert "1 x `ct3-hightpu-4t` in gcp us-central1, on_demand: it is a node-pool machine" in everything
    assert "1 x `BM.GPU.H100.8` in oci eu, on_demand: there are no modules for oci." in everything
    assert "| 2026-12 | 2027-03..2032-02 | DGX H100 | 8 x H100-80GB-SXM | 2 | 300,000 | 4,000 |" in everything


def test_without_a_cloud_part_there_is_only_a_readme_that_says_so(rootless: Plan) -> None:
    written = files(rootless)
    assert list(written) == ["README.md"]
    assert "no Terraform here" in written["README.md"].decode()


def test_an_infeasible_plan_has_only_its_reasons(plans: dict[str, Plan]) -> None:
    nothing = Recommendation(None, "No plan is possible.", None, 0.0, 0.0)
    plan = replace(
        plans["aws"], status="infeasible", recommendation=nothing, strategies=(), reasons=("no GPU fits `x`",)
    )
    written = files(plan)
    assert list(written) == ["README.md"]
    assert "- no GPU fits \\`x\\`" in written["README.md"].decode()


def test_the_same_plan_gives_the_same_bytes(plan: Plan) -> None:
    assert render(plan) == render(plan)
    with zipfile.ZipFile(io.BytesIO(render(plan))) as archive:
        assert archive.namelist() == sorted(archive.namelist())
        assert {entry.date_time for entry in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        assert {name: archive.read(name) for name in archive.namelist()} == files(plan)


def test_the_same_bytes_in_another_process_with_another_hash_seed(plans: dict[str, Plan]) -> None:
    script = (
        "import hashlib, runpy, sys; made = runpy.run_path(sys.argv[1]);"
        "from planner.reports.terraform import render;"
        "print(hashlib.sha256(render(made['PLANS']['three_clouds'])).hexdigest())"
    )
    conftest = str(Path(__file__).with_name("conftest.py"))
    digests = {
        subprocess.run(
            [sys.executable, "-c", script, conftest],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(digests) == 1
    assert plans["three_clouds"].plan_id == "0a1b2c3d"


def test_the_order_of_the_uses_does_not_matter(plans: dict[str, Plan]) -> None:
    plan = plans["three_clouds"]
    turned = replace(plan.strategies[0], uses=plan.strategies[0].uses[::-1])
    assert render(replace(plan, strategies=(turned,))) == render(plan)


def _requested(name: str, team: str, like: RequestedWorkload) -> RequestedWorkload:
    return replace(like, name=name, team=team)


@settings(deadline=None)
@given(st.text(st.sampled_from('a"\\$%{}\n`|<é\x1b\u202e\ud800'), min_size=1, max_size=20), st.text(max_size=20))
def test_hostile_names_stay_inside_quotes(name: str, team: str) -> None:
    from_file = _plans()
    plan = from_file["gcp_n1"]
    uses = tuple(replace(item, workload=name) for item in plan.strategies[0].uses)
    changed = replace(
        plan,
        plan_id=name,
        strategies=(replace(plan.strategies[0], uses=uses),),
        workloads=(_requested(name, team, plan.workloads[0]),),
    )
    before, after = files(plan)["main.tf"].decode(), files(changed)["main.tf"].decode()
    assert _skeleton(after) == _skeleton(before)
    assert files(changed)["variables.tf"] == files(plan)["variables.tf"]
    assert f"plan_id           = {hcl.quote(name)}" in after


def _skeleton(text: str) -> str:
    """The text without the three arguments that carry what a user wrote; each is one line."""
    return re.sub(r"^  (plan_id|workloads|teams)\s+= .*\n", "", text, flags=re.MULTILINE)


@cache
def _plans() -> dict[str, Plan]:
    return runpy.run_path(str(Path(__file__).with_name("conftest.py")))["PLANS"]


@pytest.mark.parametrize("live", ["${", "%{", "<script>", "\x1b"])
def test_a_hostile_name_is_not_alive_in_the_readme_or_the_code(plans: dict[str, Plan], live: str) -> None:
    written = files(plans["hostile"])
    told = {name: content.decode() for name, content in written.items() if "/" not in name}
    own = {'"${var.name_prefix}-'}
    for name, text in told.items():
        rest = text
        for known in own:
            rest = rest.replace(known, "")
        assert live not in rest.replace("$${", "").replace("%%{", "") or (name == "main.tf" and live == "<script>")
