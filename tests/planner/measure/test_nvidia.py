"""NVML behind our names: a stand-in that shows a trace in NVML's units, with the real library's constants and errors.

There is no driver where these tests run; that this is told in one line is tested with the real library.
"""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from planner.measure.nvidia_sampler import NvidiaSampler, open_nvidia, visible_devices
from planner.measure.telemetry_samples import CLOCK_REASONS, Device
from pricing.units import GIB
from tests.planner.measure.trace_replay import read_trace

pynvml = pytest.importorskip("pynvml")
TRACE = Path(__file__).parent / "traces" / "straggler.jsonl"


class StandIn:
    """The trace's first sample. What is not defined here is the real library's, so that no name is ours alone."""

    def __init__(self, **instead: object) -> None:
        self.shown, (sample, *_) = read_trace(TRACE)
        self.readings = sample.readings
        for name, value in instead.items():
            assert hasattr(pynvml, name), f"no such call in pynvml: {name}"
            setattr(self, name, value)

    def __getattr__(self, name: str) -> object:
        found = getattr(pynvml, name)
        return self._refuse if name.startswith("nvml") and callable(found) else found

    @staticmethod
    def _refuse(*_: object) -> None:
        raise pynvml.NVMLError(pynvml.NVML_ERROR_NOT_SUPPORTED)

    def nvmlDeviceGetCount(self) -> int:  # noqa: N802  (NVML's name)
        return len(self.shown)

    def nvmlDeviceGetHandleByIndex(self, index: int) -> int:  # noqa: N802  (NVML's name)
        return index

    def nvmlDeviceGetUUID(self, handle: int) -> str:  # noqa: N802  (NVML's name)
        return f"GPU-{handle}000"

    def nvmlDeviceGetName(self, handle: int) -> str:  # noqa: N802  (NVML's name)
        return self.shown[handle].name

    def nvmlDeviceGetMemoryInfo(self, handle: int) -> object:  # noqa: N802  (NVML's name)
        return SimpleNamespace(total=80 * GIB, used=int(self.readings[handle].memory_used_gib * GIB))

    def nvmlDeviceGetEnforcedPowerLimit(self, _: int) -> int:  # noqa: N802  (NVML's name)
        return 700_000

    def nvmlDeviceGetPowerUsage(self, handle: int) -> int:  # noqa: N802  (NVML's name)
        return round(self.readings[handle].power_w * 1000)

    def nvmlDeviceGetUtilizationRates(self, handle: int) -> object:  # noqa: N802  (NVML's name)
        reading = self.readings[handle]
        return SimpleNamespace(gpu=round(reading.busy * 100), memory=round(reading.memory_busy * 100))

    def nvmlDeviceGetTotalEnergyConsumption(self, handle: int) -> int:  # noqa: N802  (NVML's name)
        return round(self.readings[handle].energy_j * 1000)

    def nvmlDeviceGetCurrentClocksEventReasons(self, handle: int) -> int:  # noqa: N802  (NVML's name)
        return self.readings[handle].reasons

    def nvmlDeviceGetTemperature(self, handle: int, _: int) -> float:  # noqa: N802  (NVML's name)
        return self.readings[handle].temperature_c

    def nvmlDeviceGetClockInfo(self, handle: int, kind: int) -> float:  # noqa: N802  (NVML's name)
        reading = self.readings[handle]
        return {pynvml.NVML_CLOCK_SM: reading.sm_clock_mhz, pynvml.NVML_CLOCK_MEM: reading.memory_clock_mhz}[kind]

    def nvmlDeviceGetMaxClockInfo(self, *_: int) -> int:  # noqa: N802  (NVML's name)
        return 1980

    def nvmlDeviceGetComputeRunningProcesses(self, handle: int) -> list[object]:  # noqa: N802  (NVML's name)
        return [SimpleNamespace(pid=100 + handle)]

    def nvmlShutdown(self) -> None:  # noqa: N802  (NVML's name)
        return


def test_readings_come_in_our_units():
    stand_in = StandIn()
    nvidia = NvidiaSampler(stand_in, {})
    (shown, *_) = nvidia.devices()
    assert shown == Device(0, "NVIDIA H100 80GB HBM3", "GPU-0000", 80, 700, 1980)
    assert nvidia.sample(0.0) == stand_in.readings
    nvidia.close()


def test_processes_tell_which_are_used():
    nvidia = NvidiaSampler(StandIn(), {"CUDA_VISIBLE_DEVICES": "0,2,3"})
    assert [device.index for device in nvidia.devices()] == [0, 2, 3]
    assert nvidia.used_by({102, 5}) == {2}
    assert nvidia.used_by({101}) == frozenset()  # hidden


