"""The cloud-init of a pool with a container, and its script run by bash with stand-ins for a node's tools."""

from __future__ import annotations

import base64
import os
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

HOSTILE = 'a"b${file("/etc/passwd")}%{ if true }\\ \n\t|`$(id)<é😀' + "x" * 300

Call = Mapping[str, Any]
Plans = Callable[[str, Mapping[str, Call]], Any]


def user_data(checked: Any) -> dict[str, Any]:
    """The cloud-init of each call, read as YAML; a call without any is left out."""
    templates = checked.by_call("aws_launch_template")
    return {
        name: yaml.safe_load(base64.b64decode(template["user_data"]))
        for name, template in templates.items()
        if template["user_data"]
    }


PREPARED = {"/usr/local/sbin/prepare-node", "/etc/systemd/system/prepare-node.service"}
"""What every node gets: limits and its local disks."""


def run_script(script: bytes, folder: Path, built_for: str) -> tuple[list[list[str]], str]:
    """Run a container script with stand-ins for a node's tools: the words of each docker call, and what is said."""
    tools = folder / "tools"
    tools.mkdir()
    log = folder / "log"
    docker = f'#!/bin/bash\nprintf "%s\\0" "$@" >>"{log}"\nprintf "\\1" >>"{log}"\n'
    docker += "[[ $1 == login ]] && cat >/dev/null\n"
    docker += f'if [[ $1 == image ]]; then echo "PATH=/bin"; echo "CUDA_VERSION={built_for}"; fi\n'
    for name, text in {"docker": docker, "nvidia-ctk": "#!/bin/sh\n", "aws": "#!/bin/sh\necho secret\n"}.items():
        (tools / name).write_text(text)
        (tools / name).chmod(0o755)
    (folder / "script").write_bytes(script)
    done = subprocess.run(
        ["bash", str(folder / "script")],
        env={"PATH": f"{tools}:{os.environ['PATH']}"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return [call.split("\0")[:-1] for call in log.read_text().split("\1")[:-1]], done.stdout


@pytest.mark.slow
def test_a_container_gets_its_words_unchanged_and_all_devices(plans: Plans, tmp_path: Path) -> None:
    image = "123456789012.dkr.ecr.us-east-1.amazonaws.com/team/train:1.0"
    words = ["python", HOSTILE, "it's '$HOME' \\'; exit 1", "", "*", "%h", "~"]
    checked = plans(
        "gpu_pool",
        {
            "gpu": {
                "instance_type": "g6.xlarge",
                "container_image": image,
                "container_command": words,
                "cuda_line": "12.9",
            },
            "neuron": {"instance_type": "trn1.32xlarge", "container_image": "job:1"},
            "own": {"instance_type": "g6.xlarge", "user_data": "a: 1"},
            "none": {"instance_type": "g6.xlarge", "cuda_line": "12.9"},
        },
    )
    found = user_data(checked)
    assert {item["path"] for item in found["none"]["write_files"]} == PREPARED
    assert found["own"] == {"a": 1}
    program, unit = found["gpu"]["write_files"][len(PREPARED) :]
    assert "Restart=on-failure" in unit["content"]
    assert f"ExecStart={program['path']}\n" in unit["content"]
    script = base64.b64decode(program["content"])

    (tmp_path / "newer").mkdir()
    calls, said = run_script(script, tmp_path / "newer", "13.0.1")
    registry = image.partition("/")[0]
    assert calls[0] == ["login", "--username", "AWS", "--password-stdin", registry]
    assert calls[1] == ["pull", image]
    run = calls[-1]
    assert run[0] == "run"
    assert run[run.index(image) + 1 :] == words
    assert run[run.index("--gpus") + 1] == "all"
    assert "the image holds CUDA 13.0, newer than the 12.9" in said

    (tmp_path / "older").mkdir()
    assert run_script(script, tmp_path / "older", "12.10.0")[1].startswith("warning")
    (tmp_path / "same").mkdir()
    assert run_script(script, tmp_path / "same", "12.9.1")[1] == ""

    (tmp_path / "neuron").mkdir()
    script = base64.b64decode(found["neuron"]["write_files"][len(PREPARED)]["content"])
    calls, _ = run_script(script, tmp_path / "neuron", "")
    assert calls[0] == ["pull", "job:1"]
    assert "--gpus" not in calls[-1]
    assert calls[-1][calls[-1].index("--device") + 1].startswith("/dev/neuron")
    assert calls[-1][-1] == "job:1"
