"""The bottleneck of a job, by thresholds (thresholds.csv) on the statistics of its steady window.

Rules are tried in order; all that apply are findings, the first is the verdict. Where none applies, or the evidence is
missing, the finding is `cannot_tell` with the reason. Power is evidence that utilisation is not: NVML counts a device
as busy while any kernel runs, even on one of its hundred units.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from planner.measure.cpu_sampler import HostMachine
from planner.measure.diagnosis_thresholds import threshold_value as _at
from planner.measure.window_statistics import WindowStatistics
from planner.result.message import Message, message

POWER_REASONS = ("power_cap", "power_brake")
THERMAL_REASONS = ("sw_thermal", "hw_thermal")
OTHER_REASONS = ("hw_slowdown", "sync_boost", "application_clocks")


@dataclass(frozen=True, slots=True)
class Finding:
    """One bottleneck of the job (or `cannot_tell`), its reason, and the values behind it."""

    limit: str
    because: Message
    evidence: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Evidence:
    """Values that the rules use: means over the accelerators used; None where one of them is unknown."""

    busy: float | None = None
    idle_share: float | None = None
    uneven: float | None = None
    memory_busy: float | None = None
    memory_share: float | None = None
    power_share: float | None = None
    clock_share: float | None = None
    power_throttled: float | None = None
    thermal_throttled: float | None = None
    other_throttled: float | None = None
    job_cores: float | None = None
    busiest_cores: float | None = None
    waiting_cores: float | None = None
    runnable_share: float | None = None
    blocked_share: float | None = None
    cpus: float = 1.0
    memory_available_share: float | None = None
    accelerators: int = 0

    def known(self, *names: str) -> dict[str, float]:
        """These values, without the unknown ones."""
        return {name: value for name in names if (value := getattr(self, name)) is not None}


def evidence_of(statistics: WindowStatistics, machine: HostMachine) -> Evidence:
    """The statistics as shares of the capacity of each device and of the machine."""
    devices = statistics.devices
    busy = [device.busy for device in devices]
    known_busy = [value for value in busy if value is not None]
    free = statistics.cpu.memory_available_gib
    return Evidence(
        busy=_mean_if_complete(busy),
        idle_share=_mean_if_complete([device.idle_share for device in devices]),
        uneven=max(known_busy) - min(known_busy) if len(devices) > 1 and len(known_busy) == len(devices) else None,
        memory_busy=_mean_if_complete([device.memory_busy for device in devices]),
        memory_share=_mean_if_complete(
            [_ratio_if_known(device.memory_used_gib, device.device.memory_gib) for device in devices]
        ),
        power_share=_mean_if_complete(
            [_ratio_if_known(device.power_w, device.device.power_limit_w) for device in devices]
        ),
        clock_share=_mean_if_complete(
            [_ratio_if_known(device.sm_clock_mhz, device.device.sm_clock_max_mhz) for device in devices]
        ),
        power_throttled=_throttled_share(statistics, POWER_REASONS),
        thermal_throttled=_throttled_share(statistics, THERMAL_REASONS),
        other_throttled=_throttled_share(statistics, OTHER_REASONS),
        job_cores=statistics.cpu.job_cores,
        busiest_cores=statistics.cpu.busiest_cores,
        waiting_cores=statistics.cpu.waiting_cores,
        runnable_share=statistics.cpu.runnable_share,
        blocked_share=statistics.cpu.blocked_share,
        cpus=machine.cpus,
        memory_available_share=_ratio_if_known(free, machine.memory_gib),
        accelerators=len(devices),
    )


def diagnose(statistics: WindowStatistics, machine: HostMachine) -> tuple[Finding, ...]:
    """The bottlenecks of the job, the most likely first; never empty."""
    evidence = evidence_of(statistics, machine)
    if statistics.samples < _at("samples"):
        few = message("too_few_samples", samples=statistics.samples, needed=_at("samples"))
        return (Finding("cannot_tell", few, {"samples": statistics.samples}),)
    rules = ACCELERATOR_RULES if evidence.accelerators else CPU_RULES
    if evidence.accelerators and evidence.busy is None:
        why = message("utilisation_unknown")
        return (Finding("cannot_tell", why, evidence.known("power_share", "job_cores")),)
    findings = tuple(finding for rule in rules for finding in rule(evidence))
    return findings or (Finding("cannot_tell", *_explain_undecided(evidence)),)


def _explain_undecided(evidence: Evidence) -> tuple[Message, dict[str, float]]:
    if evidence.accelerators:
        why = message("power_unknown") if evidence.power_share is None else message("no_single_limit")
        return why, evidence.known("busy", "idle_share", "memory_busy", "power_share", "clock_share", "job_cores")
    return message("cpu_limit_unknown"), evidence.known("job_cores", "busiest_cores", "waiting_cores", "cpus")


def _is_at_least(value: float | None, name: str) -> bool:
    return value is not None and value >= _at(name)


def _is_below(value: float | None, name: str) -> bool:
    return value is not None and value < _at(name)


def _is_waiting(evidence: Evidence) -> bool:
    return _is_below(evidence.busy, "busy_low") or _is_at_least(evidence.idle_share, "idle_share")


def _detect_unused(evidence: Evidence) -> Iterator[Finding]:
    if _is_below(evidence.busy, "unused"):
        yield Finding(
            "accelerator_unused", message("accelerators_unused"), evidence.known("busy", "power_share", "job_cores")
        )


def _detect_thermal_throttling(evidence: Evidence) -> Iterator[Finding]:
    if _is_at_least(evidence.thermal_throttled, "throttle_share"):
        yield Finding(
            "thermal_throttled",
            message("clocks_lowered_for_heat"),
            evidence.known("thermal_throttled", "clock_share", "busy"),
        )


def _detect_straggler(evidence: Evidence) -> Iterator[Finding]:
    if _is_at_least(evidence.uneven, "uneven"):
        yield Finding("straggler", message("accelerators_uneven"), evidence.known("uneven", "busy", "idle_share"))


def _detect_starvation(evidence: Evidence) -> Iterator[Finding]:
    if not _is_waiting(evidence) or _is_below(evidence.busy, "unused"):
        return
    values = evidence.known("busy", "idle_share", "job_cores", "waiting_cores", "blocked_share")
    if _is_at_least(evidence.waiting_cores, "waiting_cores") or _is_at_least(evidence.blocked_share, "blocked_share"):
        yield Finding("input_starved", message("accelerator_waits_for_disk"), values)
    elif _is_at_least(evidence.job_cores, "job_cores"):
        yield Finding("input_starved", message("accelerator_waits_for_cpu"), values)
    elif not _is_at_least(evidence.uneven, "uneven"):
        yield Finding("waits", message("accelerator_waits"), values)


def _detect_power_throttling(evidence: Evidence) -> Iterator[Finding]:
    slowed = evidence.clock_share is None or _is_below(evidence.clock_share, "clock_low")
    if _is_at_least(evidence.power_throttled, "throttle_share") and slowed:
        yield Finding(
            "power_throttled",
            message("clocks_lowered_for_power"),
            evidence.known("power_throttled", "power_share", "clock_share", "busy"),
        )


def _detect_memory_bound(evidence: Evidence) -> Iterator[Finding]:
    if _is_at_least(evidence.memory_busy, "memory_busy") and not _is_waiting(evidence):
        yield Finding(
            "memory_bound",
            message("memory_bandwidth_limits"),
            evidence.known("memory_busy", "busy", "power_share", "clock_share"),
        )


def _detect_small_batch(evidence: Evidence) -> Iterator[Finding]:
    empty = _is_below(evidence.power_share, "power_low") and _is_below(evidence.memory_share, "memory_free")
    if (
        empty
        and not _is_at_least(evidence.idle_share, "idle_share")
        and not _is_at_least(evidence.memory_busy, "memory_busy")
    ):
        if _is_below(evidence.busy, "unused") or _is_at_least(evidence.thermal_throttled, "throttle_share"):
            return
        why = message("small_kernels", several_accelerators=evidence.accelerators > 1)
        yield Finding("small_batch", why, evidence.known("power_share", "memory_share", "busy", "memory_busy"))


def _detect_compute_bound(evidence: Evidence) -> Iterator[Finding]:
    at_work = _is_at_least(evidence.busy, "busy_high") and _is_at_least(evidence.power_share, "power_high")
    otherwise = (evidence.memory_busy, "memory_busy"), (evidence.thermal_throttled, "throttle_share")
    if (
        at_work
        and not any(_is_at_least(value, name) for value, name in otherwise)
        and not [*_detect_power_throttling(evidence)]
    ):
        yield Finding(
            "compute_bound",
            message("near_power_limit"),
            evidence.known("busy", "power_share", "memory_busy", "clock_share"),
        )


def _detect_lowered_clocks(evidence: Evidence) -> Iterator[Finding]:
    if _is_at_least(evidence.other_throttled, "throttle_share") and _is_below(evidence.clock_share, "clock_low"):
        yield Finding(
            "clocks_held",
            message("clocks_lowered_by_setting"),
            evidence.known("other_throttled", "clock_share", "busy"),
        )


def _detect_cpu_bound(evidence: Evidence) -> Iterator[Finding]:
    values = evidence.known("job_cores", "cpus", "busiest_cores")
    if evidence.job_cores is not None and evidence.job_cores >= _at("cpu_full") * evidence.cpus:
        yield Finding("cpu_bound", message("all_processors_busy"), values)
    elif _is_at_least(evidence.busiest_cores, "one_core"):
        busy = max(1, round(evidence.busiest_cores or 1))
        yield Finding("cpu_bound", message("few_processors_busy", busy=busy, processors=evidence.cpus), values)


def _detect_cpu_contention(evidence: Evidence) -> Iterator[Finding]:
    if _is_at_least(evidence.runnable_share, "runnable_share") and not [*_detect_cpu_bound(evidence)]:
        yield Finding(
            "cpu_contended",
            message("processor_contention"),
            evidence.known("runnable_share", "job_cores", "busiest_cores", "cpus"),
        )


def _detect_disk_wait(evidence: Evidence) -> Iterator[Finding]:
    if _is_at_least(evidence.waiting_cores, "waiting_cores") or _is_at_least(evidence.blocked_share, "blocked_share"):
        yield Finding(
            "input_starved",
            message("processes_wait_for_disk"),
            evidence.known("waiting_cores", "blocked_share", "job_cores"),
        )


def _detect_idle_wait(evidence: Evidence) -> Iterator[Finding]:
    if _is_below(evidence.job_cores, "rests") and not [*_detect_disk_wait(evidence), *_detect_cpu_contention(evidence)]:
        yield Finding("waits", message("job_rests"), evidence.known("job_cores", "waiting_cores", "blocked_share"))


def _detect_memory_shortage(evidence: Evidence) -> Iterator[Finding]:
    if _is_below(evidence.memory_available_share, "memory_short"):
        yield Finding("memory_short", message("machine_memory_short"), evidence.known("memory_available_share"))


Rule = Callable[[Evidence], Iterator[Finding]]
ACCELERATOR_RULES: Sequence[Rule] = (
    _detect_unused,
    _detect_thermal_throttling,
    _detect_straggler,
    _detect_starvation,
    _detect_power_throttling,
    _detect_memory_bound,
    _detect_small_batch,
    _detect_compute_bound,
    _detect_lowered_clocks,
    _detect_memory_shortage,
)
CPU_RULES: Sequence[Rule] = (
    _detect_memory_shortage,
    _detect_cpu_bound,
    _detect_cpu_contention,
    _detect_disk_wait,
    _detect_idle_wait,
)


def _mean_if_complete(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return math.fsum(known) / len(known) if known and len(known) == len(values) else None


def _ratio_if_known(value: float | None, whole: float | None) -> float | None:
    return value / whole if value is not None and whole else None


def _throttled_share(statistics: WindowStatistics, names: Sequence[str]) -> float | None:
    """The share of samples with one of the reasons, on the device with most of them."""
    shares = [device.reasons for device in statistics.devices]
    if not shares or None in shares:
        return None
    return max(max(each.get(name, 0.0) for name in names) for each in shares if each is not None)
