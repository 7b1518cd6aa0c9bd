"""Accelerators of a workload: those it was measured on, those it may use, and how many work together.

Pure functions of one workload and the names of accelerators; independent of offerings and prices.
"""

from __future__ import annotations

from planner.performance.network_arithmetic import SEQUENCE_UNITS, TOKEN_UNITS
from planner.performance.throughput import MeasuredRate, Throughput, measured_rate, predict_throughput
from planner.performance.throughput.network_estimates import estimate_throughput, shipped_runs
from planner.performance.throughput.plug_in_models import apply_throughput_models
from planner.request.models import WorkFamily, Workload
from planner.result.message import Message, message
from pricing.accelerator import Accelerator, AcceleratorNames
from pricing.offering import Offering

USUAL_VENDOR = "NVIDIA"
"""The vendor whose accelerators a described job uses unless others are named: nearly all public runs are on them."""


def accelerator_hours_rate(workload: Workload, names: AcceleratorNames) -> float:
    """Work units per accelerator-hour on the accelerator whose hours are stated: 1 unless it was measured there."""
    stated = workload.demand
    if stated.accelerator_hours_per_month is None or not workload.measurements:
        return 1.0
    name = names.resolve(stated.accelerator or "").name
    own = next(m for m in workload.measurements if names.resolve(m.accelerator).name == name)
    return own.job_units_per_hour / own.count


def measured_rates(workload: Workload, names: AcceleratorNames) -> list[MeasuredRate]:
    """The measured rates, or the definition that one accelerator does one accelerator-hour per hour."""
    family = family_of(workload)
    rates = [measured_rate(m, names.resolve(m.accelerator), family) for m in workload.measurements]
    if not rates:
        rates = [MeasuredRate(names.resolve(workload.demand.accelerator or ""), 1, 1.0, "bf16", "replicas")]
    return rates


def gang_size(workload: Workload) -> float:
    """Accelerators that work together: as stated, else as measured, else 1."""
    return workload.gang or (workload.measurements[0].count if workload.measurements else 1)


def gang_size_on(workload: Workload, names: AcceleratorNames, part: Accelerator) -> float:
    """The same on one accelerator: sockets of CPUs and accelerators each count as they were measured."""
    same_kind = (m for m in workload.measurements if is_cpu(names.resolve(m.accelerator)) == is_cpu(part))
    first = next(same_kind, None)
    return gang_size(workload) if workload.gang or first is None else first.count


def is_cpu(part: Accelerator) -> bool:
    return part.device_class == "cpu"


def family_of(workload: Workload) -> WorkFamily:
    """The family of its work: as stated, else by its kind, its unit and whether it has a network."""
    if workload.family is not None:
        return workload.family
    if workload.kind in ("inference", "interactive"):
        return "inference"
    if workload.network is not None and workload.network.run == "inference":
        return "inference"
    is_language_model = workload.unit.casefold() in TOKEN_UNITS | SEQUENCE_UNITS
    return "llm_training" if workload.network or is_language_model else "training"


def is_described(workload: Workload) -> bool:
    """Whether its throughput is estimated from public runs of similar networks: neither measured nor in hours."""
    return workload.network is not None and not workload.measurements and workload.demand.accelerator is None


def described_throughput(workload: Workload, part: Accelerator, gang: float) -> Throughput | Message:
    """Throughput of a described job on `gang` accelerators, or the reason why there is no estimate."""
    assert workload.network is not None
    return estimate_throughput(workload.network, workload.unit or "tokens", part, gang, shipped_runs())


def predict_rate(workload: Workload, names: AcceleratorNames, part: Accelerator, gang: float) -> Throughput | Message:
    """Throughput of a job on `gang` accelerators: as measured, else by the model of a plug-in, else by the fit."""
    if is_described(workload):
        own = described_throughput(workload, part, gang)
    else:
        own = predict_throughput(measured_rates(workload, names), part, gang)
    if isinstance(own, Throughput) and own.basis == "measured":
        return own
    return apply_throughput_models(workload, part, gang, names) or own


def is_tied_to_accelerator(workload: Workload) -> bool:
    """Whether the work stays on the accelerator of its hours: no substitution and no measurement to compare by."""
    return bool(workload.demand.accelerator) and not workload.substitution and not workload.measurements


def is_stated_in_hours(workload: Workload) -> bool:
    """Whether the work is accelerator-hours as they will be billed: they hold failures and repairs already."""
    return not workload.measurements and not is_described(workload)


def compatible_stacks(workload: Workload, names: AcceleratorNames) -> frozenset[str]:
    """Software stacks that run the job as it is: those of the accelerators of its measurements or hours."""
    if is_described(workload):
        return frozenset({USUAL_VENDOR})
    return frozenset(software_stack(base.accelerator) for base in measured_rates(workload, names))


def software_stack(part: Accelerator) -> str:
    """The software of an accelerator is its vendor's; all CPUs share one stack, which no GPU has."""
    return "any CPU" if is_cpu(part) else part.vendor


def allowed_accelerators(workload: Workload, names: AcceleratorNames) -> frozenset[str] | None:
    """Canonical names of the accelerators that may be used; None for any."""
    if is_tied_to_accelerator(workload):
        return frozenset(part.name for part in names.forms(workload.demand.accelerator or ""))
    if workload.accelerators:
        return frozenset(part.name for written in workload.accelerators for part in names.match(written))
    return None


def written_accelerators(workload: Workload) -> list[str]:
    """Names that must mean exactly one accelerator, as in the request: of hours and of measurements."""
    written = [workload.demand.accelerator] if workload.demand.accelerator else []
    served = workload.serving.measured if workload.serving else ()
    return [*written, *(m.accelerator for m in workload.measurements), *(m.accelerator for m in served)]


def host_problem(workload: Workload, offering: Offering) -> Message | None:
    """Why the processors or the memory of a node are too small for its accelerators, or None. A node with unknown ones
    is refused where the workload states a need."""
    count = offering.accelerator_count or 0.0
    for what, needed, has in (
        ("cpus", workload.cpus_per_accelerator, offering.vcpus),
        ("memory_gib", workload.host_memory_gib_per_accelerator, offering.memory_gib),
    ):
        if needed is not None and (has is None or has < needed * count * (1 - 1e-9)):
            return message("host_too_small", what=what, needed_per_accelerator=needed, is_known=has is not None)
    return None
