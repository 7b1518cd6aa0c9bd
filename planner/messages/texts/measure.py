"""Steady windows, bottlenecks and notes of measured jobs."""

from __future__ import annotations

from collections.abc import Callable, Sequence


def _small_kernels(several_accelerators: bool) -> str:
    text = "always at work but far below its power limit, with memory to spare: the pieces of work are too small"
    if several_accelerators:
        text += ", or it waits inside kernels for the other accelerators (communication)"
    return text


def _too_few_progress_reports(reports: int, after_warm_up: bool) -> str:
    return f"{reports} reports of progress{' after the warm-up' if after_warm_up else ''}; two are needed"


def _rate_drifts(drift_fraction: float) -> str:
    return f"the rate still {'rises' if drift_fraction > 0 else 'falls'}, by {abs(drift_fraction):.0%} over the window"


def _several_kinds_of_accelerator(names: Sequence[str]) -> str:
    return f"accelerators of several kinds did the work ({', '.join(names)}): no rate of one of them"


TEXTS: dict[str, str | Callable[..., str]] = {
    "accelerator_not_in_catalog": "{problem}: named as the machine names it",
    "accelerator_waits": "the accelerator waits, and neither a processor nor a disk of this machine is busy: the "
    "network, remote storage, another process or a sleep, which look the same here",
    "accelerator_waits_for_cpu": "the accelerator waits while the job's CPU side is busy: more workers, or input "
    "prepared beforehand",
    "accelerator_waits_for_disk": "the accelerator waits while the job waits for a disk",
    "accelerators_uneven": "some accelerators wait for others: work is spread unevenly, or one is slower",
    "accelerators_unused": "the accelerators ran nothing in the window: the job works on the CPU",
    "accelerators_used_unknown": "the accelerators that the job used are unknown; all that are visible to it count "
    "(--count overrides)",
    "all_processors_busy": "all processors that the job may use are busy",
    "clocks_lowered_by_setting": "clocks are limited by a setting, by other accelerators of its group, or by a fault "
    "of the board",
    "clocks_lowered_for_heat": "clocks were lowered for heat: check the cooling, or the rate of another machine will "
    "differ",
    "clocks_lowered_for_power": "clocks were lowered to stay within the power limit",
    "cpu_limit_unknown": "a CPU only: neither a processor nor a disk is busy all the time, and other causes of waiting "
    "are not measured",
    "few_processors_busy": "a process uses {busy:g} of {processors:g} processors fully: more would help only if it "
    "used them",
    "job_rests": "the job rests much of the time and no disk of this machine is busy: the network, a lock or a sleep",
    "job_stalled": "no sign of life for {seconds:.0f} s from second {start_s:.0f} on",
    "machine_memory_short": "the machine is nearly out of memory",
    "measured_on_cpu": "measured on the CPU ({cpu}): give --accelerator where the catalogue has it",
    "memory_bandwidth_limits": "its memory is read or written most of the time: bandwidth limits it, not arithmetic",
    "near_power_limit": "always at work, near its power limit, and its memory has time to spare",
    "no_accelerator_used": "no process of the job used an accelerator: measured on the CPU",
    "no_progress": "no work between the first and the last report of progress",
    "no_single_limit": "the values point to no single limit",
    "other_processes_busy": "other processes used {processors:.1f} processors: alone, the job may be faster",
    "power_unknown": "busy, but without its power and limit the load of the accelerator is unknown",
    "processes_wait_for_disk": "processes wait for a disk",
    "processor_contention": "it is ready to run nearly always but waits for a processor: other processes, or a limit "
    "on this job, take it",
    "progress_reports_dropped": "{reports} reports of progress were left out: they went down, or were no number",
    "rate_drifts": _rate_drifts,
    "rate_still_changing": "it was still changing in the second half of the run: run it for longer",
    "several_kinds_of_accelerator": _several_kinds_of_accelerator,
    "small_kernels": _small_kernels,
    "too_few_intervals": "too few reports of progress: {intervals} intervals, {needed} are needed",
    "too_few_progress_reports": _too_few_progress_reports,
    "too_few_samples": "{samples} samples in the window; {needed:g} are needed",
    "utilisation_unknown": "the accelerators do not report their utilisation (a MIG slice, or no rights)",
}
