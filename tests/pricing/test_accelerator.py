"""Names: what others write -> the one accelerator it means; what is unknown stays unknown."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pricing import accelerator
from pricing.accelerator import accelerators, aliases, match, resolve, siblings, tpu_slice
from pricing.errors import UnknownName

MEANINGS = {
    "A10-24GB": ["A10", "NVIDIA A10", "a10-24gb", "nvidia_a10"],
    "A10G-24GB": ["A10G", "NVIDIA A10G"],
    "A100-40GB-SXM": ["A100", "nvidia-tesla-a100", "A100-40GB", "NVIDIA A100-SXM4-40GB", "Tesla A100", "A100 40 GB"],
    "A100-80GB-SXM": ["A100-80GB", "A100 80GB", "nvidia-a100-80gb", "a100_80gb", "NVIDIA A100-SXM4-80GB"],
    "A100-40GB-PCIe": ["NVIDIA A100-PCIE-40GB", "A100 PCIe 40GB"],
    "A100-80GB-PCIe": ["NVIDIA A100 80GB PCIe", "A100-80GB-PCIE"],
    "B200-180GB-SXM": ["B200", "nvidia-b200"],
    "B300-270GB-SXM": ["B300", "B300-SXM"],
    "GB200-186GB": ["GB200", "nvidia-gb200", "GB200 NVL72"],
    "Gaudi-32GB": ["Gaudi", "HL-205", "Gaudi HL-205", "Intel Gaudi", "Habana Gaudi"],
    "H100-80GB-PCIe": ["H100 PCIe", "NVIDIA H100 PCIe", "h100-pcie"],
    "H100-80GB-SXM": [
        "H100", "h100", "NVIDIA H100 80GB", "nvidia-h100-80gb", "nvidia-h100-mega-80gb", "H100-SXM", "H100 SXM",
        "H100-MEGA", "NVIDIA H100 80GB HBM3", "H100 SXM5", "  H100  ", "NVIDIA H100",
    ],
    "H100-94GB-NVL": ["H100 NVL", "H100NVL", "NVIDIA H100 NVL"],
    "H200-141GB-SXM": ["H200", "nvidia-h200-141gb", "H200-SXM"],
    "Inferentia1": ["Inferentia", "AWS Inferentia", "inf1"],
    "K80-12GB-die": ["K80", "nvidia-tesla-k80", "Tesla K80"],
    "K80-24GB-board": ["K80-24GB-board", "K80 board"],
    "L4-24GB": ["L4", "nvidia-l4", "NVIDIA L4"],
    "L40-48GB": ["L40"],
    "L40S-48GB": ["L40S", "NVIDIA L40S"],
    "M60-8GB-die": ["M60", "Tesla M60"],
    "MI25-16GB": ["MI25", "Radeon MI25", "AMD Radeon Instinct MI25"],
    "MI300X-192GB": ["MI300X", "AMD MI300X", "AMD Instinct MI300X", "MI300X-192GB"],
    "P100-16GB-PCIe": ["P100", "nvidia-tesla-p100", "Tesla P100-PCIE-16GB"],
    "P4-8GB": ["P4", "nvidia-tesla-p4"],
    "Quadro-RTX-6000-24GB": ["RTX6000", "Quadro RTX 6000"],
    "RTX-6000-Ada-48GB": ["RTX6000Ada", "RTX 6000 Ada", "NVIDIA RTX 6000 Ada Generation"],
    "RTX-A6000-48GB": ["A6000", "RTX A6000", "NVIDIA RTX A6000"],
    "RTX-PRO-6000-Blackwell-96GB-SE": ["RTX PRO 6000", "nvidia-rtx-pro-6000", "RTX-PRO-Server-6000"],
    "T4-16GB": ["T4", "nvidia-tesla-t4", "Tesla T4", "NVIDIA T4", "t4-16gb"],
    "T4G-16GB": ["T4G", "t4g"],
    "TPU-v4": ["TPU v4", "tpu-v4-podslice", "tpu-v4-8", "v4-8"],
    "TPU-v5e": ["TPU-v5e", "tpu-v5-lite-podslice", "ct5lp-hightpu-4t", "tpu-v5litepod-8", "tpu-v5e-8", "Cloud TPU v5e"],
    "TPU-v6e": ["tpu-v6e-8", "ct6e-standard-4t", "Trillium", "Google Cloud TPU v6e"],
    "TPU-v7-Ironwood": ["tpu7x", "TPU-v7", "Ironwood", "tpu7x-standard-4t"],
    "Trainium1": ["Trainium", "trn1"],
    "V100-16GB-SXM2": ["V100", "V100-16GB", "nvidia-tesla-v100", "Tesla V100-SXM2-16GB"],
    "V100-32GB-SXM2": ["V100-32GB", "Tesla V100-SXM2-32GB"],
}  # fmt: skip


@pytest.mark.parametrize(("written", "name"), [(w, name) for name, all_ in MEANINGS.items() for w in all_])
def test_what_others_write_is_understood(written, name):
    assert resolve(written).name == name


@pytest.mark.parametrize(
    ("written", "among_nearest"),
    [
        ("A4000", "RTX-A6000-48GB"),
        ("A100X", "A100"),
        ("H1OO", "H100"),
        ("A100 PCIe", "A100-80GB-PCIe"),
        ("RTX 4060", "RTX-4090-24GB"),
        ("H100-96GB-SXM", "H100-80GB-SXM"),
        ("MI250", "MI250X-128GB"),
        ("A10 0", None),
        ("v3-9", None),
        ("v5e-0", None),
        ("", None),
        ("NVIDIA", None),
        ("TPU", "TPU-v4"),
        ("some card", None),
        ("H100 x8", None),
    ],
)
def test_what_is_unknown_stays_unknown_and_says_what_is_near(written, among_nearest):
    with pytest.raises(UnknownName) as caught:
        resolve(written)
    assert caught.value.kind == "accelerator"
    assert caught.value.name == written
    assert len(caught.value.nearest) <= 5
    if among_nearest:
        assert among_nearest in caught.value.nearest


def test_a_bare_model_is_one_accelerator_for_a_plan_and_all_variants_for_a_filter():
    assert [a.name for a in match("H100")] == ["H100-80GB-PCIe", "H100-80GB-SXM", "H100-94GB-NVL"]
    assert [a.name for a in match("H100 NVL")] == ["H100-94GB-NVL"]
    assert [a.name for a in match("nvidia-tesla-t4")] == ["T4-16GB"]
    assert [a.name for a in siblings(resolve("H100"))] == ["H100-80GB-PCIe", "H100-94GB-NVL"]
    assert siblings(resolve("T4")) == ()
    assert {a.model for a in match("A100")} == {"A100"}


@pytest.mark.parametrize(
    ("written", "name", "chips"),
    [
        # v2, v3, v4 and v5p count cores, two to a chip; v5e, v6e and machine types count chips
        ("v2-8", "TPU-v2", 4),
        ("tpu-v3-8", "TPU-v3", 4),
        ("v3-2048", "TPU-v3", 1024),
        ("TPU v4-8", "TPU-v4", 4),
        ("tpu-v5p-8", "TPU-v5p", 4),
        ("tpu-v5litepod-4", "TPU-v5e", 4),
        ("v5litepod-256", "TPU-v5e", 256),
        ("tpu-v5e-8", "TPU-v5e", 8),
        ("tpu-v6e-1", "TPU-v6e", 1),
        ("ct5lp-hightpu-8t", "TPU-v5e", 8),
        ("ct3-hightpu-4t", "TPU-v3", 4),
        ("ct6e-standard-4t", "TPU-v6e", 4),
    ],
)
def test_cores_and_chips_of_a_slice_are_told_apart(written, name, chips):
    found, count = tpu_slice(written)
    assert (found.name, count) == (name, chips)


@pytest.mark.parametrize(
    "written", ["v3-7", "v2-0", "v5e-", "H100", "tpu-v9-8", "v3-8-8", "v38", "v5e-8-8", "v2-" + "8" * 5000]
)
def test_no_slice_is_made_up(written):
    with pytest.raises(UnknownName):
        tpu_slice(written)


def test_every_slice_that_google_sells_says_its_own_chips(catalog):
    slices = [o for o in catalog.offerings.values() if o.instance_type.startswith(("tpu-", "ct", "tpu7x"))]
    assert len(slices) > 50
    for offering in slices:
        chip, chips = tpu_slice(offering.instance_type)
        assert (chip.name, chips) == (offering.accelerator, offering.accelerator_count), offering.instance_type


def test_the_tables_agree_with_themselves():
    names = accelerator.embedded_names()
    assert names.faults() == []
    assert len(accelerators()) == 109
    assert all(a.source for a in accelerators())
    for alias in aliases():
        assert alias.name in names.by_name
        if alias.units_per_chip is None:
            assert resolve(alias.written).name == alias.name
    for name in names.by_name:
        assert resolve(name).name == name


def test_parts_without_a_specification_are_gaps_not_guesses():
    for written in ("GRID K520", "Radeon PRO V620", "Qualcomm AI 100", "RTX PRO 4500"):
        part = resolve(written)
        assert (part.fp16_tflops, part.memory_bandwidth_gbs, part.tdp_w, part.list_price) == (None, None, None, None)
        assert part.memory_gib is not None


def test_what_one_is_counted_as():
    counted = {
        name: resolve(name).counted_as for name in ("K80", "K80 board", "M60", "TPU-v5p", "H100", "MI250X-128GB")
    }
    assert counted == {
        "K80": "die", "K80 board": "board", "M60": "die", "TPU-v5p": "chip", "H100": "device", "MI250X-128GB": "module",
    }  # fmt: skip
    die, board = resolve("K80"), resolve("K80 board")
    assert board.memory_gib == 2 * die.memory_gib
    assert board.fp32_tflops == pytest.approx(2 * die.fp32_tflops)


@given(st.sampled_from([a.name for a in accelerators()]), st.sampled_from([" ", "-", "_", "  "]), st.booleans())
def test_case_separators_and_vendor_never_matter(name, separator, shout):
    written = separator.join(name.split("-"))
    assert resolve(written.upper() if shout else written.lower()).name == name
    assert resolve(f"NVIDIA {written}").name == name


@given(st.text(max_size=12))
def test_any_text_is_a_name_or_unknown(written):
    try:
        found = resolve(written)
    except UnknownName:
        return
    assert found in match(written)


def test_memory_without_a_form_means_every_generation_of_the_form():
    assert [a.name for a in match("V100-32GB")] == ["V100-32GB-SXM2", "V100-32GB-SXM3"], "not the PCIe card"
    assert [a.name for a in match("v100 32gb")] == ["V100-32GB-SXM2", "V100-32GB-SXM3"]
    assert [a.name for a in match("V100-32GB-SXM2")] == ["V100-32GB-SXM2"]
    assert [a.name for a in match("Tesla V100-SXM3-32GB")] == ["V100-32GB-SXM3"]
    assert [a.name for a in match("V100-16GB")] == ["V100-16GB-SXM2"]
    assert [a.name for a in match("A100-80GB")] == ["A100-80GB-SXM"]
