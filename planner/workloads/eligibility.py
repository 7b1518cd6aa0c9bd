"""What a workload says of accelerators: which it was measured on, which it may use, how many work together.

Pure questions about one workload and the names of accelerators; knows neither offerings nor prices.
"""

from __future__ import annotations

from planner.performance.throughput import MeasuredRate, Throughput, measured_rate
from planner.performance.throughput.network_estimates import estimate_throughput, shipped_runs
from planner.request.models import WorkFamily, Workload
from pricing.accelerator import Accelerator, AcceleratorNames

USUAL_VENDOR = "NVIDIA"
"""Whose accelerators a described job may use unless others are named: nearly all public runs are on them."""
LANGUAGE_MODEL_UNITS = ("token", "tokens", "sequence", "sequences")
"""Units of training that tell a language model."""


def accelerator_hours_rate(workload: Workload, names: AcceleratorNames) -> float:
    """Work units per accelerator-hour on the accelerator of the hours: 1 unless it was measured there."""
    stated = workload.demand
    if stated.accelerator_hours_per_month is None or not workload.measurements:
        return 1.0
    wanted = names.resolve(stated.accelerator or "").name
    own = next(m for m in workload.measurements if names.resolve(m.accelerator).name == wanted)
    return own.job_units_per_hour / own.count


def measured_rates(workload: Workload, names: AcceleratorNames) -> list[MeasuredRate]:
    """What is measured, or the definition that one accelerator gives one accelerator-hour an hour."""
    family = family_of(workload)
    rates = [measured_rate(m, names.resolve(m.accelerator), family) for m in workload.measurements]
    if not rates:
        rates = [MeasuredRate(names.resolve(workload.demand.accelerator or ""), 1, 1.0, "bf16", "replicas")]
    return rates


def gang_size(workload: Workload) -> float:
    """Accelerators that work together: as stated, else as measured, else 1."""
    return workload.gang or (workload.measurements[0].count if workload.measurements else 1)


def gang_size_on(workload: Workload, names: AcceleratorNames, part: Accelerator) -> float:
    """The same for one part: sockets of a CPU and accelerators are each counted as they were measured."""
    alike = (m for m in workload.measurements if is_cpu(names.resolve(m.accelerator)) == is_cpu(part))
    first = next(alike, None)
    return gang_size(workload) if workload.gang or first is None else first.count


def is_cpu(part: Accelerator) -> bool:
    return part.device_class == "cpu"


def family_of(workload: Workload) -> WorkFamily:
    """What its work is to an accelerator: as stated, else by its kind, its unit and whether it is a network's."""
    if workload.family is not None:
        return workload.family
    if workload.kind in ("inference", "interactive"):
        return "inference"
    if workload.network is not None and workload.network.run == "inference":
        return "inference"
    return "llm_training" if workload.network or workload.unit.casefold() in LANGUAGE_MODEL_UNITS else "training"


def is_described(workload: Workload) -> bool:
    """Whether its throughput is that of public runs of like networks: neither measured nor counted in hours."""
    return workload.network is not None and not workload.measurements and workload.demand.accelerator is None


def described_throughput(workload: Workload, part: Accelerator, gang: float) -> Throughput | str:
    """Throughput of a described job on `gang` accelerators, or why no public run tells it."""
    assert workload.network is not None
    return estimate_throughput(workload.network, workload.unit or "tokens", part, gang, shipped_runs())


def is_tied_to_accelerator(workload: Workload) -> bool:
    """Whether the work stays on the accelerator of its hours: no substitution and no measurement to compare by."""
    return bool(workload.demand.accelerator) and not workload.substitution and not workload.measurements


def compatible_stacks(workload: Workload, names: AcceleratorNames) -> frozenset[str]:
    """Whose accelerators run the job as it is: those it was measured on, or its hours are on."""
    if is_described(workload):
        return frozenset({USUAL_VENDOR})
    return frozenset(software_stack(base.accelerator) for base in measured_rates(workload, names))


def software_stack(part: Accelerator) -> str:
    """What software a part runs: its vendor's, but any CPU what another CPU runs, and nothing that a GPU does."""
    return "any CPU" if is_cpu(part) else part.vendor


def allowed_accelerators(workload: Workload, names: AcceleratorNames) -> frozenset[str] | None:
    """Canonical names of the accelerators that may be used; None for any."""
    if is_tied_to_accelerator(workload):
        return frozenset({names.resolve(workload.demand.accelerator or "").name})
    if workload.accelerators:
        return frozenset(part.name for written in workload.accelerators for part in names.match(written))
    return None


def written_accelerators(workload: Workload) -> list[str]:
    """Accelerators that must be one part: of hours and of measurements, as the asker wrote them."""
    written = [workload.demand.accelerator] if workload.demand.accelerator else []
    return [*written, *(m.accelerator for m in workload.measurements)]
