"""Texts of hardware and its use: worth of utilisation, limits of licence and driver."""

from __future__ import annotations

from collections.abc import Callable, Sequence


def _utilisation_worth(
    workload: str, utilisation: float, accelerator: str, cost_per_year: float, changes: Sequence[str]
) -> str:
    text = f"{workload}: its {accelerator} worked {utilisation:.0%} of the time while measured"
    listed = "; ".join(changes) or "nothing published tells what would save more"
    return f"{text}. Of {cost_per_year:,.0f} a year, each alone would save: {listed}."


def _tune_job(
    change: str, architecture: str, gain: float, gain_low: float, gain_high: float, cases: int, groups: int,
    saving: float, saving_low: float, saving_high: float,
) -> str:  # fmt: skip
    where = f" on {architecture}" if architecture else ""
    return (
        f"{change} {saving:,.0f} ({saving_low:,.0f} to {saving_high:,.0f}; published{where}: {gain:.3g} times as fast,"
        f" {gain_low:.3g} to {gain_high:.3g} in 80 % of {cases} cases of {groups} benchmarks)"
    )


TEXTS: dict[str, str | Callable[..., str]] = {
    "utilisation_worth": _utilisation_worth,
    "geforce_datacenter": "driver licence forbids data centres",
    "other_software": "other software than NVIDIA's: measure first",
    "few_cpus": "{vcpus:g} vCPUs, {needed:g} keep it fed",
    "little_host_memory": "node memory below that of its accelerators",
    "last_driver_branch": "last driver branch {value}",
    "feed_accelerator": "data loading that keeps it at work {reached:.0%} of the time {saving:,.0f}",
    "tune_job": _tune_job,
}
