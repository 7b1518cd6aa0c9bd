"""Hand-made plans of every kind, and the real terraform run on folders of files through tests/tfcheck."""

from __future__ import annotations

import hashlib
import json
import runpy
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from planner.reports.terraform.provisioning import find_shipped_folder
from planner.result import (
    InputProvenance,
    InputReading,
    Plan,
    Purchase,
    QuotaRequest,
    Recommendation,
    RequestedWorkload,
    Strategy,
    Use,
)
from planner.result.message import Message

TFCHECK = Path(__file__).resolve().parent.parent / "tfcheck" / "tfcheck.py"
HOSTILE = 'a"b${file("/etc/passwd")}%{ if true }$${x}\\ \n\r\t\x1b[31m|`<script>é😀\u202e' + "x" * 200


@dataclass(frozen=True)
class Checked:
    """What tfcheck said: whether all steps passed, their output, and the planned values where asked for."""

    ok: bool
    steps: dict[str, Any]
    planned: list[dict[str, Any]]

    @property
    def errors(self) -> list[str]:
        """Summaries of the errors that validate found."""
        result = self.steps.get("validate", {}).get("result") or {}
        return [item["summary"] for item in result.get("diagnostics", []) if item["severity"] == "error"]

    @property
    def told(self) -> str:
        """Everything the steps printed, for a failed test."""
        return json.dumps(self.steps, indent=1)

    def resources(self, kind: str) -> list[dict[str, Any]]:
        """The planned values of every resource of a kind, by address."""
        return [item["values"] for item in sorted(self.planned, key=lambda i: i["address"]) if item["type"] == kind]


@pytest.fixture(scope="session")
def standins() -> Iterator[Any]:
    """The stand-in providers, started once for all tests of a worker: that costs more than most of the checks."""
    if shutil.which("terraform") is None:
        pytest.skip("terraform is not on PATH")
    # two ways of paying need a later version than the one whose schema is here
    with runpy.run_path(str(TFCHECK))["Standins"]({"google": ["6.50.0", "7.42.0"]}) as started:
        yield started


@pytest.fixture(scope="session")
def tfcheck(standins: Any) -> Callable[..., Checked]:
    """Check a folder of files, inside `root`. What was asked of the same files before is answered from memory."""
    before: dict[str, Checked] = {}

    def run(folder: Path, *, plan: bool = False, root: Path | None = None) -> Checked:
        digest = hashlib.sha256(f"{plan} {folder.relative_to(root or folder)}".encode())
        for path in sorted(path for path in (root or folder).rglob("*") if path.is_file()):
            digest.update(f"\0{path.relative_to(root or folder)}\0".encode() + path.read_bytes())
        if digest.hexdigest() not in before:
            told = standins.check(folder, root=root, plan=plan)
            before[digest.hexdigest()] = Checked(told["ok"], told["steps"], told.get("planned", []))
        return before[digest.hexdigest()]

    return run


@pytest.fixture(scope="session")
def example(tfcheck: Callable[..., Checked], tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Checked]:
    """What would be made of an example such as azure/examples/spot. Those of a cloud are planned once, in one root."""
    found: dict[str, Checked] = {}

    def planned_together(cloud: str) -> Checked:
        root = tmp_path_factory.mktemp(cloud)
        shutil.copytree(find_shipped_folder("terraform") / cloud, root / cloud)
        names = sorted(path.name for path in (root / cloud / "examples").iterdir())
        calls = (f'module "{name}" {{\n  source = "./{cloud}/examples/{name}"\n}}\n' for name in names)
        (root / "main.tf").write_text("\n".join(calls))
        return tfcheck(root, plan=True)

    def of_one(path: str) -> Checked:
        cloud, _, name = path.split("/")
        if cloud not in found:
            found[cloud] = planned_together(cloud)
        assert found[cloud].ok, found[cloud].told
        ours = [item for item in found[cloud].planned if item["address"].startswith(f"module.{name}.")]
        return replace(found[cloud], planned=ours)

    return of_one


def filled_in(values: str, wanted: str = "Needed") -> str:
    """What a reader would put into own.auto.tfvars: the examples of a terraform.tfvars that are `wanted`."""
    parts = [part for part in values.split("\n\n") if part.startswith(f"# {wanted}: ")]
    lines = ("\n".join(line.removeprefix("# ") for line in part.splitlines()[1:]) for part in parts)
    return "\n\n".join(lines) + "\n"


