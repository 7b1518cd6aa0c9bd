"""AMD SMI behind our names: a stand-in with the names of its reference, as none is where these tests run."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from planner.measure.amd_sampler import AmdSampler, open_amd
from planner.measure.telemetry_samples import Device, DeviceReading


class Refused(Exception):
    """What the library raises."""


@pytest.fixture
def smi() -> SimpleNamespace:
    def refuse(*_: object) -> None:
        raise Refused

    return SimpleNamespace(
        AmdSmiException=Refused,
        amdsmi_get_processor_handles=lambda: ["a", "b"],
        amdsmi_get_gpu_asic_info=lambda _: {"market_name": "AMD Instinct MI300X"},
        amdsmi_get_gpu_vram_usage=lambda _: {"vram_total": 196_608, "vram_used": 98_304},
        amdsmi_get_gpu_activity=lambda _: {"gfx_activity": 91, "umc_activity": 40, "mm_activity": "N/A"},
        amdsmi_get_power_info=lambda _: {"current_socket_power": 640, "average_socket_power": "N/A"},
        amdsmi_shut_down=refuse,
    )


def test_readings_come_in_our_units(smi):
    amd = AmdSampler(smi, {})
    assert amd.devices() == (
        Device(0, "AMD Instinct MI300X", memory_gib=192),
        Device(1, "AMD Instinct MI300X", memory_gib=192),
    )
    assert amd.sample(0.0)[0] == DeviceReading(busy=0.91, memory_busy=0.4, memory_used_gib=96, power_w=640)
    amd.close()


def test_what_it_may_not_see_is_not_measured(smi):
    assert [device.index for device in AmdSampler(smi, {"ROCR_VISIBLE_DEVICES": "1"}).devices()] == [1]


def test_what_is_not_supported_is_not_known(smi):
    smi.amdsmi_get_gpu_activity = smi.amdsmi_shut_down
    smi.amdsmi_get_power_info = lambda _: {"socket_power": "N/A", "current_socket_power": 0xFFFFFFFF}
    first, _ = AmdSampler(smi, {}).sample(0.0)
    assert (first.busy, first.memory_busy, first.power_w) == (None, None, None)


def test_where_it_is_not_installed_nothing_is_said(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "amdsmi", None)
    assert open_amd({}).notes == ()
