"""What is emitted for a plan, without any binary: counts by hand, existing arguments, the same bytes."""

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
from pathlib import Path
from typing import Any

import hcl2
import pytest

from planner.reports.terraform import MEDIA_TYPE, SUFFIX, files, find_option_problems, render, unprovisioned_lines
from planner.reports.terraform.provisioning import hcl
from planner.reports.terraform.provisioning.module_catalog import (
    EXTRA_VARIABLES,
    POOL_VARIABLES,
    ExtraModule,
    PoolModule,
    TerraformModule,
    load_clouds,
)
from planner.result import InputProvenance, InputReading, Plan, QuotaRequest, Recommendation
from planner.result.message import Message

MODULES: dict[tuple[str, str], TerraformModule] = {
    (m.provider, m.name): m for cloud in load_clouds().values() for m in (*cloud.modules, *cloud.extras)
}
META = {"source", "providers"}
Roots = dict[str, dict[str, str]]


def roots(plan: Plan, **asked: Any) -> Roots:
    """Provider -> file -> text of the roots of a plan."""
    found: Roots = {}
    for path, content in files(plan, **asked).items():
        provider, _, name = path.partition("/")
        if name:
            found.setdefault(provider, {})[name] = content.decode()
    return found


def calls(text: str) -> dict[str, dict[str, str]]:
    """Module calls of a main.tf: label -> argument -> expression."""
    blocks = [block for block in hcl.BLOCK.finditer(text) if block["kind"] == "module"]
    return {b["label"]: {a["name"]: a["value"] for a in hcl.ATTRIBUTE.finditer(b["body"])} for b in blocks}


def called(provider: str, call: dict[str, str]) -> TerraformModule:
    return MODULES[provider, call["source"].strip('"').removeprefix("./modules/")]


def values(plan: Plan) -> dict[str, dict[str, Any]]:
    """What each root's terraform.tfvars says, as python-hcl2 reads it."""
    return {provider: read(root["terraform.tfvars"]) for provider, root in roots(plan).items()}


def read(text: str) -> dict[str, Any]:
    found: dict[str, Any] = hcl2.loads(text)
    return found


def counts(plan: Plan) -> dict[str, list[int]]:
    """Nodes of every pool by month."""
    found = {}
    for told in values(plan).values():
        for label, by_month in told["node_counts"].items():
            found[label] = [int(count) for count in by_month.values()]
    return found


def test_it_is_a_format() -> None:
    assert (MEDIA_TYPE, SUFFIX) == ("application/zip", ".zip")


@pytest.mark.parametrize("nodes", ["vm", "kubernetes"])
def test_every_argument_is_a_variable_of_its_module_and_none_is_missing(plan: Plan, nodes: str) -> None:
    for provider, root in roots(plan, nodes=nodes).items():
        for label, call in calls(root["main.tf"]).items():
            module = called(provider, call)
            given = set(call) - META
            assert given <= set(module.variables), label
            assert {name for name, variable in module.variables.items() if variable.required} <= given, label
            shared = POOL_VARIABLES if isinstance(module, PoolModule) else EXTRA_VARIABLES[kind_of(module)]
            assert set(shared) <= given, label


def kind_of(module: TerraformModule) -> Any:
    assert isinstance(module, ExtraModule)
    return module.kind


def test_every_variable_is_declared_used_filled_in_or_shown(plan: Plan) -> None:
    for root in roots(plan).values():
        declared = hcl.read_variables(root["variables.tf"])
        assert set(re.findall(r"var\.(\w+)", root["main.tf"])) == set(declared)
        text = root["terraform.tfvars"]
        given = set(re.findall(r"^(\w+) =", text, re.MULTILINE))
        needed = set(re.findall(r"^# Needed: .*\n# (\w+) =", text, re.MULTILINE))
        assert given | needed >= {name for name, variable in declared.items() if variable.required}
        shown = set(re.findall(r"^# (\w+) =", text, re.MULTILINE))
        assert given | shown == set(declared)
        assert not given & shown


