"""What limits a job, by stated thresholds (thresholds.csv) on the figures of its steady window.

Rules are tried in order; all that hold are told, the first is the verdict. Where none holds, or the evidence for the
rules is not there, the answer is that it cannot be told, and why. Power tells what utilisation cannot: NVML counts a
device as busy while any kernel runs, be it on one of its hundred units.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from planner.measure.cpu_sampler import HostMachine
from planner.measure.diagnosis_thresholds import threshold_value as _at
from planner.measure.window_statistics import WindowStatistics

POWER_REASONS = ("power_cap", "power_brake")
THERMAL_REASONS = ("sw_thermal", "hw_thermal")
OTHER_REASONS = ("hw_slowdown", "sync_boost", "application_clocks")


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that limits the job (or `cannot_tell`), in words, with the figures that say so."""

    limit: str
    because: str
    evidence: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the rules look at: means over the accelerators used; None where one of them does not tell."""

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
        """These figures, without what is not known."""
        return {name: value for name in names if (value := getattr(self, name)) is not None}


def evidence_of(statistics: WindowStatistics, machine: HostMachine) -> Evidence:
    """The figures as shares of what each device and the machine could do."""
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
    """What limits the job, the most likely first; never empty."""
    evidence = evidence_of(statistics, machine)
    if statistics.samples < _at("samples"):
        few = f"{statistics.samples} samples in the window; {_at('samples'):g} are needed"
        return (Finding("cannot_tell", few, {"samples": statistics.samples}),)
    rules = ACCELERATOR_RULES if evidence.accelerators else CPU_RULES
    if evidence.accelerators and evidence.busy is None:
        why = "the accelerators do not tell their utilisation (a MIG slice, or no rights)"
        return (Finding("cannot_tell", why, evidence.known("power_share", "job_cores")),)
    findings = tuple(finding for rule in rules for finding in rule(evidence))
    return findings or (Finding("cannot_tell", *_explain_undecided(evidence)),)


def _explain_undecided(seen: Evidence) -> tuple[str, dict[str, float]]:
    if seen.accelerators:
        why = "the figures point to no single limit"
        if seen.power_share is None:
            why = "busy, but without its power and limit it cannot be told how full the accelerator is"
        return why, seen.known("busy", "idle_share", "memory_busy", "power_share", "clock_share", "job_cores")
    return (
        "a CPU only: neither a processor nor a disk is busy all the time, and what else it waits for is not seen",
        seen.known("job_cores", "busiest_cores", "waiting_cores", "cpus"),
    )


def _is_at_least(value: float | None, name: str) -> bool:
    return value is not None and value >= _at(name)


def _is_below(value: float | None, name: str) -> bool:
    return value is not None and value < _at(name)


def _is_waiting(seen: Evidence) -> bool:
    return _is_below(seen.busy, "busy_low") or _is_at_least(seen.idle_share, "idle_share")


def _detect_unused(seen: Evidence) -> Iterator[Finding]:
    if _is_below(seen.busy, "unused"):
        why = "the accelerators ran nothing in the window: the job works on the CPU"
        yield Finding("accelerator_unused", why, seen.known("busy", "power_share", "job_cores"))


def _detect_thermal_throttling(seen: Evidence) -> Iterator[Finding]:
    if _is_at_least(seen.thermal_throttled, "throttle_share"):
        why = "clocks were lowered for heat: see to the cooling, or the rate of another machine will differ"
        yield Finding("thermal_throttled", why, seen.known("thermal_throttled", "clock_share", "busy"))


def _detect_straggler(seen: Evidence) -> Iterator[Finding]:
    if _is_at_least(seen.uneven, "uneven"):
        why = "some accelerators wait for others: work is spread unevenly, or one is slower"
        yield Finding("straggler", why, seen.known("uneven", "busy", "idle_share"))


def _detect_starvation(seen: Evidence) -> Iterator[Finding]:
    if not _is_waiting(seen) or _is_below(seen.busy, "unused"):
        return
    evidence = seen.known("busy", "idle_share", "job_cores", "waiting_cores", "blocked_share")
    if _is_at_least(seen.waiting_cores, "waiting_cores") or _is_at_least(seen.blocked_share, "blocked_share"):
        yield Finding("input_starved", "the accelerator waits while the job waits for a disk", evidence)
    elif _is_at_least(seen.job_cores, "job_cores"):
        why = "the accelerator waits while the job's CPU side is busy: more workers, or input prepared beforehand"
        yield Finding("input_starved", why, evidence)
    elif not _is_at_least(seen.uneven, "uneven"):
        why = ("the accelerator waits, and neither a processor nor a disk of this machine is busy: the network, remote "
               "storage, another process or a sleep, which cannot be told apart here")  # fmt: skip
        yield Finding("waits", why, evidence)


def _detect_power_throttling(seen: Evidence) -> Iterator[Finding]:
    slowed = seen.clock_share is None or _is_below(seen.clock_share, "clock_low")
    if _is_at_least(seen.power_throttled, "throttle_share") and slowed:
        why = "clocks were lowered to stay within the power limit"
        yield Finding("power_throttled", why, seen.known("power_throttled", "power_share", "clock_share", "busy"))


def _detect_memory_bound(seen: Evidence) -> Iterator[Finding]:
    if _is_at_least(seen.memory_busy, "memory_busy") and not _is_waiting(seen):
        why = "its memory is read or written most of the time: bandwidth limits it, not arithmetic"
        yield Finding("memory_bound", why, seen.known("memory_busy", "busy", "power_share", "clock_share"))


def _detect_small_batch(seen: Evidence) -> Iterator[Finding]:
    empty = _is_below(seen.power_share, "power_low") and _is_below(seen.memory_share, "memory_free")
    if empty and not _is_at_least(seen.idle_share, "idle_share") and not _is_at_least(seen.memory_busy, "memory_busy"):
        if _is_below(seen.busy, "unused") or _is_at_least(seen.thermal_throttled, "throttle_share"):
            return
        why = "always at work but far below its power limit, with memory to spare: the pieces of work are too small"
        if seen.accelerators > 1:
            why += ", or it waits inside kernels for the other accelerators (communication)"
        yield Finding("small_batch", why, seen.known("power_share", "memory_share", "busy", "memory_busy"))


def _detect_compute_bound(seen: Evidence) -> Iterator[Finding]:
    at_work = _is_at_least(seen.busy, "busy_high") and _is_at_least(seen.power_share, "power_high")
    otherwise = (seen.memory_busy, "memory_busy"), (seen.thermal_throttled, "throttle_share")
    if (
        at_work
        and not any(_is_at_least(value, name) for value, name in otherwise)
        and not [*_detect_power_throttling(seen)]
    ):
        why = "always at work, near its power limit, and its memory has time to spare"
        yield Finding("compute_bound", why, seen.known("busy", "power_share", "memory_busy", "clock_share"))


def _detect_lowered_clocks(seen: Evidence) -> Iterator[Finding]:
    if _is_at_least(seen.other_throttled, "throttle_share") and _is_below(seen.clock_share, "clock_low"):
        why = "clocks are held down by a setting, by other accelerators of its group, or by a fault of the board"
        yield Finding("clocks_held", why, seen.known("other_throttled", "clock_share", "busy"))


def _detect_cpu_bound(seen: Evidence) -> Iterator[Finding]:
    evidence = seen.known("job_cores", "cpus", "busiest_cores")
    if seen.job_cores is not None and seen.job_cores >= _at("cpu_full") * seen.cpus:
        yield Finding("cpu_bound", "all processors that the job may use are busy", evidence)
    elif _is_at_least(seen.busiest_cores, "one_core"):
        why = f"a process keeps {max(1.0, round(seen.busiest_cores or 1)):g} of {seen.cpus:g} processors busy"
        yield Finding("cpu_bound", f"{why}: more would help only if it used them", evidence)


def _detect_cpu_contention(seen: Evidence) -> Iterator[Finding]:
    if _is_at_least(seen.runnable_share, "runnable_share") and not [*_detect_cpu_bound(seen)]:
        why = (
            "it wants a processor nearly always and does not get one: other processes, or a limit on this job, take it"
        )
        yield Finding("cpu_contended", why, seen.known("runnable_share", "job_cores", "busiest_cores", "cpus"))


def _detect_disk_wait(seen: Evidence) -> Iterator[Finding]:
    if _is_at_least(seen.waiting_cores, "waiting_cores") or _is_at_least(seen.blocked_share, "blocked_share"):
        why = "processes wait for a disk"
        yield Finding("input_starved", why, seen.known("waiting_cores", "blocked_share", "job_cores"))


def _detect_idle_wait(seen: Evidence) -> Iterator[Finding]:
    if _is_below(seen.job_cores, "rests") and not [*_detect_disk_wait(seen), *_detect_cpu_contention(seen)]:
        why = "the job rests much of the time and no disk of this machine is busy: the network, a lock or a sleep"
        yield Finding("waits", why, seen.known("job_cores", "waiting_cores", "blocked_share"))


def _detect_memory_shortage(seen: Evidence) -> Iterator[Finding]:
    if _is_below(seen.memory_available_share, "memory_short"):
        yield Finding("memory_short", "the machine is nearly out of memory", seen.known("memory_available_share"))


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
    """The share of samples in which one of the reasons held, on the device where it held longest."""
    shares = [device.reasons for device in statistics.devices]
    if not shares or None in shares:
        return None
    return max(max(each.get(name, 0.0) for name in names) for each in shares if each is not None)
