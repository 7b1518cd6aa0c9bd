"""Published speed-ups, each by a sum worked by hand, and inputs that no source prints."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.request.errors import InputProblem
from planner.studies.examples import read_examples
from planner.studies.methods import speed_up

TIMES = "times_as_fast"


def computed(published, name: str) -> dict:
    inputs = published(name)["inputs"]
    return dict(speed_up.outputs(speed_up.INPUTS.model_validate(inputs)))


def test_text_classification_on_a_cpu_and_a_gpu(published):
    """198.2 / 14.4 = 13.7639; a job is 198.2 s at 0.4032 = 0.022198 USD and 14.4 s at 0.526 = 0.002104 USD."""
    found = computed(published, "text_classification_cpu_gpu")
    assert found[TIMES]["GPU"] == pytest.approx(13.7639, abs=5e-5)
    assert found["usd_per_job"] == {"CPU": pytest.approx(0.022198, abs=5e-7), "GPU": pytest.approx(0.002104, abs=5e-7)}
    assert found["saving_fraction"]["GPU"] == pytest.approx(1 - 0.002104 / 0.022198, abs=5e-5)
    assert found["breakeven_usd_per_hour"]["GPU"] == pytest.approx(0.4032 * 198.2 / 14.4)


def test_three_gpu_nodes_against_five_cpu_nodes(published):
    """804 % more is 9.04 times; each GPU node does 9.04 x 5 / 3 = 15.067 CPU nodes' work; at equal cost of the clusters
    the work costs 1 / 9.04 = 0.11062. One node does 4.92 times for a third of the cost: 1 / 3 / 4.92 = 0.067751."""
    found = computed(published, "aks_three_gpus_five_nodes")
    assert found[TIMES] == {"1 GPU node": pytest.approx(4.92), "3 GPU nodes": pytest.approx(9.04)}
    assert found["times_as_fast_per_device"] == {
        "1 GPU node": pytest.approx(24.6),
        "3 GPU nodes": pytest.approx(15.0667, abs=5e-5),
    }
    assert found["cost_of_work_ratio"] == {
        "1 GPU node": pytest.approx(0.067751, abs=5e-7),
        "3 GPU nodes": pytest.approx(0.110619, abs=5e-7),
    }


def test_boosted_trees_on_four_gpus_and_on_one(published):
    """23.2 / 4 = 5.8 a GPU; 4 x 0.978 = 3.912 an hour against 1.6128: 2.425595 / 23.2 = 0.104552.
    And 1309.64 / 241.52 = 5.422491."""
    four = computed(published, "boosted_trees_four_gpus")
    assert four["times_as_fast_per_device"]["4 GPUs"] == pytest.approx(5.8)
    assert four["cost_of_work_ratio"]["4 GPUs"] == pytest.approx(0.104552, abs=5e-7)
    assert computed(published, "boosted_trees_one_gpu")[TIMES]["1 GPU"] == pytest.approx(5.422491, abs=5e-7)


def test_inference_at_equal_price_and_at_list_prices(published):
    """Ten times the work at one price is ten times a dollar; 7844 / 7878 x 50,000 / 10,664 = 4.668437."""
    assert computed(published, "inference_equal_price")["work_per_price_ratio"] == {"GPU": pytest.approx(10)}
    found = computed(published, "inference_list_prices")["work_per_price_ratio"]
    assert found == {"V100": pytest.approx(4.668437, abs=5e-7)}


def test_mixed_precision(published):
    """1270 / 412 = 3.082524; 3.06 / (412 x 3600) x 1e6 = 2.063107 and 3.06 / (1270 x 3600) x 1e6 = 0.669291."""
    found = computed(published, "mixed_precision_resnet50")
    assert found[TIMES]["mixed"] == pytest.approx(3.082524, abs=5e-7)
    assert found["usd_per_million_units"] == {
        "fp32": pytest.approx(2.063107, abs=5e-7),
        "mixed": pytest.approx(0.669291, abs=5e-7),
    }


def test_owned_machines_cost_their_power_too(work):
    """Of two machines at one price, the one with more power costs more an hour; ten times the work costs a tenth."""
    machines = {
        "cool": {"price_usd": 2500, "kw": 0.1, "times_as_fast": 10},
        "hot": {"price_usd": 2500, "kw": 1.0, "times_as_fast": 10},
        "old": {"price_usd": 2500, "kw": 0.1},
    }
    found = work("speed_up", {"machines": machines, "baseline": "old"}, {TIMES: {"cool": 10}}).full_cost.figures
    assert found["own_usd_per_hour"]["hot"] > found["own_usd_per_hour"]["cool"]
    assert found["own_cost_of_work_ratio"]["cool"] == pytest.approx(0.1)
    assert found["own_cost_of_work_ratio"]["hot"] > 0.1


POSITIVE = st.floats(0.001, 1e6)


@given(POSITIVE, POSITIVE, POSITIVE, POSITIVE, POSITIVE)
def test_at_the_break_even_price_the_work_costs_the_same(slow, fast, nodes, devices, rent):
    machines = {
        "a": {"seconds": slow, "devices": nodes, "usd_per_hour": rent},
        "b": {"seconds": fast, "devices": devices},
    }
    first = speed_up.outputs(speed_up.INPUTS.model_validate({"machines": machines, "baseline": "a"}))
    machines["b"]["usd_per_hour"] = first["breakeven_usd_per_hour"]["b"]
    again = speed_up.outputs(speed_up.INPUTS.model_validate({"machines": machines, "baseline": "a"}))
    assert again["cost_of_work_ratio"]["b"] == pytest.approx(1)
    assert again["usd_per_job"]["a"] == pytest.approx(again["usd_per_job"]["b"])


def faults(example: dict) -> dict[str, InputProblem]:
    (found,) = read_examples(json.dumps([example]).encode(), "f.json")
    return {problem.path: problem for problem in found.problems}


def test_machines_that_cannot_be_compared_are_told(published):
    example = published("text_classification_cpu_gpu")
    del example["inputs"]["machines"]["GPU"]["seconds"]
    assert "nothing tells how fast GPU is against CPU" in faults(example)["[0].inputs"].message
    example["inputs"]["baseline"] = "TPU"
    assert "'TPU' is none of the machines: CPU, GPU" in faults(example)["[0].inputs"].message


def test_marks_of_assumed_inputs_are_checked(published):
    example = published("text_classification_cpu_gpu")
    example["assumed"] = {"machines.CPU.usd_per_hour": " ", "machines.CPU.watts": "guessed", "machines.CPU": "all"}
    found = faults(example)
    assert {path: one.message for path, one in found.items()} == {
        "[0].assumed.machines.CPU.usd_per_hour": "no reason",
        "[0].assumed.machines.CPU.watts": "no such input with one value",
        "[0].assumed.machines.CPU": "no such input with one value",
    }
    assert "no marks" in faults({**example, "assumed": ["kw"]})["[0].assumed"].message


def test_what_is_assumed_is_printed_beside_what_is_published(study, published, tmp_path):
    file = tmp_path / "one.json"
    file.write_text(json.dumps(published("text_classification_cpu_gpu")))
    code, out, _ = study(file)
    assert code == 0
    assert "  assumed     machines.CPU.usd_per_hour = 0.4032: m7i.2xlarge on demand" in out
    _, out, _ = study("--format", "json", file)
    marked = json.loads(out)["examples"][0]["assumed"]
    assert [(each["name"], each["value"]) for each in marked] == [
        ("machines.CPU.usd_per_hour", 0.4032),
        ("machines.GPU.usd_per_hour", 0.526),
    ]


def test_every_price_of_the_speed_ups_is_marked_or_has_its_source(document):
    """A rent that no study prints is an assumption: every one of these cases marks all of its rents."""
    for example in document["examples"]:
        if example["method"] == "speed_up":
            rents = {
                f"machines.{name}.{key}"
                for name, one in example["inputs"]["machines"].items()
                for key in one
                if key in ("usd_per_hour", "kw")
            }
            assert rents <= set(example.get("assumed", {})), example["id"]
