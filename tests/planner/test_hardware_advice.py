"""Shortlists of hardware: the cost of the work by hand, what is shown and left out, limits with their source."""

from __future__ import annotations

import math
from datetime import date

import pytest

from planner.analysis.hardware_advice import (
    HARDWARE_KINDS,
    HardwareNeed,
    advise_hardware,
    cpus_to_feed,
    find_feeding_limits,
    find_hardware_limits,
    find_tier,
    load_tiers,
    load_workstations,
    owned_cost_per_hour,
    relative_speed,
)
from planner.performance.throughput.accelerator_scores import accelerator_score
from pricing.catalog.price_catalog import Catalog

CATALOG = Catalog.embedded()
PARTS = CATALOG.names.by_name
DAY = date(2026, 11, 21)


def advise(light=False, **need):
    return advise_hardware(HardwareNeed(**need), CATALOG, DAY, light=light)


def test_the_cost_of_a_card_by_hand():
    """RTX 4090: 1,599 USD over 60 months of 730 hours is 0.0365 an hour; 0.45 kW x 1.54 x 0.146 is 0.1012."""
    assert owned_cost_per_hour(1_599, 0.45) == pytest.approx(0.0365 + 0.1012, abs=1e-4)
    (card,) = [one for one in advise(memory_gib=24).choices["card"] if one.accelerator == "RTX-4090-24GB"]
    assert card.cost_per_work_hour == pytest.approx(owned_cost_per_hour(1_599, 0.45) / card.speed)
    assert (card.price, card.priced, card.ecc, card.device_class) == (1_599, "2022", False, "consumer")


def test_speed_is_that_of_the_throughput_model():
    """An A100-80GB-SXM is 1; an H100-80GB-SXM is as much faster as predictions say."""
    need = HardwareNeed()
    scores = [accelerator_score(PARTS[name], "training", "bf16") for name in ("H100-80GB-SXM", "A100-80GB-SXM")]
    assert relative_speed(PARTS["A100-80GB-SXM"], need, CATALOG) == 1
    assert relative_speed(PARTS["H100-80GB-SXM"], need, CATALOG) == pytest.approx(math.exp(scores[0] - scores[1]))
    assert relative_speed(PARTS["RTX-PRO-4500-32GB"], need, CATALOG) is None


def test_everything_shown_meets_the_need_and_is_sold():
    found = advise(memory_gib=40, memory_bandwidth_gbs=800, tflops=150, cpus=32, host_memory_gib=128)
    assert found.choices["cloud"]
    for one in found.choices["cloud"]:
        assert one.memory_gib >= 40
        assert one.memory_bandwidth_gbs >= 800
        assert one.tflops >= 150
        assert one.vcpus >= 32
        assert one.host_memory_gib >= 128
        assert one.cost_per_work_hour == pytest.approx(one.price / one.accelerators / one.speed)
    assert found.choices["server"] == ()  # their processors are unknown: counted, not shown
    assert found.unpriced["server"] > 0
    assert "a3-ultragpu-8g" not in {one.name for one in found.choices["cloud"]}  # not sold on demand


def test_lists_go_by_cost_of_the_work_and_for_light_work_by_price():
    by_cost, by_price = advise(memory_gib=16), advise(light=True, memory_gib=16)
    for kind in ("card", "workstation", "server", "cloud"):
        costs = [one.cost_per_work_hour for one in by_cost.choices[kind]]
        prices = [one.price for one in by_price.choices[kind]]
        assert costs == sorted(costs)
        assert prices == sorted(prices)
    assert by_cost.choices["cpu"] == ()
    assert by_price.choices["cpu"][0].host_memory_gib >= 16


def test_a_type_of_each_provider_and_accelerator_is_enough():
    keys = [(one.where.split()[0], one.accelerator) for one in advise(memory_gib=16).choices["cloud"]]
    assert len(keys) == len(set(keys))


def test_no_module_is_a_card():
    names = {one.accelerator for one in advise().choices["card"]}
    assert {"RTX-4090-24GB", "RTX-6000-Ada-48GB", "A100-80GB-PCIe"} <= names
    assert not {name for name in names if "SXM" in name or name.startswith(("GB", "GH", "MI", "TPU", "CPU"))}


@pytest.mark.parametrize(
    ("part", "codes"),
    [
        ("RTX-4090-24GB", ["geforce_datacenter"]),
        ("GTX-1080-8GB", ["geforce_datacenter", "last_driver_branch"]),
        ("V100-16GB-SXM2", ["last_driver_branch"]),
        ("A100-80GB-PCIe", []),
        ("MI300X-192GB", ["other_software"]),
    ],
)
def test_limits_of_licence_and_driver(part, codes):
    """GeForce licence 2.1.3; the last branches by NVIDIA's schedule: 580 for Maxwell, Pascal and Volta."""
    limits = find_hardware_limits(PARTS[part])
    assert [one.code for one in limits] == codes
    assert all(one.parameters["source"] for one in limits if one.code != "other_software")


