"""The hand-written modules, without any binary: what they declare is what their pool.toml and the emitter rely on."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import pytest

from planner.reports.terraform.provisioning import find_shipped_folder, hcl
from planner.reports.terraform.provisioning.module_catalog import (
    EXTRA_VARIABLES,
    POOL_VARIABLES,
    CloudModules,
    ExtraModule,
    ModuleMatch,
    PoolModule,
    TerraformModule,
    load_clouds,
    match_module,
)
from planner.result.message import Message
from pricing.catalog.adjusted_prices import select_for_plan
from pricing.catalog.price_catalog import Catalog

POOLS = [module for cloud in load_clouds().values() for module in cloud.modules]
EXTRAS = [module for cloud in load_clouds().values() for module in cloud.extras]
MODULES: list[TerraformModule] = [*POOLS, *EXTRAS]
ROOT_VARIABLES = {
    "plan_id", "month", "node_counts", "workloads", "teams", "name_prefix", "tags", "currency", "monthly_budget",
    "budget_start_month", "budget_contacts", "quota_requests", "request_quotas", "storage",
}  # fmt: skip


def named(modules: Sequence[TerraformModule]) -> list[str]:
    return [f"{module.provider}/{module.name}" for module in modules]


each_module = pytest.mark.parametrize("module", MODULES, ids=named(MODULES))
each_pool = pytest.mark.parametrize("module", POOLS, ids=named(POOLS))
each_extra = pytest.mark.parametrize("module", EXTRAS, ids=named(EXTRAS))


def declared(module: TerraformModule) -> list[tuple[str, str]]:
    """(kind, body) of every top-level block of the module."""
    text = "\n".join(file.read_text() for file in sorted(module.folder.glob("*.tf")))
    return [(block["kind"], block["body"]) for block in hcl.BLOCK.finditer(text)]


def test_every_cloud_of_the_catalogue_has_modules() -> None:
    facts = Catalog.embedded().provider_facts
    assert set(load_clouds()) == {name for name, each in facts.items() if each.terraform_module}
    assert all(each.terraform_module for each in facts.values() if not each.on_request)


def test_a_missing_folder_is_answered_with_both_places() -> None:
    assert find_shipped_folder("terraform").is_dir()
    with pytest.raises(FileNotFoundError, match=r"'nothing' is neither at .*_shipped.* nor at "):
        find_shipped_folder("nothing")


def test_the_folder_in_an_installed_wheel_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "terraform").mkdir()
    (tmp_path / "package" / "_shipped" / "openapi").mkdir(parents=True)
    monkeypatch.setattr("planner.reports.terraform.provisioning.PACKAGE", tmp_path / "package")
    assert find_shipped_folder("terraform") == tmp_path / "terraform"
    assert find_shipped_folder("openapi") == tmp_path / "package" / "_shipped" / "openapi"


@each_module
def test_every_file_is_there(module: PoolModule) -> None:
    assert {"README.md", "main.tf", "outputs.tf", "variables.tf", "versions.tf"} <= {f.name for f in module.files()}
    told = {path for path in module.folder.iterdir() if path.suffix == ".toml"}
    assert set(module.folder.iterdir()) == told | set(module.files()), "a file that would not be shipped"
    assert len(told) == 1


@each_module
def test_every_variable_is_typed_described_and_read(module: PoolModule) -> None:
    found = [name for kind, name in _named(module) if kind == "variable"]
    assert found == list(module.variables)
    for variable in module.variables.values():
        assert variable.type
        assert variable.description.endswith("."), variable.name
    body = "\n".join(text for kind, text in declared(module) if kind != "variable")
    assert [name for name in module.variables if f"var.{name}" not in body] == []


@each_module
def test_a_null_from_the_root_means_the_default(module: PoolModule) -> None:
    """The root passes null for what nobody filled in: a variable with another default must not take it for a value."""
    text = (module.folder / "variables.tf").read_text()
    for block in hcl.BLOCK.finditer(text):
        default = re.search(r"^  default\s+= (.*)$", block["body"], re.MULTILINE)
        if default and default[1] != "null":
            assert re.search(r"^  nullable\s+= false$", block["body"], re.MULTILINE), block["label"]


@each_module
def test_every_output_is_described(module: PoolModule) -> None:
    outputs = [body for kind, body in declared(module) if kind == "output"]
    assert outputs
    assert all(re.search(r'^  description = ".+\."$', body, re.MULTILINE) for body in outputs)


@each_pool
def test_the_plans_own_variables_are_there(module: PoolModule) -> None:
    assert set(POOL_VARIABLES) <= set(module.variables)
    allowed = re.search(r"contains\(\[(.*)\], var.purchase_option\)", (module.folder / "variables.tf").read_text())
    assert allowed
    assert set(re.findall(r'"(\w+)"', allowed[1])) == set(module.purchase_options)


@each_pool
def test_arguments_inputs_and_what_is_asked_exist(module: PoolModule) -> None:
    variables, inputs = set(module.variables), set(module.inputs)
    assert set(module.arguments) <= variables
    assert inputs <= variables
    for shape in module.shapes:
        assert set(shape.arguments) <= variables
        assert set(shape.asks) <= inputs
    assert all(set(asks) <= inputs for asks in module.purchase_options.values())


@each_pool
def test_nothing_required_is_left_without_a_value(module: PoolModule) -> None:
    needed = {variable.name for variable in module.variables.values() if variable.required}
    for shape in module.shapes:
        assert needed <= {*POOL_VARIABLES, *module.arguments, *shape.arguments, *module.inputs}


@each_extra
def test_an_extra_has_what_a_plan_fills_in(module: ExtraModule) -> None:
    filled = set(EXTRA_VARIABLES[module.kind])
    assert filled <= set(module.variables)
    assert {*module.arguments, *module.inputs} <= set(module.variables)
    placed = {"region"} if module.kind == "storage" else set()
    assert {v.name for v in module.variables.values() if v.required} <= filled | {
        *module.arguments,
        *module.inputs,
    } | placed


def test_a_cloud_has_at_most_one_extra_of_a_kind() -> None:
    for cloud in load_clouds().values():
        kinds = [extra.kind for extra in cloud.extras]
        assert len(kinds) == len(set(kinds)), cloud.provider


@each_module
def test_no_input_takes_the_name_of_a_variable_that_the_plan_fills_in(module: TerraformModule) -> None:
    assert not {item.root for item in module.inputs.values()} & ROOT_VARIABLES


@each_module
def test_least_privilege(module: PoolModule) -> None:
    text = (module.folder / "main.tf").read_text()
    assert not re.search(r"admin_password|public_ip_address \{|access_config \{|enable_external_ips\s*= true", text)
    assert not re.search(r"associate_public_ip_address\s*= true", text)
    assert "cidr_ipv4" not in "".join(
        re.findall(r'resource "aws_vpc_security_group_ingress_rule".*?^\}', text, re.DOTALL | re.MULTILINE)
    )


def test_inputs_that_share_a_root_variable_agree() -> None:
    found = defaultdict(set)
    for module in MODULES:
        for item in module.inputs.values():
            found[module.provider, item.root].add((item.scope, item.type))
    assert {root: kinds for root, kinds in found.items() if len(kinds) > 1} == {}


def test_every_provider_block_has_its_inputs() -> None:
    for cloud in load_clouds().values():
        wanted = {name for module in (*cloud.modules, *cloud.extras) for name in module.required_providers}
        assert wanted == set(cloud.providers)
        assert all(set(setup.inputs) <= set(cloud.inputs) for setup in cloud.providers.values())


def test_every_offering_has_a_module_or_a_reason() -> None:
    """Over the whole catalogue: arguments that the module takes, or a sentence why it is not provisioned."""
    known = load_clouds()
    reasons = set()
    offerings = select_for_plan(Catalog.embedded(), ()).offerings
    for (provider, instance_type), offering in offerings.items():
        found = match_module(known[provider], instance_type)
        if isinstance(found, ModuleMatch):
            assert set(found.arguments) <= set(found.module.variables)
            assert all(value for value in found.arguments.values() if isinstance(value, str))
        elif offering.status == "retired" or instance_type.startswith("g3"):
            assert "retired" in found.text, instance_type
        else:
            assert found.code == "type_excluded_by_module", instance_type
            reasons.add(found)
    assert all(len(reason.text) > 20 for reason in reasons)


def test_what_is_retired_is_refused_with_its_successor() -> None:
    known = load_clouds()
    assert str(match_module(known["aws"], "p2.xlarge")) == "it is retired; its successor is p3.2xlarge"
    assert str(match_module(known["azure"], "Standard_NC6")) == "it is retired; its successor is Standard_NC4as_T4_v3"
    assert str(match_module(known["azure"], "Standard_ND40s_v3")) == "it is retired; no successor is known"
    k80 = match_module(known["gcp"], "n1-highmem-8+1xnvidia-tesla-k80")
    assert str(k80) == "it is retired; its successor is n1-highmem-8+1xnvidia-tesla-t4"
    assert str(match_module(known["aws"], "g3s.xlarge")) == "it is retired; its successor is g4dn.xlarge"
    assert str(match_module(known["aws"], "g3.16xlarge")) == "it is retired; its successor is g4dn.12xlarge"
    no_offering = match_module(known["aws"], "eg1.medium")
    assert isinstance(no_offering, Message)
    assert no_offering.code == "family_ended"
    assert "Elastic Graphics ended on 2024-01-08; its successor is g4dn.xlarge (https://" in no_offering.text


@pytest.mark.parametrize(
    ("provider", "instance_type", "name", "arguments"),
    [
        ("aws", "p5.48xlarge", "gpu_pool", {"instance_type": "p5.48xlarge"}),
        (
            "gcp",
            "n1-standard-8+1xnvidia-tesla-t4",
            "gpu_pool",
            {"machine_type": "n1-standard-8", "accelerator_type": "nvidia-tesla-t4", "accelerator_count": 1},
        ),
        ("gcp", "nvidia-tesla-t4", "gpu_pool", {"accelerator_type": "nvidia-tesla-t4", "accelerator_count": 1}),
        ("gcp", "a2-ultragpu-8g", "gpu_pool", {"machine_type": "a2-ultragpu-8g"}),
        (
            "gcp",
            "a4-highgpu-8g",
            "gpu_pool",
            {"machine_type": "a4-highgpu-8g", "boot_disk_type": "hyperdisk-balanced"},
        ),
        ("gcp", "tpu-v5litepod-8", "tpu_pool", {"accelerator_type": "v5litepod-8"}),
        ("gcp", "tpu-v5p-128", "tpu_pool", {"accelerator_type": "v5p-128"}),
        ("gcp", "ct5lp-hightpu-4t", "tpu_pool", {"accelerator_type": "v5litepod-4"}),
        ("gcp", "ct5p-hightpu-4t", "tpu_pool", {"accelerator_type": "v5p-8"}),
        ("gcp", "ct6e-standard-8t", "tpu_pool", {"accelerator_type": "v6e-8"}),
        ("azure", "Standard_NC24ads_A100_v4", "gpu_pool", {"vm_size": "Standard_NC24ads_A100_v4"}),
        (
            "azure",
            "Standard_ND96isr_H100_v5",
            "gpu_pool",
            {
                "vm_size": "Standard_ND96isr_H100_v5",
                "hpc_image": True,
                "nvidia_driver_extension": False,
                "single_placement_group": True,
            },
        ),
    ],
)
def test_an_offering_becomes_arguments(
    provider: str, instance_type: str, name: str, arguments: dict[str, object]
) -> None:
    found = match_module(load_clouds()[provider], instance_type)
    assert isinstance(found, ModuleMatch)
    assert (found.module.name, found.arguments) == (name, arguments)


@pytest.mark.parametrize("instance_type", ["ct3-hightpu-4t", "ct5l-hightpu-4t", "tpu7x-standard-4t", "a4x-highgpu-4g"])
def test_what_has_no_documented_equal_is_refused_with_the_reason(instance_type: str) -> None:
    reason = match_module(load_clouds()["gcp"], instance_type)
    assert isinstance(reason, Message)
    assert reason.code == "type_excluded_by_module"
    assert len(reason.text) > 20


def test_nothing_else_is_guessed() -> None:
    cloud = load_clouds()["gcp"]
    assert isinstance(cloud, CloudModules)
    for instance_type in ("e2-standard-4", "xtpu-v4-8"):
        reason = match_module(cloud, instance_type)
        assert isinstance(reason, Message)
        assert (reason.code, reason.parameters) == ("no_module_for_type", {"provider": "gcp"})
    assert str(match_module(cloud, "xtpu-v4-8")) == "no module under terraform/gcp/ takes this instance type"


def _named(module: TerraformModule) -> list[tuple[str, str]]:
    text = (module.folder / "variables.tf").read_text()
    return [(block["kind"], block["label"]) for block in hcl.BLOCK.finditer(text)]
