"""Machine types, GPUs and TPU slices of all zones -> offerings and where each is sold; GPU quotas."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest

from pricing.adapters.protocol import RejectedRow, SkippedRows
from pricing.errors import ProviderFailure
from pricing.providers.gcp import fetch, machine_types, tpu_slices
from pricing.providers.gcp.clients import GcpClients
from pricing.sale import SaleTerm

ZONE = "us-central1-a"


@pytest.fixture
def read(asked):
    """read(**known) -> what the zones sell, where some of the known offerings were other than they are."""

    def start(known=None, **how):
        ask, _ = asked(**how)
        ask = replace(ask, known={**ask.known, **(known or {})})
        return machine_types.read(ask, GcpClients(ask))

    return start


def lefts(found):
    return {r.reason: r.rows for r in found.readings() if isinstance(r, SkippedRows)}


def test_known_types_stay_as_they_are(read):
    found = read()
    assert found.refused == {}
    assert set(found.offerings) == {"a4-highgpu-8g"}  # its bundled local SSD was not known
    assert lefts(found) == {
        "GPUs known as they are": 2,
        "accelerators that are not attached to machines": 2,  # H100, and T4 as a virtual workstation
        "machine types known as they are": 12,
        "machine types without accelerators": 1,
    }


def test_every_row_is_accounted_for(read, world):
    rows = sum(map(len, world.zones.values())) + sum(map(len, world.gpus.values()))
    readings = [reading for reading in read().readings() if not isinstance(reading, SaleTerm)]
    assert sum(1 if not isinstance(r, SkippedRows) else r.rows for r in readings) == rows


def test_a_type_is_updated_where_the_cloud_knows_more(read, catalog):
    found = read().offerings["a4-highgpu-8g"]
    known = catalog.offerings["gcp", "a4-highgpu-8g"]
    assert found == replace(known, local_ssd_gb=12000.0, source_id="gcp-compute-api")  # 32 partitions of 375 GiB


def test_sold_where_a_zone_has_it(read):
    sold = read().sold
    assert sold["a2-highgpu-1g"] == {"us-central1"}
    assert sold["n1-standard-8+1xnvidia-tesla-t4"] == {"us-central1"}  # us-east1: N1 in zone b, T4 in zone c
    assert sold["nvidia-tesla-t4"] == {"us-central1", "us-east1"}
    assert sold["n1-highmem-8+1xnvidia-tesla-v100"] == set()


def test_a_new_type_is_resolved_by_the_clouds_own_name(read, world, make):
    world.zones[ZONE].append(make.machine("a3-highgpu-8g", name="a5-highgpu-8g"))
    new = read().offerings["a5-highgpu-8g"]
    assert (new.family, new.accelerator, new.accelerator_count, new.vcpus) == ("A5", "H100-80GB-SXM", 8, 208)
    assert (new.status, new.source_id, new.local_ssd_gb) == ("current", "gcp-compute-api", None)


def test_an_unknown_accelerator_is_never_guessed(read, world, make):
    x300 = [{"guestAcceleratorType": "nvidia-x300", "guestAcceleratorCount": 4}]
    world.zones[ZONE].append(make.machine("a4-highgpu-8g", name="a4x-maxgpu-8g", accelerators=x300))
    found = read()
    assert "a4x-maxgpu-8g" not in found.offerings
    assert found.refused["a4x-maxgpu-8g"].reason.startswith("guestAcceleratorType: unknown accelerator 'nvidia-x300'")


def test_another_count_is_refused_with_both_numbers_and_gets_no_price(asked, readings, world, make):
    four = [{"guestAcceleratorType": "nvidia-h100-80gb", "guestAcceleratorCount": 4}]
    world.zones[ZONE] = [make.machine("a3-highgpu-8g", accelerators=four), make.machine("a2-highgpu-1g")]
    found = readings(asked()[0], "machine types")
    assert RejectedRow("a3-highgpu-8g", "4 accelerators, known with 8 (us-central1-a)") in found["RejectedRow"]
    priced = {p.instance_type for p in readings(asked()[0], "prices of machines with GPUs")["Price"]}
    assert "a3-highgpu-8g" not in priced
    assert "a2-highgpu-1g" in priced


def test_another_accelerator_is_refused_with_both_names(read, catalog):
    wrong = replace(catalog.offerings["gcp", "a2-highgpu-1g"], accelerator="A100-80GB-SXM")
    found = read({"a2-highgpu-1g": wrong})
    assert found.refused["a2-highgpu-1g"].reason == (
        "accelerator nvidia-tesla-a100 is A100-40GB-SXM, known as A100-80GB-SXM (us-central1-a)"
    )


def test_another_n1_shape_is_refused(read, world, make):
    world.zones[ZONE] = [make.machine("n1-standard-8", guestCpus=10)]
    assert read().refused["n1-standard-8"].reason == "10 vCPU and 30 GiB, known with GPUs as 8 and 30"


def test_numbers_that_differ_between_zones_are_refused(read, world, make):
    world.zones["us-east1-b"].append(make.machine("a4-highgpu-8g", guestCpus=96))
    found = read()
    assert found.refused["a4-highgpu-8g"].reason == "its numbers differ between zones (us-east1-b)"
    assert "a4-highgpu-8g" not in found.offerings


def test_types_that_are_gone_are_left(read, world, make):
    world.zones[ZONE].append(make.machine("a2-highgpu-1g", name="a9-old-1g", deprecated={"state": "OBSOLETE"}))
    assert lefts(read())["machine types that can no longer be started"] == 1


def ends(found):
    """What the zones say of ends, by type and region; the rest says nothing."""
    terms = (term for term in found.sale_terms if term.ends is not None)
    return {(term.instance_type, term.region): (term.ends, term.sold, term.successor) for term in terms}


def deprecated(state, **dates):
    base = "https://www.googleapis.com/compute/v1/projects/p/zones/us-central1-a/machineTypes/"
    return {"state": state, "replacement": f"{base}a3-highgpu-8g", **dates}


def test_the_end_of_a_type_is_that_of_the_zone_that_keeps_it_longest(read, world, make):
    """DeprecationStatus: `obsolete` is when new machines are refused; a state alone, or ACTIVE, is no end."""
    name = "a2-highgpu-1g"
    for zone, day in ((ZONE, "2027-01-31T00:00:00.000-08:00"), ("us-central1-b", "2027-03-31T00:00:00.000-08:00")):
        old = make.machine(name, deprecated=deprecated("DEPRECATED", obsolete=day))
        world.zones[zone] = [row for row in world.zones[zone] if row["name"] != name] + [old]
    world.zones["us-east1-b"].append(make.machine("a3-megagpu-8g", deprecated=deprecated("DEPRECATED")))
    world.zones["us-east5-a"].append(
        make.machine("a3-megagpu-8g", deprecated={"state": "ACTIVE", "obsolete": "2027-01-01"})
    )
    assert ends(read()) == {(name, "us-central1"): (date(2027, 3, 31), None, "a3-highgpu-8g")}
    world.zones["us-central1-b"][-1].pop("deprecated")
    assert ends(read()) == {}, "one zone keeps it"


def test_a_type_that_no_zone_starts_any_more_has_ended(read, world, make):
    gone = make.machine("a3-megagpu-8g", deprecated=deprecated("OBSOLETE", obsolete="2026-06-30T00:00:00Z"))
    world.zones["us-east1-b"].append(gone)
    world.zones["us-east5-a"].append(make.machine("a3-megagpu-8g", deprecated=deprecated("DELETED")))
    assert ends(read()) == {
        ("a3-megagpu-8g", "us-east1"): (date(2026, 6, 30), False, "a3-highgpu-8g"),
        ("a3-megagpu-8g", "us-east5"): (date(2026, 11, 21), False, "a3-highgpu-8g"),  # by the day of the refresh
    }


def test_a_machine_with_a_gpu_ends_with_its_gpu(read, world):
    plain = world.answer

    def answer(request):
        given = plain(request)
        if request.path.endswith("acceleratorTypes"):
            for scope in given.body["items"].values():
                for row in scope.get("acceleratorTypes", ()):
                    row["deprecated"] = {"state": "DEPRECATED", "obsolete": "2027-06-30T00:00:00Z"}
        return given

    world.answer = answer
    found = ends(read())
    assert found["n1-standard-8+1xnvidia-tesla-t4", "us-central1"][0] == date(2027, 6, 30)
    assert found["nvidia-tesla-t4", "us-east1"][0] == date(2027, 6, 30)
    assert ("n1-standard-8+1xnvidia-tesla-t4", "us-east1") in found
    assert "a3-highgpu-8g" not in {name for name, _ in found}, "its GPU is of the machine type, which states no end"


def test_regions_narrow_what_is_read(read):
    found = read(regions=("us-east1",))
    assert "a2-highgpu-1g" not in found.sold
    assert found.sold["nvidia-tesla-t4"] == {"us-east1"}
    assert lefts(found)["in regions that were not requested"] == 13


@pytest.mark.parametrize("field", ["name", "guestCpus", "memoryMb"])
def test_a_missing_field_is_a_changed_format(read, world, field):
    del world.zones[ZONE][0][field]
    with pytest.raises(ProviderFailure, match=field) as failed:
        read()
    assert failed.value.kind == "changed_format"


def test_a_zone_that_does_not_answer_is_no_empty_zone(cloud, ask, kit):
    scopes = {"zones/us-central1-a": {"warning": {"code": "UNREACHABLE"}}}
    running = cloud(lambda _: kit.Answer({"items": scopes}))
    asked_of = ask("gcp", {"compute": running.url}, again=False)
    with pytest.raises(ProviderFailure) as failed:
        machine_types.read(asked_of, GcpClients(asked_of))
    assert failed.value.kind == "unreachable"
    assert "no answer for zones/us-central1-a" in failed.value.detail


@pytest.fixture
def read_slices(asked):
    def start(**how):
        ask, _ = asked(**how)
        return tpu_slices.read(ask, GcpClients(ask))

    return start


def test_tpu_slices_are_sold_by_region(read_slices):
    found = read_slices()
    assert {name: regions for name, regions in found.sold.items() if "v6e" in name} == {"tpu-v6e-8": {"us-east5"}}
    assert found.offerings == found.refused == {}
    assert lefts(found) == {"TPU slices known as they are": 4}


def test_a_new_slice_counts_chips(read_slices, world):
    world.slices[ZONE]["v5p-4096"] = "8x16x16"
    new = read_slices().offerings["tpu-v5p-4096"]
    assert (new.accelerator, new.accelerator_count, new.family) == ("TPU-v5p", 2048, "TPU")  # 4096 cores


def test_a_topology_that_contradicts_the_name_is_refused(read_slices, world):
    world.slices[ZONE]["v2-8"] = "2x4"
    assert read_slices().refused["tpu-v2-8"].reason == "topology of 8 chips, its name means 4"


def test_an_unknown_slice_is_refused(read_slices, world):
    world.slices[ZONE]["v9x-8"] = "2x4"
    assert read_slices().refused["tpu-v9x-8"].reason.startswith("unknown TPU slice 'tpu-v9x-8'")


def test_zones_of_other_regions_are_not_called(asked):
    ask, running = asked(regions=("us-east5",))
    tpu_slices.read(ask, GcpClients(ask))
    assert [r.path.rsplit("/", 2)[1] for r in running.seen if r.path.endswith("acceleratorTypes")] == ["us-east5-a"]


@pytest.fixture
def quotas(asked, world):
    def read(*rows, **how):
        world.quotas["us-central1"] = [{"metric": m, "limit": limit, "usage": used} for m, limit, used in rows]
        [task] = fetch.quota_tasks(asked(**how)[0])
        return list(task.read())

    return read


def test_gpu_quotas_count_the_types_that_use_them(quotas):
    plain, spot, committed, left = quotas(
        ("CPUS", 200, 3),
        ("NVIDIA_H100_GPUS", 16, 8),
        ("PREEMPTIBLE_NVIDIA_H100_MEGA_GPUS", 24, 0),
        ("COMMITTED_NVIDIA_T4_GPUS", 4, 1),
        ("NVIDIA_T4_VWS_GPUS", 1, 0),
    )
    assert (plain.code, plain.title, plain.unit) == ("NVIDIA_H100_GPUS", "NVIDIA H100 GPUs", "accelerator")
    assert (plain.limit, plain.used, plain.region) == (16, 8, "us-central1")
    assert plain.counts("a3-highgpu-8g", "on_demand")
    assert plain.counts("a3-highgpu-1g", "committed_use")
    assert not plain.counts("a3-megagpu-8g", "on_demand")  # the same accelerator, another quota
    assert not plain.counts("a3-highgpu-8g", "spot")
    assert spot.types.split() == ["a3-megagpu-8g"]
    assert (spot.kinds, spot.title) == ("spot", "Preemptible NVIDIA H100 MEGA GPUs")
    assert committed.counts("n1-standard-8+1xnvidia-tesla-t4", "committed_use")
    assert not committed.counts("n1-standard-8+1xnvidia-tesla-t4", "on_demand")
    assert not committed.counts("nvidia-tesla-t4", "committed_use")  # a bare GPU is never a node
    assert left == SkippedRows("quotas that count no GPU of the catalogue", 2)


def test_every_known_gpu_type_has_a_quota(asked):
    from pricing.providers.gcp.quotas import types_by_metric

    ask, _ = asked()
    counted = {name for names in types_by_metric(ask).values() for name in names}
    gpus = {n for n, o in ask.known.items() if o.family != "TPU" and not o.part and o.status != "retired"}
    assert counted == gpus


def test_a_quota_of_an_unknown_gpu_is_refused(quotas):
    assert quotas(("NVIDIA_B300_GPUS", 8, 0)) == [
        RejectedRow("us-central1 NVIDIA_B300_GPUS", "no instance type is known to count against it")
    ]


def test_quotas_of_other_regions_are_left_out(quotas):
    assert quotas(("NVIDIA_H100_GPUS", 16, 8), regions=("us-east1",)) == []


def test_a_region_without_quotas_is_a_changed_format(quotas):
    with pytest.raises(ProviderFailure, match="quotas missing in region 'us-central1'"):
        quotas()