@pytest.mark.parametrize(("accelerators", "loaders", "cpus"), [(8, 2, 28), (8, 4, 44), (1, 2, 7)])
def test_processors_that_keep_accelerators_fed(accelerators, loaders, cpus):
    """8 accelerators: 8 x (2 + 1) + 4 = 28 for text, 8 x (4 + 1) + 4 = 44 for images."""
    assert cpus_to_feed(accelerators, loaders) == cpus


@pytest.mark.parametrize(
    ("provider", "instance_type", "codes"),
    [
        ("aws", "g6e.xlarge", ["few_cpus", "little_host_memory"]),  # 4 vCPUs and 32 GiB beside one L40S of 48
        ("aws", "p5.48xlarge", []),  # 192 vCPUs and 2,048 GiB beside 8 x 80
    ],
)
def test_nodes_that_starve_their_accelerators_are_told(provider, instance_type, codes):
    offering = CATALOG.offerings[provider, instance_type]
    memory = PARTS[offering.accelerator].memory_gib
    found = find_feeding_limits(offering, offering.accelerator_count, memory)
    assert [one.code for one in found] == codes


def test_the_cost_of_a_workstation_by_hand():
    """Four RTX 5090 for 29,000 USD: 29,000 / 43,800 h = 0.6621; two supplies of 1.6 kW x 1.54 x 0.146 = 0.7195."""
    (found,) = [one for one in advise(memory_gib=24).choices["workstation"] if one.name == "tinybox green v2"]
    assert owned_cost_per_hour(29_000, 3.2) == pytest.approx(0.6621 + 0.7195, abs=1e-4)
    assert found.cost_per_work_hour == pytest.approx(owned_cost_per_hour(29_000, 3.2) / (4 * found.speed))
    assert (found.price, found.priced, found.accelerators, found.ecc) == (29_000, "2025", 4, False)
    assert [one.code for one in found.limits] == ["geforce_datacenter"]  # 32 cores feed 4, and 192 GB are above 128


def test_a_workstation_of_untold_power_counts_its_accelerators():
    """One RTX PRO 6000 of 0.6 kW in 39,000 USD: 0.8904 + 0.1349 an hour."""
    (found,) = [one for one in advise(memory_gib=96).choices["workstation"] if one.accelerators == 1]
    assert found.cost_per_work_hour * found.speed == pytest.approx(0.8904 + 0.1349, abs=1e-4)
    assert found.ecc is True


def test_workstations_meet_what_is_asked_of_the_node():
    names = {one.name for one in advise(memory_gib=24).choices["workstation"]}
    assert names == {one.name for one in load_workstations()}
    assert {one.name for one in advise(cpus=64).choices["workstation"]} == set()
    assert all(one.host_memory_gib >= 192 for one in advise(host_memory_gib=192).choices["workstation"])
    little = [one for one in advise(memory_gib=32, host_memory_gib=32).choices["workstation"] if one.accelerators == 1]
    assert [one.limits[-1].code for one in little if one.host_memory_gib == 32] == ["geforce_datacenter"]


def test_of_equal_costs_the_smallest_machine_goes_first():
    """A slice of 576 TPU chips costs as much a chip as one of 4; a few are easier to buy."""
    for kind, found in advise(memory_gib=80).choices.items():
        costs = [(float(f"{one.cost_per_work_hour:.9g}"), one.accelerators) for one in found]
        assert costs == sorted(costs), kind
    slices = [one.accelerators for one in advise(memory_gib=80).choices["cloud"] if one.accelerator == "TPU-v5p"]
    assert slices == [4]


@pytest.mark.parametrize(
    ("words", "tier"),
    [("light inference", "light"), ("Very demanding work", "demanding"), ("complex", "complex"), ("nothing", None)],
)
def test_words_name_a_tier(words, tier):
    found = find_tier(words.split())
    assert (found and found.name) == tier


def test_tiers_ask_for_more_each():
    figures = [(tier.memory_gib, tier.memory_bandwidth_gbs, tier.tflops) for tier in load_tiers()]
    assert figures == sorted(figures)
    assert all(tier.source for tier in load_tiers())


def test_consumer_against_data_centre_by_the_work():
    found = advise(light=True, memory_gib=8)
    for name in ("consumer", "datacenter"):
        cards = [one.cost_per_work_hour for one in found.choices["card"] if one.device_class == name]
        assert found.cheapest_of_class(name).cost_per_work_hour == min(cards)
    assert advise(memory_gib=80).cheapest_of_class("consumer") is None
    assert set(found.choices) == set(HARDWARE_KINDS)
