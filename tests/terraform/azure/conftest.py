"""Small roots that call the Azure modules, planned by the real terraform."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from planner.reports.terraform.provisioning import find_shipped_folder

AZURE = find_shipped_folder("terraform") / "azure"
SUBNET = "/subscriptions/0/resourceGroups/net/providers/Microsoft.Network/virtualNetworks/gpu/subnets/nodes"
KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIExample planner@example"

Check = Callable[..., Any]


def module_call(module: str, label: str = "it", **arguments: str) -> str:
    pairs = "\n".join(f"  {name} = {value}" for name, value in arguments.items())
    return f'module "{label}" {{\n  source = "../modules/{module}"\n{pairs}\n}}\n'


@pytest.fixture
def call() -> Callable[..., str]:
    """The text of a module call; values of arguments are expressions."""
    return module_call


@pytest.fixture
def gpu_pool() -> Callable[..., str]:
    """A call of gpu_pool that is complete, with other arguments in place of or beside its own."""

    def text(label: str = "it", **more: str) -> str:
        given = {
            "name": '"gp-pool"',
            "plan_id": '"p"',
            "vm_size": '"Standard_NC24ads_A100_v4"',
            "location": '"westeurope"',
            "node_count": "2",
            "subnet_id": f'"{SUBNET}"',
            "ssh_public_key": f'"{KEY}"',
        }
        return module_call("gpu_pool", label, **given | more)

    return text


@pytest.fixture
def planned(tfcheck: Check, tmp_path: Path) -> Callable[[str], Any]:
    """Plan a root with this text, whose modules are those of Azure."""

    def run(text: str) -> Any:
        (tmp_path / "modules").symlink_to(AZURE)
        root = tmp_path / "root"
        root.mkdir()
        (root / "main.tf").write_text(f'{text}\nprovider "azurerm" {{\n  features {{}}\n}}\n')
        done = subprocess.run(["terraform", "fmt", str(root)], capture_output=True, check=False)
        assert done.returncode == 0, done.stderr
        return tfcheck(root, plan=True, root=tmp_path)

    return run


@pytest.fixture
def example(example: Callable[[str], Any]) -> Callable[[str], Any]:
    """An example of Azure by its name alone."""
    return lambda name: example(f"azure/examples/{name}")


@pytest.fixture
def told() -> Callable[[Any], str]:
    """What terraform printed and found, without its frames and line ends."""

    def said(checked: Any) -> str:
        printed = [str(step.get("output", "")) for step in checked.steps.values()]
        found = (checked.steps.get("validate", {}).get("result") or {}).get("diagnostics", [])
        return " ".join(" ".join([*printed, *(item.get("detail", "") for item in found)]).replace("│", " ").split())

    return said