@pytest.fixture
def write() -> Callable[..., Path]:
    """Write the files of a report to a folder; the examples of what is needed become own.auto.tfvars, and `own` too."""

    def written(folder: Path, files: Mapping[str, bytes], own: str = "") -> Path:
        for path, content in files.items():
            target = folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
        for values in folder.glob("*/terraform.tfvars"):
            values.with_name("own.auto.tfvars").write_text(filled_in(values.read_text(encoding="utf-8")) + own)
        return folder

    return written


def use(
    where: str, name: str, option: str, nodes: float, *, month: int = 1, workload: str = "w", per_node: float = 8
) -> Use:
    provider, _, region = where.partition("/")
    what = "owned" if not provider else "commitment" if option[:1] in "rc" and option != "capacity_block" else "rented"
    cost = 0.0 if what != "rented" else 100.0 * nodes
    return Use(
        month, workload, what, name, provider, region, option, "H100-80GB-SXM", per_node, nodes * 730, nodes, 1.0, cost
    )


def commitment(where: str, name: str, option: str, count: int) -> Purchase:
    provider, _, region = where.partition("/")
    return Purchase(
        1, "commitment", name, provider, region, option, "H100-80GB-SXM", 8, count, 1, 12, 12, 500.0, 900.0, 11000.0
    )


def owned(name: str, count: int) -> Purchase:
    return Purchase(1, "owned", name, "", "", "owned", "H100-80GB-SXM", 8, count, 4, 63, 60, 3e5, 4e3, 4e5)


def make_plan(
    uses: Sequence[Use],
    purchases: Sequence[Purchase] = (),
    *,
    months: int = 2,
    plan_id: str = "0a1b2c3d",
    teams: Mapping[str, str] | None = None,
    gangs: Mapping[str, float] | None = None,
) -> Plan:
    names = sorted({item.workload for item in uses})
    workloads = tuple(
        RequestedWorkload(
            name=name,
            team=(teams or {}).get(name, "research"),
            kind="training",
            unit="steps",
            demand=(1.0,) * months,
            accelerators=(),
            gang=(gangs or {}).get(name, 1),
            interruptible=True,
            place="",
            budget_per_month=None,
            notes="",
        )
        for name in names
    )
    strategy = Strategy("hybrid", "optimal", 1.0, 1.0, 1.0, 0.0, tuple(purchases), tuple(uses))
    return Plan(
        schema_version="1",
        plan_id=plan_id,
        status="optimal",
        as_of=date(2026, 11, 21),
        start="2026-12",
        months=months,
        month_names=tuple(["2026-12", "2027-01", "2027-02"][:months]),
        currency="USD",
        hours_per_month=730,
        discount_rate_annual=0.08,
        conventions=(),
        recommendation=Recommendation("hybrid", Message("by_hand", {}, "Rent the nodes."), None, 0.0, 0.0),
        strategies=(strategy,),
        break_even=(),
        workloads=workloads,
        throughput=(),
        prices=(),
        oldest_price=None,
        assumptions=(),
        gaps=(),
        inputs=InputProvenance("x.xlsx", "xlsx", ""),
        catalog_digest="",
    )


AWS = (
    use("aws/us-east-1", "p5.48xlarge", "on_demand", 1.4, workload="pretraining"),
    use("aws/us-east-1", "p5.48xlarge", "reserved_1y_no_upfront", 2, workload="serving"),
    use("aws/us-east-1", "p5.48xlarge", "reserved_1y_no_upfront", 3, month=2, workload="serving"),
    use("aws/eu-west-1", "g6e.xlarge", "spot", 0.2, workload="batch", per_node=1),
    use("aws/eu-west-1", "trn1.32xlarge", "on_demand", 1, workload="batch", per_node=16),
    use("aws/us-east-2", "g4ad.xlarge", "spot", 5, month=2, workload="batch", per_node=1),
    use("aws/us-east-2", "p5en.48xlarge", "capacity_block", 2, workload="pretraining"),
)
AZURE = (
    use("azure/westeurope", "Standard_NC24ads_A100_v4", "spot", 3, workload="batch", per_node=1),
    use("azure/westeurope", "Standard_NC24ads_A100_v4", "reserved_1y", 2, workload="serving", per_node=1),
    use("azure/eastus", "Standard_ND96isr_H100_v5", "on_demand", 4, workload="pretraining"),
    use("azure/eastus", "Standard_ND96isr_MI300X_v5", "on_demand", 1, workload="pretraining"),
)
GCP_GPU = (
    use("gcp/us-central1", "a3-highgpu-8g", "spot", 2, workload="pretraining"),
    use("gcp/us-central1", "a3-highgpu-8g", "reserved_3y", 1, workload="pretraining"),
    use("gcp/europe-west4", "a3-ultragpu-8g", "on_demand", 1, workload="pretraining"),
)
GCP_N1 = (
    use("gcp/us-west1", "n1-standard-16+2xnvidia-tesla-t4", "on_demand", 2, workload="serving", per_node=2),
    use("gcp/us-west1", "nvidia-tesla-v100", "spot", 1, workload="serving", per_node=1),
)
GCP_TPU = (
    use("gcp/us-central1", "tpu-v5litepod-8", "on_demand", 2, workload="serving"),
    use("gcp/us-east5", "ct6e-standard-4t", "spot", 3, workload="batch", per_node=4),
)
OWNED = (use("", "DGX H100", "owned", 2),)
REFUSED = (use("gcp/us-central1", "ct3-hightpu-4t", "on_demand", 1), use("oci/eu", "BM.GPU.H100.8", "on_demand", 1))


