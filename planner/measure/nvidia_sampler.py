"""NVIDIA accelerators through NVML (nvidia-ml-py): those visible to the job, and one reading of each.

NVML's utilisation is the share of the last 1/6 to 1 second in which any kernel ran (nvmlUtilization_t), not the load
of the device: power shows that. On a MIG slice NVML gives no utilisation, and power is that of the whole board.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, TypeVar

from planner.measure.telemetry_samples import Device, DeviceReading, NoAccelerators, SamplerAccess
from pricing.units import GIB

T = TypeVar("T")
VISIBLE = "CUDA_VISIBLE_DEVICES"
ORDER = "CUDA_DEVICE_ORDER"


def open_nvidia(environment: Mapping[str, str]) -> SamplerAccess:
    """The sampler where NVML works; else none, and a line with the reason. Loads the library and its driver."""
    try:
        import pynvml as nvml
    except ImportError:
        return SamplerAccess(
            NoAccelerators(), ("NVIDIA: nvidia-ml-py is not installed (pip install 'gpu-planner[measure]')",)
        )
    try:
        nvml.nvmlInit()
        nvidia = NvidiaSampler(nvml, environment)
    except nvml.NVMLError as error:
        return SamplerAccess(NoAccelerators(), (f"NVIDIA: {error}",))
    return SamplerAccess(nvidia, nvidia.notes)


class NvidiaSampler:
    """The NVIDIA accelerators visible to a job in `environment`; NVMLError where there is none."""

    def __init__(self, nvml: Any, environment: Mapping[str, str]) -> None:
        self._nvml = nvml
        handles = [
            self._call_nvml(nvml.nvmlDeviceGetHandleByIndex, index) for index in range(nvml.nvmlDeviceGetCount())
        ]
        keys = ["" if one is None else str(self._call_nvml(nvml.nvmlDeviceGetUUID, one) or "") for one in handles]
        slices = [{} if one is None else self._mig_slices(one) for one in handles]
        visible = visible_devices(environment.get(VISIBLE), keys, slices)
        self._lost = [index for index in visible if handles[index] is None]
        self._handles = {index: handles[index] for index in visible if index not in self._lost}
        self._devices = tuple(
            self._describe_device(index, handle, keys[index], slices[index], visible[index])
            for index, handle in self._handles.items()
        )
        self.notes = tuple(
            self._device_notes(environment, [self._device_name(one) for one in handles if one is not None])
        )

    def devices(self) -> tuple[Device, ...]:
        return self._devices

    def sample(self, now: float) -> tuple[DeviceReading, ...]:  # noqa: ARG002  (the protocol's signature)
        return tuple(self._read_device(device, self._handles[device.index]) for device in self._devices)

    def used_by(self, pids: Collection[int]) -> frozenset[int]:
        list_processes = self._nvml.nvmlDeviceGetComputeRunningProcesses
        return frozenset(
            index
            for index, handle in self._handles.items()
            if any(process.pid in pids for process in self._call_nvml(list_processes, handle) or ())
        )

    def close(self) -> None:
        self._call_nvml(self._nvml.nvmlShutdown)

    def _call_nvml(self, call: Callable[..., T], *arguments: Any) -> T | None:
        """The answer, or None where this device, this driver or these rights have none."""
        try:
            return call(*arguments)
        except self._nvml.NVMLError:
            return None

    def _device_name(self, handle: Any) -> str:
        name = self._call_nvml(self._nvml.nvmlDeviceGetName, handle)
        return name.decode() if isinstance(name, bytes) else str(name or "unknown NVIDIA device")

    def _mig_slices(self, handle: Any) -> dict[str, Any]:
        """UUID and handle of each MIG slice; none where the device is not sliced."""
        mode = self._call_nvml(self._nvml.nvmlDeviceGetMigMode, handle)
        if not mode or not mode[0]:
            return {}
        handles = {}
        for index in range(self._call_nvml(self._nvml.nvmlDeviceGetMaxMigDeviceCount, handle) or 0):
            part = self._call_nvml(self._nvml.nvmlDeviceGetMigDeviceHandleByIndex, handle, index)
            if part is not None:
                handles[str(self._call_nvml(self._nvml.nvmlDeviceGetUUID, part))] = part
        return handles

    def _describe_device(self, index: int, handle: Any, key: str, slices: Mapping[str, Any], part: str) -> Device:
        nvml = self._nvml
        source = slices[part] if part else handle
        memory = self._call_nvml(nvml.nvmlDeviceGetMemoryInfo, source)
        limit = self._call_nvml(nvml.nvmlDeviceGetEnforcedPowerLimit, handle)
        name = self._device_name(source)
        return Device(
            index=index,
            name=f"{name} (one MIG slice)" if part and "MIG" not in name else name,
            key=part or key,
            memory_gib=None if memory is None else memory.total / GIB,
            power_limit_w=None if limit is None else limit / 1000,
            sm_clock_max_mhz=self._call_nvml(nvml.nvmlDeviceGetMaxClockInfo, handle, nvml.NVML_CLOCK_SM),
            shared=bool(part),
        )

    def _read_device(self, device: Device, handle: Any) -> DeviceReading:
        nvml, query = self._nvml, self._call_nvml
        use = None if device.shared else query(nvml.nvmlDeviceGetUtilizationRates, handle)
        memory = query(nvml.nvmlDeviceGetMemoryInfo, handle)
        power = query(nvml.nvmlDeviceGetPowerUsage, handle)
        energy = query(nvml.nvmlDeviceGetTotalEnergyConsumption, handle)  # Volta and newer
        reasons = query(nvml.nvmlDeviceGetCurrentClocksEventReasons, handle)
        if reasons is None:  # its name in drivers before 535
            reasons = query(nvml.nvmlDeviceGetCurrentClocksThrottleReasons, handle)
        return DeviceReading(
            busy=None if use is None else use.gpu / 100,
            memory_busy=None if use is None else use.memory / 100,
            memory_used_gib=None if memory is None or device.shared else memory.used / GIB,
            power_w=None if power is None else power / 1000,
            temperature_c=query(nvml.nvmlDeviceGetTemperature, handle, nvml.NVML_TEMPERATURE_GPU),
            sm_clock_mhz=query(nvml.nvmlDeviceGetClockInfo, handle, nvml.NVML_CLOCK_SM),
            memory_clock_mhz=query(nvml.nvmlDeviceGetClockInfo, handle, nvml.NVML_CLOCK_MEM),
            reasons=reasons,
            energy_j=None if energy is None else energy / 1000,
        )

    def _device_notes(self, environment: Mapping[str, str], names: list[str]) -> list[str]:
        notes = [f"GPU {each.index} is a MIG slice ({each.name}): its utilisation and power cannot be read alone"
                 for each in self._devices if each.shared]  # fmt: skip
        notes += [f"GPU {index} does not answer and is left out" for index in self._lost]
        written = environment.get(VISIBLE)
        if written and len(set(names)) > 1 and environment.get(ORDER) != "PCI_BUS_ID":
            notes.append(f"{VISIBLE} counts by speed, NVML by PCI bus; set {ORDER}=PCI_BUS_ID on a mixed machine")
        if written is not None and not self._devices:
            notes.append(f"{VISIBLE}={written} hides every NVIDIA device")
        return notes


def visible_devices(written: str | None, keys: list[str], slices: list[dict[str, Any]]) -> dict[int, str]:
    """The device indices that CUDA would show, each with the UUID of a MIG slice or "" for the whole device.

    As CUDA reads CUDA_VISIBLE_DEVICES: indices or beginnings of UUIDs; the first that is invalid ends the list. A
    job sees one MIG slice: the one that is named, else the first.

    >>> visible_devices("1,GPU-a,7,0", ["GPU-abc", "GPU-def"], [{}, {}])
    {1: '', 0: ''}
    """
    if written is None:
        return {index: next(iter(parts), "") for index, parts in enumerate(slices)}
    devices: dict[int, str] = {}
    for word in (part.strip() for part in written.split(",")):
        index = int(word) if word.isascii() and word.isdecimal() else None
        if index is None and word.startswith("GPU-"):
            index = next((n for n, key in enumerate(keys) if key.startswith(word)), None)
        named = [(n, key) for n, parts in enumerate(slices) for key in parts if word and key.startswith(word)]
        if index is not None and index < len(keys):
            devices.setdefault(index, next(iter(slices[index]), ""))
        elif named and word.startswith("MIG-"):
            devices.setdefault(*named[0])
        else:
            break
    return devices
