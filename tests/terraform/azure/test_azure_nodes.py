"""What Azure nodes run and are called: their container, run here with a stand-in for docker, their tags and labels."""

from __future__ import annotations

import base64
import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Check = Callable[..., Any]
UNIFORM = "azurerm_linux_virtual_machine_scale_set"
FLEXIBLE = "azurerm_orchestrated_virtual_machine_scale_set"
CLUSTER = "/subscriptions/0/resourceGroups/gpu/providers/Microsoft.ContainerService/managedClusters/gpu"
HOSTILE_WORDS = ["it's", 'a "quote"', "$HOME `id` $(id)", "two\nlines", "", "%{ if true }${x}", "é", "-- ; rm -rf /"]
HOSTILE_IN_HCL = (
    r"""["it's", "a \"quote\"", "$HOME `id` $(id)", "two\nlines", "", "%%{ if true }$${x}", "é", "-- ; rm -rf /"]"""
)


def custom_data(one: dict[str, Any]) -> str:
    text = one["os_profile"][0]["custom_data"] if "os_profile" in one else one["custom_data"]
    return base64.b64decode(text).decode()


def files_of(cloud_init: str) -> dict[str, str]:
    """Path -> content of what cloud-init would write; just enough YAML for our own template."""
    found = {}
    for part in re.split(r"^  - path: ", cloud_init.partition("runcmd:")[0], flags=re.MULTILINE)[1:]:
        path, _, rest = part.partition("\n")
        if encoded := re.search(r"encoding: b64\n    content: (\S+)", rest):
            found[path] = base64.b64decode(encoded[1]).decode()
        else:
            lines = rest.partition("content: |\n")[2].splitlines()
            found[path] = "\n".join(line.removeprefix("      ") for line in lines) + "\n"
    return found


def run_in(tmp_path: Path, script: str) -> list[str]:
    """The arguments of the last docker that the script runs, with stand-ins for docker and nvidia-smi."""
    tools = tmp_path / "tools"
    tools.mkdir(exist_ok=True)
    (tools / "docker").write_text('#!/bin/sh\n[ "$1" = rm ] && exit 1\nprintf "%s\\0" "$@"\n')
    (tools / "nvidia-smi").write_text("#!/bin/sh\n")
    for tool in tools.iterdir():
        tool.chmod(0o755)
    done = subprocess.run(
        ["sh"], input=script, env={**os.environ, "PATH": f"{tools}:/usr/bin:/bin"}, capture_output=True, text=True,
        check=True,
    )  # fmt: skip
    return done.stdout.split("\0")[:-1]


@pytest.mark.slow
def test_every_word_of_a_container_reaches_it_as_it_was_written(
    planned: Check, tmp_path: Path, gpu_pool: Check
) -> None:
    checked = planned(
        gpu_pool(container_image='"registry.example.com/a/b:1"', container_command=HOSTILE_IN_HCL, cuda_line='"12.9"')
    )
    assert checked.ok, checked.told
    (one,) = checked.resources(FLEXIBLE)
    files = files_of(custom_data(one))
    words = run_in(tmp_path, files["/usr/local/sbin/run-container"])
    assert words[words.index("registry.example.com/a/b:1") + 1 :] == HOSTILE_WORDS
    assert words[:4] == ["run", "--rm", "--name", "container"]
    assert words[words.index("--gpus") + 1] == "all"
    assert words[words.index("--env") + 1] == "CUDA_LINE=12.9"
    assert "/dev/infiniband" not in words
    assert one["tags"]["cuda_line"] == "12.9"


def test_what_runs_a_container_fits_its_machine(example: Check, tmp_path: Path) -> None:
    checked = example("container")
    t4 = files_of(custom_data(checked.resources(FLEXIBLE)[0]))
    h100, mi300x = (files_of(custom_data(one)) for one in checked.resources(UNIFORM))
    for files in (t4, h100, mi300x):
        assert set(files) == {
            "/usr/local/sbin/run-container",
            "/usr/local/sbin/prepare-container",
            "/etc/systemd/system/container.service",
            "/usr/local/sbin/prepare-node",
            "/etc/systemd/system/prepare-node.service",
        }
        assert "Restart=on-failure" in files["/etc/systemd/system/container.service"]
        for script in ("run", "prepare"):
            checked_by = subprocess.run(
                ["sh", "-n"], input=files[f"/usr/local/sbin/{script}-container"], text=True, check=False
            )
            assert checked_by.returncode == 0
    assert "apt-get install -y nvidia-container-toolkit" in t4["/usr/local/sbin/prepare-container"]
    assert "nvidia" not in mi300x["/usr/local/sbin/prepare-container"]
    nvidia = run_in(tmp_path, h100["/usr/local/sbin/run-container"])
    assert "/dev/infiniband" in nvidia
    assert nvidia[-2:] == ["--note", 'it\'s 100% $HOME "quoted"']
    amd = run_in(tmp_path, mi300x["/usr/local/sbin/run-container"])
    assert [word for word in amd if word.startswith("/dev/")] == ["/dev/kfd", "/dev/dri", "/dev/infiniband"]
    assert "--gpus" not in amd


def test_names_become_what_tags_and_labels_take(planned: Check, gpu_pool: Check, call: Check) -> None:
    hostile = r'"-_a\"b$${x}<>&\\?/\nö' + "y" * 300 + '"'
    shared = {
        "plan_id": hostile,
        "workloads": f"[{hostile}]",
        "teams": '["<>"]',
        "tags": f"{{ {hostile} = {hostile} }}",
    }
    checked = planned(
        gpu_pool(**shared)
        + call(
            "aks_pool",
            "aks",
            name='"gp-pool"',
            vm_size='"Standard_NC24ads_A100_v4"',
            node_count="1",
            kubernetes_cluster_id=f'"{CLUSTER}"',
            **shared,
        )
    )
    assert checked.ok, checked.told
    (nodes,), (pool,) = checked.resources(FLEXIBLE), checked.resources("azurerm_kubernetes_cluster_node_pool")
    assert nodes["tags"] == pool["tags"]
    for name, value in nodes["tags"].items():
        assert len(name) <= 128
        assert not set(name) & set("<>%&\\?/\n")
        assert len(value) <= 256
        assert "\n" not in value
    assert {"plan", "workloads", "team", "managed_by"} < set(nodes["tags"])
    assert set(pool["node_labels"]) == {"plan", "workloads", "pool"}, "a team of signs only leaves no label"
    for value in pool["node_labels"].values():
        assert re.fullmatch(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?", value)