def test_a_root_holds_no_resource_of_its_own(plan: Plan) -> None:
    for root in roots(plan).values():
        for name, text in root.items():
            if "/" not in name and name.endswith(".tf"):
                assert not re.search(r"^\s*(resource|data|provisioner)\b", text, re.MULTILINE), name


def test_the_modules_are_the_shipped_ones(plan: Plan) -> None:
    for path, content in files(plan).items():
        if "/modules/" in path:
            provider, _, module, file = path.split("/")
            assert content == (MODULES[provider, module].folder / file).read_bytes()


def test_names_of_pools_and_of_resources_differ_and_obey_the_limit(plan: Plan) -> None:
    names = [call["name"] for root in roots(plan).values() for call in calls(root["main.tf"]).values()]
    assert len(set(names)) >= len(names) - len(roots(plan))  # the budget of each provider has the same one
    longest = [name.strip('"').replace("${var.name_prefix}", "abcdef") for name in names]
    assert all(re.fullmatch(r"[a-z][-a-z0-9]{0,38}[a-z0-9]", name) for name in longest)


def test_nodes_are_those_of_each_month_rounded_up(plans: dict[str, Plan]) -> None:
    # p5 on demand: month 1 has 1.4 rented and 2 committed = 3.4 -> 4 nodes, month 2 has 3 committed -> 3
    # g6e: 0.2 -> 1; g4ad: 5 in month 2 only
    assert counts(plans["aws"]) == {
        "aws_eu_west_1_g6e_xlarge_spot": [1, 0],
        "aws_eu_west_1_trn1_32xlarge_on_demand": [1, 0],
        "aws_us_east_1_p5_48xlarge_on_demand": [4, 3],
        "aws_us_east_2_g4ad_xlarge_spot": [0, 5],
        "aws_us_east_2_p5en_48xlarge_capacity_block": [2, 0],
    }
    # accelerators at once: month 1 has 1 + 16 + 4 x 8 + 2 x 8 = 65, month 2 has 3 x 8 + 5 = 29
    assert 'coalesce(var.month, "2026-12")' in roots(plans["aws"])["aws"]["main.tf"]


def test_the_month_is_the_first_though_another_is_busier(build: Callable[..., Plan]) -> None:
    """A service that grew from 1 node to 15 started with 15."""
    plan = build([("aws/us-east-1", "g6.xlarge", "on_demand", 1)])
    more = replace(plan.strategies[0].uses[0], month=2, nodes=15.0, node_hours=15 * 730.0)
    grown = replace(plan, strategies=(replace(plan.strategies[0], uses=(*plan.strategies[0].uses, more)),))
    assert counts(grown) == {"aws_us_east_1_g6_xlarge_on_demand": [1, 15]}
    assert 'coalesce(var.month, "2026-12")' in roots(grown)["aws"]["main.tf"]
    told = values(grown)["aws"]["schedules"]["aws_us_east_1_g6_xlarge_on_demand"]
    assert [(row["start"].strip('"'), int(row["node_count"])) for row in told] == [
        ("2026-12-01T00:00:00Z", 1),
        ("2027-01-01T00:00:00Z", 15),
        ("2027-02-01T00:00:00Z", 0),  # none after the plan
    ]


