"""What tpu_pool would create, and the containers that both kinds of machines run."""

from __future__ import annotations

import base64
import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from planner.reports.terraform.provisioning import find_shipped_folder

Plans = Callable[..., Any]
END_SLICE = find_shipped_folder("terraform") / "gcp" / "tpu_pool" / "end-slice.sh"


def script_of(text: str) -> str:
    """The script inside a cloud-init or a startup script, held to be one that a shell can read."""
    script = base64.b64decode(max(re.findall(r"[A-Za-z0-9+/=]{200,}", text), key=len)).decode()
    for part in (script, text if text.startswith("#!") else "true"):
        done = subprocess.run(["bash", "-n"], input=part, text=True, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr
    return script


def words_of(script: str) -> list[str]:
    """The image and the command, as a shell reads them."""
    lines = script[script.index("image=") : script.index("\n\n", script.index("command=("))]
    done = subprocess.run(
        ["bash", "-c", lines + '\nprintf "%s\\0" "$image" "${command[@]}"'], capture_output=True, check=True
    )
    return done.stdout.decode().split("\0")[:-1]


@pytest.mark.slow
def test_a_container_gets_its_words_as_they_are(plans: Plans) -> None:
    words = ["train", "--name=it's $(id) `id` ${HOME}", 'a"b\\c', "SCRIPT\nUNIT\nEOF", "é"]
    gpu: dict[str, Any] = {"machine_type": "g2-standard-4", "container_image": "r.io/a:1", "container_command": words}
    tpu: dict[str, Any] = {"accelerator_type": "v6e-4", "container_image": "r.io/a:1", "container_command": words}
    node = plans("gpu_pool", {"gpu": {**gpu, "cuda_line": "12.8"}}).by_call("google_compute_instance_template")["gpu"]
    text = node["metadata"]["user-data"]
    assert text.startswith("#cloud-config\n")
    assert "Restart=on-failure" in text
    script = script_of(text)
    assert words_of(script) == ["r.io/a:1", *words]
    assert "--gpus all" in script
    assert "cuda_line=12.8" in script
    slices = plans("tpu_pool", {"tpu": tpu}).each("google_tpu_v2_vm")
    script = script_of(slices[0][1]["metadata"]["startup-script"])
    assert words_of(script) == ["r.io/a:1", *words]
    assert "--privileged" in script


def test_tpu_slices_have_their_topology_or_wait_in_the_queue(plans: Plans) -> None:
    checked = plans(
        "tpu_pool",
        {
            "named": {"accelerator_type": "v5litepod-8", "purchase_option": "spot"},
            "shaped": {"accelerator_type": "v5p-32", "topology": "2x2x4", "reserved": True},
            "flat": {"accelerator_type": "v5litepod-16", "topology": "4x4"},
            "queued": {"accelerator_type": "v4-16", "queued": True},
        },
    )
    made = dict(checked.each("google_tpu_v2_vm"))
    assert made["named"]["accelerator_type"] == "v5litepod-8"
    assert made["named"]["scheduling_config"][0]["spot"] is True
    assert made["shaped"]["accelerator_config"] == [{"topology": "2x2x4", "type": "V5P"}]
    assert made["shaped"]["scheduling_config"][0]["reserved"] is True
    assert made["flat"]["accelerator_config"] == [{"topology": "4x4", "type": "V5LITE_POD"}]
    assert {s["network_config"][0]["enable_external_ips"] for s in made.values()} == {False}
    waiting = [values["tpu"][0]["node_spec"][0] for _, values in checked.each("google_tpu_v2_queued_resource")]
    assert [spec["node_id"] for spec in waiting] == ["gp-queued-0", "gp-queued-1"]
    assert {spec["parent"] for spec in waiting} == {"projects/my-project/locations/us-east5-a"}
    assert {spec["node"][0]["accelerator_type"] for spec in waiting} == {"v4-16"}


@pytest.mark.slow
def test_what_a_tpu_pool_cannot_be_is_said(plans: Plans) -> None:
    told = plans(
        "tpu_pool",
        {
            "chips": {"accelerator_type": "v5p-32", "topology": "4x4x4"},
            "spot_held": {"accelerator_type": "v4-8", "purchase_option": "spot", "reserved": True},
            "spot_queued": {"accelerator_type": "v4-8", "purchase_option": "spot", "queued": True},
            "shaped_queue": {"accelerator_type": "v4-8", "topology": "2x2x1", "queued": True},
        },
    ).failure
    assert "The topology has 64 chips and v5p-32 has 16." in told
    assert "Spot slices cannot start in a reservation." in told
    assert "A queued slice is started on demand" in told
    assert "A queued slice takes no topology" in told


@pytest.mark.slow
def test_each_slice_ends_when_its_schedule_has_no_place_for_it(plans: Plans) -> None:
    """Two slices, one from the 5th on, none after the month: nobody has to apply for that. Nothing of it has begun."""
    schedule = [
        {"start": "2996-12-01T00:00:00Z", "node_count": 2},
        {"start": "2996-12-05T06:00:00Z", "node_count": 1},
        {"start": "2997-01-01T00:00:00Z", "node_count": 0},
    ]
    checked = plans(
        "tpu_pool",
        {
            "dated": {"accelerator_type": "v5litepod-8", "schedule": schedule},
            "endless": {"accelerator_type": "v5litepod-8"},
            "scripted": {"accelerator_type": "v5litepod-8", "schedule": schedule, "startup_script": "#!/bin/sh\nid\n"},
        },
    )
    made = [(call, slice_["name"], slice_["metadata"]) for call, slice_ in checked.each("google_tpu_v2_vm")]
    assert [metadata["end-at"] for call, _, metadata in made if call == "dated"] == [
        "2997-01-01T00:00:00Z",
        "2996-12-05T06:00:00Z",
    ]
    for call, name, metadata in made:
        if call == "endless":
            assert metadata == {}
            continue
        assert metadata["slice-name"] == f"projects/my-project/locations/us-east5-a/nodes/{name}"
        text = metadata["startup-script"]
        assert script_of(text) == END_SLICE.read_text()
        assert "systemctl enable --now end-slice.timer" in text
        own = re.search(r"own-startup <<<(\S+)", text)
        assert (base64.b64decode(own[1]).decode() if own else None) == (
            "#!/bin/sh\nid\n" if call == "scripted" else None
        )


@pytest.mark.parametrize(("end", "ends"), [("2020-01-01T00:00:00Z", True), ("2996-01-01T00:00:00Z", False)])
def test_a_slice_deletes_itself_when_its_time_is_over(end: str, ends: bool, tmp_path: Path) -> None:
    """The script itself, with a curl that answers as the metadata server does and writes down what it is asked."""
    (tmp_path / "curl").write_text(
        f"""#!/bin/bash
echo "$@" >>{tmp_path}/asked
case "${{@: -1}}" in
  */end-at) echo {end} ;;
  */slice-name) echo projects/p/locations/z/nodes/n-0 ;;
  */token) echo '{{"access_token":"tok","expires_in":3599,"token_type":"Bearer"}}' ;;
esac
"""
    )
    (tmp_path / "curl").chmod(0o755)
    path = {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    done = subprocess.run(["bash", str(END_SLICE)], env=path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    asked = (tmp_path / "asked").read_text()
    wanted = "-X DELETE -H Authorization: Bearer tok https://tpu.googleapis.com/v2/projects/p/locations/z/nodes/n-0"
    assert (wanted in asked) == ends
    assert ("DELETE" in asked) == ends
