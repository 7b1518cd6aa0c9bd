"""Placement of workloads on nodes, and sweeps that share accelerators."""

from __future__ import annotations

from collections.abc import Callable, Sequence


def _accelerator_not_allowed(allowed: Sequence[str]) -> str:
    return f"not on {', '.join(allowed)}"


def _operations_of_unit_unknown(unit: str) -> str:
    return f"the operations of one of {unit or 'its units'} are unknown"


def _time_share(experiments: int, fraction: float, efficiency: float) -> str:
    whole = "one" if fraction == 1 else f"{fraction:.3g} of one"
    return f"{experiments} share {whole} in time at an efficiency of {efficiency:g}"


def _sweep_summary(
    workload: str, experiments: int, every_month: bool, units_each: float, unit: str, share: str, parallel: int,
    durations: Sequence[str], busiest_month: str | None,
) -> str:  # fmt: skip
    count = f"{experiments:,} experiments{' a month' if every_month else ''}"
    sharing = {"none": "each alone", "time": "sharing in turns", "slice": "each in a slice of its own"}[share]
    text = f"{workload}: {count} of {units_each:,.10g} {unit}, {sharing}, at most {parallel:,} at once"
    return "; ".join((text, *durations, *((busiest_month,) if busiest_month else ()))) + "."


def _busiest_month(month: int, running: float, accelerators: Sequence[str]) -> str:
    return f"in month {month}, the busiest, {running:.3g} run at once on average, on {' and '.join(accelerators)}"


def _nodes_not_joined(nodes: int, joined: int, rdma: str | None) -> str:
    if joined > 1:
        return f"a gang of {nodes} nodes; one {rdma} fabric joins at most {joined}"
    return f"a gang of {nodes} nodes that no fabric joins (`fabric: any` lets it run over Ethernet)"


TEXTS: dict[str, str | Callable[..., str]] = {
    "accelerator_count_unknown": "its number of accelerators is unknown",
    "accelerator_hour_defined": "an accelerator-hour is one accelerator for one hour",
    "accelerator_not_allowed": _accelerator_not_allowed,
    "accelerators": "{count:.3g} x {name}",
    "bound_by_parallelism": "bound by its parallelism, x {ratio:.3g}: {bound}",
    "busiest_month": _busiest_month,
    "experiment_hours": "one takes {hours:,.3g} hours on {count:.3g} x {accelerator}",
    "memory_may_be_too_small": "may be too small: the network needs {low_gib:.3g} to {high_gib:.3g} GiB on each",
    "memory_too_small": "less than {needed_gib:g} GiB of memory per accelerator",
    "memory_too_small_in_share": "{reason}, {share}",
    "memory_unknown": "unknown: {reason}",
    "network_memory_too_small": "less than the {needed_gib:.3g} GiB that the network needs on each of {gang:g} "
    "accelerators",
    "no_slice_large_enough": "no slice of {accelerator} has {fraction:.3g} of it",
    "no_slices_known": "{accelerator} has no slices that are known",
    "nodes_not_joined": _nodes_not_joined,
    "node_too_small": "fewer than {needed_accelerators:#accelerator} per node",
    "operations_of_unit_unknown": _operations_of_unit_unknown,
    "other_software_stack": "another vendor's software stack, neither measured nor allowed by name",
    "parallelism_bound_unknown": "the cost of its parallelism is unknown: {reason}",
    "prediction_not_allowed": "its throughput would be a prediction and only measured ones are allowed",
    "share_of_work": "{share}: {ratio:.3g} of the work",
    "slices_not_joined": "{slices} slices of {accelerator} that nothing joins: its gang needs one of {gang:g} chips",
    "slice_profile": "in a slice {profile}, {instances} to an accelerator",
    "slice_sold": "in a slice sold as {fraction:.3g} of one",
    "slice_too_small": "a slice smaller than {fraction:.3g} of an accelerator",
    "sweep_summary": _sweep_summary,
    "throughput_unknown": "cannot serve: {reason}",
    "time_share": _time_share,
}