def with_extras(plan: Plan) -> Plan:
    """The plan, short of quota in every cloud, with 500 GB of storage for each workload."""
    quotas = tuple(
        QuotaRequest("hybrid", *place, "Accelerators", unit, 8, 2, 64, 66, 1, ("pretraining",), plan.as_of, "s")
        for place, unit in (
            (("aws", "us-east-1", "L-417A185B"), "vcpu"),
            (("azure", "eastus", "standardNDSH100v5Family"), "vcpu"),
            (("gcp", "us-central1", "NVIDIA_H100_GPUS"), "accelerator"),
        )
    )
    readings = tuple(InputReading(f"workloads[{n}].storage_gb", "", "500", "500") for n in range(len(plan.workloads)))
    return replace(plan, quota_requests=quotas, inputs=replace(plan.inputs, readings=readings))


PLANS: dict[str, Plan] = {
    "aws": make_plan(AWS, [commitment("aws/us-east-1", "p5.48xlarge", "reserved_1y_no_upfront", 3)]),
    "azure": make_plan(AZURE, [commitment("azure/westeurope", "Standard_NC24ads_A100_v4", "reserved_1y", 2)]),
    "gcp_gpu": make_plan(GCP_GPU, [commitment("gcp/us-central1", "a3-highgpu-8g", "reserved_3y", 1)]),
    "gcp_n1": make_plan(GCP_N1),
    "gcp_tpu": make_plan(GCP_TPU),
    "three_clouds": make_plan([*AWS, *AZURE, *GCP_GPU, *GCP_N1, *GCP_TPU, *OWNED, *REFUSED], [owned("DGX H100", 2)]),
    "extras": with_extras(make_plan([AWS[0], AZURE[2], GCP_GPU[0]])),
    "hostile": make_plan(
        [use("aws/us-east-1", "p5.48xlarge", "on_demand", 1, workload=HOSTILE), *AZURE, *GCP_GPU],
        plan_id=HOSTILE,
        teams={HOSTILE: HOSTILE},
    ),
}
ROOTLESS: dict[str, Plan] = {
    "all_owned": make_plan(OWNED, [owned("DGX H100", 2)]),
    "all_refused": make_plan(REFUSED),
}


@pytest.fixture(params=sorted(PLANS))
def plan(request: pytest.FixtureRequest) -> Plan:
    """Each plan that has a cloud part."""
    return PLANS[request.param]


@pytest.fixture
def plans() -> dict[str, Plan]:
    """The plans with a cloud part, by name."""
    return PLANS


@pytest.fixture(params=sorted(ROOTLESS))
def rootless(request: pytest.FixtureRequest) -> Plan:
    """Each plan without anything to provision."""
    return ROOTLESS[request.param]


@pytest.fixture
def build() -> Callable[..., Plan]:
    """A plan from `(where, type, option, nodes)` rows."""

    def plan_of(rows: Sequence[tuple[str, str, str, float]], **rest: Any) -> Plan:
        return make_plan([use(*row) for row in rows], **rest)

    return plan_of


@pytest.fixture
def modules() -> list[Path]:
    """Every module folder."""
    return sorted(path.parent for path in find_shipped_folder("terraform").glob("*/*/pool.toml"))