def test_what_a_device_refuses_is_not_known():
    refuse = StandIn._refuse
    names = ("nvmlDeviceGetUtilizationRates", "nvmlDeviceGetPowerUsage", "nvmlDeviceGetTotalEnergyConsumption",
             "nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetComputeRunningProcesses")  # fmt: skip
    nvidia = NvidiaSampler(StandIn(**dict.fromkeys(names, refuse)), {})
    (first, *_) = nvidia.sample(0.0)
    assert (first.busy, first.memory_busy, first.power_w, first.energy_j, first.reasons) == (None,) * 5
    assert first.temperature_c == 62
    assert nvidia.used_by({100}) == frozenset()


def test_older_drivers_call_it_throttling():
    older = StandIn(
        nvmlDeviceGetCurrentClocksEventReasons=StandIn._refuse, nvmlDeviceGetCurrentClocksThrottleReasons=lambda _: 36
    )
    assert NvidiaSampler(older, {}).sample(0.0)[0].reasons == 36


def test_a_slice_is_called_one():
    sliced = StandIn(
        nvmlDeviceGetMigMode=lambda handle: [handle == 0, 0],
        nvmlDeviceGetMaxMigDeviceCount=lambda _: 7,
        nvmlDeviceGetMigDeviceHandleByIndex=lambda _, index: index if index == 1 else StandIn._refuse(),
    )
    nvidia = NvidiaSampler(sliced, {})
    assert nvidia.devices()[0].shared
    assert "MIG" in nvidia.devices()[0].name
    assert nvidia.sample(0.0)[0].busy is None
    assert nvidia.sample(0.0)[1].busy is not None
    assert any("MIG" in note for note in nvidia.notes)


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        (None, [0, 1]),
        ("", []),
        ("-1", []),
        ("1", [1]),
        ("1,0", [1, 0]),
        ("0,9,1", [0]),  # an index that means nothing ends the list
        ("GPU-de", [1]),
        ("GPU-xx,0", []),
        ("0,0", [0]),
    ],
)
def test_what_cuda_would_show(written, shown):
    assert list(visible_devices(written, ["GPU-abc", "GPU-def"], [{}, {}])) == shown


def test_a_slice_is_named_by_its_uuid():
    slices = [{}, {"MIG-1": 1, "MIG-2": 2}]
    assert visible_devices("MIG-2", ["GPU-a", "GPU-b"], slices) == {1: "MIG-2"}
    assert visible_devices(None, ["GPU-a", "GPU-b"], slices) == {0: "", 1: "MIG-1"}


def test_bits_are_those_of_the_library():
    named = {
        value
        for name, value in vars(pynvml).items()
        if name.startswith("nvmlClocksEventReason") and isinstance(value, int) and value.bit_count() == 1
    }
    assert named == set(CLOCK_REASONS)


def test_one_that_does_not_answer_is_left_out():
    lost = StandIn(nvmlDeviceGetHandleByIndex=lambda index: StandIn._refuse() if index == 2 else index)
    nvidia = NvidiaSampler(lost, {})
    assert [device.index for device in nvidia.devices()] == [0, 1, 3]
    assert nvidia.notes == ("GPU 2 does not answer and is left out",)
    assert len(nvidia.sample(0.0)) == 3


def test_a_variable_that_hides_all_is_told():
    nvidia = NvidiaSampler(StandIn(), {"CUDA_VISIBLE_DEVICES": ""})
    assert nvidia.devices() == ()
    assert nvidia.notes == ("CUDA_VISIBLE_DEVICES= hides every NVIDIA device",)


def test_no_permission_is_told(monkeypatch):
    def refuse() -> None:
        raise pynvml.NVMLError(pynvml.NVML_ERROR_NO_PERMISSION)

    monkeypatch.setattr(pynvml, "nvmlInit", refuse)
    assert open_nvidia({}).notes == ("NVIDIA: Insufficient Permissions",)


def test_no_library_is_told_with_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pynvml", None)
    (note,) = open_nvidia({}).notes
    assert "pip install" in note


def test_no_driver_is_told_in_one_line():
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError:
        opened = open_nvidia({})
        assert opened.accelerators.devices() == ()
        (note,) = opened.notes
        assert note.startswith("NVIDIA: ")
        assert "\n" not in note
    else:
        pytest.skip("this machine has a driver")