def test_rounding_forgives_the_noise_of_a_solver(build: Callable[..., Plan]) -> None:
    assert counts(build([("aws/us-east-1", "p5.48xlarge", "on_demand", 3.0000000001)])) == {
        "aws_us_east_1_p5_48xlarge_on_demand": [3, 0]
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
    assert counts(plan) == {"aws_us_east_1_p5_48xlarge_on_demand": [5, 0]}


def test_a_gang_gets_all_its_nodes_however_short_it_runs(build: Callable[..., Plan]) -> None:
    # a gang of 20 accelerators on nodes of 8 needs ceil(20 / 8) = 3 nodes, though it works 0.1 x 730 node-hours
    plan = build([("aws/us-east-1", "p5.48xlarge", "on_demand", 0.1)], gangs={"w": 20})
    assert counts(plan) == {"aws_us_east_1_p5_48xlarge_on_demand": [3, 0]}


def test_the_readme_tells_counts_costs_and_what_is_bought_elsewhere(plans: dict[str, Plan]) -> None:
    text = files(plans["aws"])["README.md"].decode()
    assert "| 2026-12 | 4 | 2,482 | 140 |\n| 2027-01 | 3 | 2,190 | - |" in text
    assert "| 2026-12 | aws | us-east-1 | `p5.48xlarge` | reserved_1y_no_upfront | 3 | 12 | 500 | 900 |" in text
    assert "| `subnet_ids` | yes |" in text
    # use: 140 + 20 + 100 + 200 = 460 and 500; committed: 900 a month in both: 1,360 and 1,400
    assert "| `aws/` | 5 | 8 | 1,400 | 2,760 |" in text
    everything = files(plans["three_clouds"])["README.md"].decode()
    assert "1 x `ct3-hightpu-4t` in gcp us-central1, on_demand: it is a node-pool machine" in everything
    assert "1 x `BM.GPU.H100.8` in oci eu, on_demand: there are no modules for oci." in everything
    assert "| 2026-12 | 2027-03..2032-02 | DGX H100 | 8 x H100-80GB-SXM | 2 | 300,000 | 4,000 |" in everything


def test_the_readme_says_in_which_month_what_is_to_be_done(build: Callable[..., Plan]) -> None:
    place = ("aws/us-east-1", "p5.48xlarge", "on_demand")
    uses = build([(*place, 2)], months=3).strategies[0].uses
    plan = build([(*place, 2), ("gcp/us-central1", "a3-highgpu-8g", "spot", 1)], months=3)
    later = replace(uses[0], month=2)
    gcp = replace(plan.strategies[0].uses[1], month=2)
    plan = replace(plan, strategies=(replace(plan.strategies[0], uses=(uses[0], later, gcp)),))
    text = files(plan)["README.md"].decode()
    aws, _, rest = text.partition("### aws\n")[2].partition("### gcp\n")
    assert [row.split(" | ")[1:] for row in aws.splitlines() if row.startswith("| 20")] == [
        ['first apply, `month = "2026-12"`', "2 |"],
        ["no change", "2 |"],
        ["`terraform destroy`", "0 |"],
        ["none: destroyed", "0 |"],
    ]
    assert [row.split(" | ")[1] for row in rest.splitlines()[:8] if row.startswith("| 20")] == [
        "none yet",
        'first apply, `month = "2027-01"`',
        "`terraform destroy`",
        "none: destroyed",
    ]


def test_which_cuda_a_pool_needs_is_told_and_why(build: Callable[..., Plan]) -> None:
    plan = build([("aws/us-east-1", "p5.48xlarge", "on_demand", 1)])
    old = replace(plan.strategies[0].uses[0], name="p3.2xlarge", accelerator="V100-16GB-SXM2", accelerators_per_node=1)
    amd = replace(old, name="g4ad.xlarge", accelerator="Radeon-Pro-V520-8GB")
    plan = replace(plan, strategies=(replace(plan.strategies[0], uses=(*plan.strategies[0].uses, old, amd)),))
    text = files(plan)["README.md"].decode()
    assert "| Hopper | 13.0 | 11.8 | R580 or later |" in text
    assert "| Volta | 12.9 | 9.0 | R580, the last | CUDA 13.0 supports Turing and later only |" in text
    assert re.search(r"- CUDA: none, Radeon-Pro-V520.*", text)


def test_quota_and_storage_are_told_where_no_module_makes_them(build: Callable[..., Plan]) -> None:
    plan = build([("aws/us-east-1", "p5.48xlarge", "on_demand", 2)])
    short = QuotaRequest(
        "hybrid", "aws", "us-east-1", "L-417A185B", "Running On-Demand P instances", "vcpu", 96, 0, 384, 384, 1, ("w",),
        plan.as_of, "s",
    )  # fmt: skip
    reading = InputReading("workloads[0].storage_gb", "line 3", "500", "500")
    plan = replace(plan, quota_requests=(short,), inputs=InputProvenance("x", "yaml", "", readings=(reading,)))
    text = files(plan)["README.md"].decode()
    assert "Running On-Demand P instances in us-east-1 raised to 384 vcpu by 2026-12" in text
    assert "storage of 500 GB for w in us-east-1" in text
    told = values(plan)["aws"]
    if any(extra.kind == "quota" for extra in load_clouds()["aws"].extras):
        assert [item["value"] for item in told["quota_requests"]] == [384]
    if any(extra.kind == "storage" for extra in load_clouds()["aws"].extras):
        assert [item["capacity_gb"] for item in told["storage"].values()] == [500]


def test_without_a_cloud_part_there_is_no_root_and_the_readme_says_so(rootless: Plan) -> None:
    written = files(rootless)
    assert set(written) <= {"README.md", "bill_of_materials.csv"}
    assert "no Terraform here" in written["README.md"].decode()


def test_an_infeasible_plan_has_only_its_reasons(plans: dict[str, Plan]) -> None:
    none = Recommendation(None, Message("by_hand", {}, "No plan is possible."), None, 0.0, 0.0)
    plan = replace(
        plans["aws"],
        status="infeasible",
        recommendation=none,
        strategies=(),
        reasons=(Message("by_hand", {}, "no GPU fits `x`"),),
    )
    written = files(plan)
    assert list(written) == ["README.md"]
    assert "- no GPU fits \\`x\\`" in written["README.md"].decode()


def test_another_strategy_than_the_recommended_can_be_asked_for(plans: dict[str, Plan]) -> None:
    plan = plans["aws"]
    other = replace(plan.strategies[0], name="cloud", uses=plan.strategies[0].uses[:1], purchases=())
    both = replace(plan, strategies=(*plan.strategies, other))
    assert len(calls(roots(both, strategy="cloud")["aws"]["main.tf"])) < len(calls(roots(both)["aws"]["main.tf"]))
    assert "the requested strategy, cloud; the plan recommends another" in files(both, "cloud")["README.md"].decode()


def test_what_is_asked_wrongly_is_named_all_at_once(plans: dict[str, Plan]) -> None:
    told = [str(fault) for fault in find_option_problems(plans["aws"], "onprem", "pods")]
    assert len(told) == 2
    assert "--nodes" in told[0]
    assert "vm, kubernetes" in told[0]
    assert "--strategy" in told[1]
    assert "hybrid" in told[1]
    assert find_option_problems(plans["aws"], "hybrid", "vm") == ()


def test_what_kubernetes_has_no_module_for_is_refused_with_the_way_out(plans: dict[str, Plan]) -> None:
    lines = unprovisioned_lines(plans["aws"], nodes="kubernetes")
    provisioned = [call for root in roots(plans["aws"], nodes="kubernetes").values() for call in calls(root["main.tf"])]
    assert len([call for call in provisioned if call.startswith("aws_")]) + len(lines) == 5
    assert all("--nodes vm" in line for line in lines if "no module for Kubernetes" in line)


def test_the_same_plan_gives_the_same_bytes(plan: Plan) -> None:
    assert render(plan) == render(plan)
    with zipfile.ZipFile(io.BytesIO(render(plan))) as archive:
        assert archive.namelist() == sorted(archive.namelist())
        assert {entry.date_time for entry in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        assert {name: archive.read(name) for name in archive.namelist()} == files(plan)


@pytest.mark.slow
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
