"""The bottleneck of a job, by thresholds (thresholds.csv) on the statistics of its steady window.

All rules that apply are findings, in the order of the rules; the first is the verdict. Where none applies, or the
evidence is missing, the finding is `cannot_tell` with the reason. Power is evidence that utilisation is not: NVML
counts a device as busy while any kernel runs, even on one of its hundred units.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from planner.measure.cpu_sampler import HostMachine
from planner.measure.diagnosis_thresholds import threshold_value as _at
from planner.measure.window_statistics import WindowStatistics
from planner.result.message import Message, message
from pricing.frozen_values import dataclass

POWER_REASONS = ("power_cap", "power_brake")
THERMAL_REASONS = ("sw_thermal", "hw_thermal")
OTHER_REASONS = ("hw_slowdown", "sync_boost", "application_clocks")


@dataclass(frozen=True, slots=True)
class Finding:
    """One bottleneck of the job (or `cannot_tell`), its reason, and the values behind it."""

    limit: str
    because: Message
    evidence: Mapping[str, float]


Rule = tuple[bool, Finding]
"""Whether a bottleneck is there, and its finding."""


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

    def finding(self, limit: str, because: Message, shown: str) -> Finding:
        """A finding with the values that `shown` names, without the unknown ones."""
        values = {name: getattr(self, name) for name in shown.split()}
        return Finding(limit, because, {name: value for name, value in values.items() if value is not None})


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
    if evidence.accelerators and evidence.busy is None:
        return (evidence.finding("cannot_tell", message("utilisation_unknown"), "power_share job_cores"),)
    rules = _accelerator_rules(evidence) if evidence.accelerators else _cpu_rules(evidence)
    return tuple(finding for applies, finding in rules if applies) or (_explain_undecided(evidence),)


def _explain_undecided(evidence: Evidence) -> Finding:
    if not evidence.accelerators:
        why = message("cpu_limit_unknown")
        return evidence.finding("cannot_tell", why, "job_cores busiest_cores waiting_cores cpus")
    why = message("power_unknown") if evidence.power_share is None else message("no_single_limit")
    return evidence.finding("cannot_tell", why, "busy idle_share memory_busy power_share clock_share job_cores")


def _accelerator_rules(e: Evidence) -> Sequence[Rule]:
    is_unused = _is_below(e.busy, "unused")
    is_waiting = _is_below(e.busy, "busy_low") or _is_at_least(e.idle_share, "idle_share")
    is_starved = is_waiting and not is_unused
    waits_for_disk = is_starved and _is_waiting_for_disk(e)
    waits_for_cpu = is_starved and not waits_for_disk and _is_at_least(e.job_cores, "job_cores")
    is_uneven = _is_at_least(e.uneven, "uneven")
    waits_elsewhere = is_starved and not (waits_for_disk or waits_for_cpu or is_uneven)
    is_slowed = _is_below(e.clock_share, "clock_low")
    is_hot = _is_at_least(e.thermal_throttled, "throttle_share")
    is_capped = _is_at_least(e.power_throttled, "throttle_share") and (is_slowed or e.clock_share is None)
    is_held = _is_at_least(e.other_throttled, "throttle_share") and is_slowed
    uses_memory = _is_at_least(e.memory_busy, "memory_busy")
    has_room = _is_below(e.power_share, "power_low") and _is_below(e.memory_share, "memory_free")
    is_small = has_room and not (_is_at_least(e.idle_share, "idle_share") or uses_memory or is_unused or is_hot)
    is_at_work = _is_at_least(e.busy, "busy_high") and _is_at_least(e.power_share, "power_high")
    is_computing = is_at_work and not (uses_memory or is_hot or is_capped)
    small = message("small_kernels", several_accelerators=e.accelerators > 1)
    capped, waits = (
        "power_throttled power_share clock_share busy",
        "busy idle_share job_cores waiting_cores blocked_share",
    )
    return (
        (is_unused, e.finding("accelerator_unused", message("accelerators_unused"), "busy power_share job_cores")),
        (
            is_hot,
            e.finding("thermal_throttled", message("clocks_lowered_for_heat"), "thermal_throttled clock_share busy"),
        ),
        (is_uneven, e.finding("straggler", message("accelerators_uneven"), "uneven busy idle_share")),
        (waits_for_disk, e.finding("input_starved", message("accelerator_waits_for_disk"), waits)),
        (waits_for_cpu, e.finding("input_starved", message("accelerator_waits_for_cpu"), waits)),
        (waits_elsewhere, e.finding("waits", message("accelerator_waits"), waits)),
        (is_capped, e.finding("power_throttled", message("clocks_lowered_for_power"), capped)),
        (
            uses_memory and not is_waiting,
            e.finding("memory_bound", message("memory_bandwidth_limits"), "memory_busy busy power_share clock_share"),
        ),
        (is_small, e.finding("small_batch", small, "power_share memory_share busy memory_busy")),
        (
            is_computing,
            e.finding("compute_bound", message("near_power_limit"), "busy power_share memory_busy clock_share"),
        ),
        (is_held, e.finding("clocks_held", message("clocks_lowered_by_setting"), "other_throttled clock_share busy")),
        _memory_rule(e),
    )


def _cpu_rules(e: Evidence) -> Sequence[Rule]:
    fills_all = e.job_cores is not None and e.job_cores >= _at("cpu_full") * e.cpus
    fills_few = not fills_all and _is_at_least(e.busiest_cores, "one_core")
    busy = max(1, round(e.busiest_cores or 1))
    few = message("few_processors_busy", busy=busy, processors=e.cpus)
    is_contended = _is_at_least(e.runnable_share, "runnable_share") and not (fills_all or fills_few)
    contention = "runnable_share job_cores busiest_cores cpus"
    waits_for_disk = _is_waiting_for_disk(e)
    rests = _is_below(e.job_cores, "rests") and not (waits_for_disk or is_contended)
    disk = "waiting_cores blocked_share job_cores"
    return (
        _memory_rule(e),
        (fills_all, e.finding("cpu_bound", message("all_processors_busy"), "job_cores cpus busiest_cores")),
        (fills_few, e.finding("cpu_bound", few, "job_cores cpus busiest_cores")),
        (is_contended, e.finding("cpu_contended", message("processor_contention"), contention)),
        (waits_for_disk, e.finding("input_starved", message("processes_wait_for_disk"), disk)),
        (rests, e.finding("waits", message("job_rests"), "job_cores waiting_cores blocked_share")),
    )


def _memory_rule(e: Evidence) -> Rule:
    is_short = _is_below(e.memory_available_share, "memory_short")
    return is_short, e.finding("memory_short", message("machine_memory_short"), "memory_available_share")


def _is_waiting_for_disk(e: Evidence) -> bool:
    return _is_at_least(e.waiting_cores, "waiting_cores") or _is_at_least(e.blocked_share, "blocked_share")


def _is_at_least(value: float | None, name: str) -> bool:
    return value is not None and value >= _at(name)


def _is_below(value: float | None, name: str) -> bool:
    return value is not None and value < _at(name)


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
