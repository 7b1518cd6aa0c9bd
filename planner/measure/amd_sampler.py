"""AMD accelerators through AMD SMI (amdsmi), where it is installed: activity, memory, power.

Its power limit is W in some releases and µW in others, and its energy counter changed its name: neither is read.
Energy is then the integral of power. Not verified on a machine with one; the names are those of its reference.
"""

from __future__ import annotations

import importlib
from collections.abc import Collection, Mapping
from typing import Any

from planner.measure.telemetry_samples import Device, DeviceReading, NoAccelerators, SamplerAccess

VISIBLE = ("ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES")
MIB_PER_GIB = 1024
POWER = ("socket_power", "current_socket_power", "average_socket_power")
"""Which one is filled depends on the part and the release; others have N/A."""
UNKNOWN = (0xFFFF, 0xFFFFFFFF)


def open_amd(environment: Mapping[str, str]) -> SamplerAccess:
    """The sampler where AMD SMI works; else none. Its absence is not reported: few machines have it."""
    try:
        smi = importlib.import_module("amdsmi")  # by name: it comes with ROCm, and is no dependency
    except (ImportError, OSError, KeyError):  # the last two: the library is there, its driver's is not
        return SamplerAccess(NoAccelerators())
    try:
        smi.amdsmi_init()
        return SamplerAccess(AmdSampler(smi, environment))
    except smi.AmdSmiException as error:
        return SamplerAccess(NoAccelerators(), (f"AMD: {error}",))


class AmdSampler:
    """The AMD accelerators visible to a job in `environment`; see AcceleratorSampler."""

    def __init__(self, smi: Any, environment: Mapping[str, str]) -> None:
        self._smi = smi
        handles = list(enumerate(smi.amdsmi_get_processor_handles()))
        for written in filter(None, map(environment.get, VISIBLE)):
            visible_indices = {int(word) for word in written.split(",") if word.strip().isdecimal()}
            handles = [(index, handle) for index, handle in handles if index in visible_indices]
        self._handles = [handle for _, handle in handles]
        self._devices = tuple(self._describe_device(index, handle) for index, handle in handles)

    def devices(self) -> tuple[Device, ...]:
        return self._devices

    def sample(self, now: float) -> tuple[DeviceReading, ...]:  # noqa: ARG002  (the protocol's signature)
        return tuple(map(self._read_device, self._handles))

    def used_by(self, pids: Collection[int]) -> frozenset[int]:  # noqa: ARG002  (the protocol's signature)
        return frozenset()

    def close(self) -> None:
        self._call_fields("amdsmi_shut_down")

    def _call_fields(self, call: str, *arguments: Any) -> dict[str, Any]:
        """The result of a call by name; empty where it is not supported."""
        try:
            answer = getattr(self._smi, call)(*arguments)
        except self._smi.AmdSmiException:
            return {}
        return answer if isinstance(answer, dict) else {}

    def _describe_device(self, index: int, handle: Any) -> Device:
        name = self._call_fields("amdsmi_get_gpu_asic_info", handle).get("market_name")
        memory = self._call_fields("amdsmi_get_gpu_vram_usage", handle).get("vram_total")
        return Device(index, str(name or "unknown AMD device"), memory_gib=_known_number(memory, MIB_PER_GIB))

    def _read_device(self, handle: Any) -> DeviceReading:
        activity = self._call_fields("amdsmi_get_gpu_activity", handle)
        power = self._call_fields("amdsmi_get_power_info", handle)
        memory = self._call_fields("amdsmi_get_gpu_vram_usage", handle)
        return DeviceReading(
            busy=_known_number(activity.get("gfx_activity"), 100),
            memory_busy=_known_number(activity.get("umc_activity"), 100),
            memory_used_gib=_known_number(memory.get("vram_used"), MIB_PER_GIB),
            power_w=next((watts for name in POWER if (watts := _known_number(power.get(name)))), None),
        )


def _known_number(value: Any, divisor: float = 1.0) -> float | None:
    """The value over `divisor`; None for N/A and for the all-ones (of 16 and 32 bits) that mean the same."""
    if not isinstance(value, int | float) or value in UNKNOWN:
        return None
    return float(value) / divisor
