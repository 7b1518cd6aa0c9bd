"""The measurement file: what was watched as one JSON document, and such a document as a measurement of a request.

The document holds `format`, `measurement` (the fields of planner.request.Measurement; None where there is no
throughput or no accelerator to hold it against, with the reason in `no_measurement`), and beside it everything the
figure rests on. Knows neither the clock nor the machine: both come in.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from planner.measure.bottleneck_diagnosis import Finding, diagnose
from planner.measure.cpu_sampler import HostMachine
from planner.measure.diagnosis_thresholds import threshold_value
from planner.measure.job_watcher import JobObservation, WatchedCommand
from planner.measure.steady_state import SteadyWindow, find_steady_window
from planner.measure.telemetry_samples import Device, Sample
from planner.measure.window_statistics import WindowStatistics, summarise_window
from planner.request.errors import InputProblem, InvalidRequest
from pricing.accelerator import AcceleratorNames
from pricing.errors import UnknownName

FORMAT = "gpu-planner measurement 1"
BYTES_MAX = 16 << 20
SAMPLES_WRITTEN_MAX = 1000


@dataclass(frozen=True, slots=True)
class JobDescription:
    """What only the user can say of the job; what is not said is None and left out of the measurement."""

    name: str
    unit: str = "units"
    scope: str = "job"
    scaling: str = "weak"
    precision: str | None = None
    batch: float | None = None
    count: float | None = None
    accelerator: str | None = None
    total_units: float | None = None


@dataclass(frozen=True, slots=True)
class JobMeasurement:
    """All that is made of what was watched. `steady` is the reason where there is no rate; `window` are the figures
    of the steady window, else of the whole run after its warm-up."""

    told: JobDescription
    job: WatchedCommand
    watched: JobObservation
    machine: HostMachine
    steady: SteadyWindow | str
    window: WindowStatistics
    used: tuple[Device, ...]
    accelerator: str | None
    count: float
    findings: tuple[Finding, ...]
    notes: tuple[str, ...]

    @property
    def job_rate(self) -> float | None:
        """Units per second of the whole job."""
        if isinstance(self.steady, str):
            return None
        return self.steady.rate * (self.count if self.told.scope == "device" else 1)

    @property
    def joules_per_unit(self) -> float | None:
        """Energy of the accelerators over the work done meanwhile."""
        energy, rate = self.window.energy_j, self.job_rate
        if not energy or not rate or self.window.seconds <= 0:
            return None
        return energy / (rate * self.window.seconds)

    @property
    def total_seconds(self) -> tuple[float, float | None, float | None] | None:
        """Time for all the work that was told, and its bounds."""
        total, rate = self.told.total_units, self.job_rate
        if total is None or not rate or isinstance(self.steady, str):
            return None
        scale = total / rate * self.steady.rate
        low, high = self.steady.low, self.steady.high
        return total / rate, scale / high if high else None, scale / low if low else None


def evaluate(
    watched: JobObservation,
    job: WatchedCommand,
    description: JobDescription,
    machine: HostMachine,
    names: AcceleratorNames,
    notes: Sequence[str],
) -> JobMeasurement:
    """The steady window, the figures in it and what they say."""
    after = watched.start + job.warm_up_s
    steady = find_steady_window(watched.series.points, after)
    start, end = (after, watched.end) if isinstance(steady, str) else (steady.start, steady.end)
    remarks = list(notes)
    used = _used_devices(watched, remarks)
    window = summarise_window(watched.samples, watched.devices, [device.index for device in used], start, end)
    name = description.accelerator or _accelerator_name(used, remarks)
    count = description.count or float(len(used) or machine.sockets)
    remarks += [f"no sign of life for {until - since:.0f} s from second {since - watched.start:.0f} on"
             for since, until in watched.stalls]  # fmt: skip
    others = (window.cpu.machine_cores or 0.0) - (window.cpu.job_cores or 0.0)
    if others >= threshold_value("others_cores"):
        remarks.append(f"other processes kept {others:.1f} processors busy: alone, the job may be faster")
    if dropped := watched.series.dropped:
        remarks.append(f"{dropped} reports of progress were left out: they went down, or were no number")
    return JobMeasurement(
        description, job, watched, machine, steady, window, used,
        _canonical_name(name, names, remarks), count, diagnose(window, machine), tuple(remarks),
    )  # fmt: skip


def _used_devices(watched: JobObservation, remarks: list[str]) -> tuple[Device, ...]:
    """The accelerators that did the work: those on which its processes were seen, else all that it may see."""
    if not watched.devices:
        return ()
    if watched.used:
        return tuple(device for device in watched.devices if device.index in watched.used)
    busy = [reading.busy for sample in watched.samples for reading in sample.readings]
    if busy and None not in busy and max(value or 0.0 for value in busy) < threshold_value("unused"):
        remarks.append("no process of the job used an accelerator: measured on the CPU")
        return ()
    remarks.append(
        "which accelerators the job used cannot be told; all that it may see are counted (--count overrides)"
    )
    return watched.devices


def _accelerator_name(used: Sequence[Device], remarks: list[str]) -> str | None:
    kinds = sorted({device.name for device in used})
    if len(kinds) > 1:
        remarks.append(f"accelerators of several kinds did the work ({', '.join(kinds)}): no rate of one of them")
    return kinds[0] if len(kinds) == 1 else None


def _canonical_name(name: str | None, names: AcceleratorNames, remarks: list[str]) -> str | None:
    if name is None:
        return None
    try:
        return names.resolve(name).name
    except UnknownName as unknown:
        remarks.append(f"{unknown}: kept as the machine names it")
        return name


def build_document(measured: JobMeasurement, as_of: date) -> dict[str, Any]:
    """The whole document, as JSON holds it."""
    watched, description = measured.watched, measured.told
    measurement, why_none = _measurement_fields(measured, as_of)
    total = measured.total_seconds
    return {
        "format": FORMAT,
        "status": watched.status,
        "measurement": measurement,
        "no_measurement": why_none,
        "interval": _interval_fields(measured),
        "steady": _steady_fields(measured),
        "joules_per_unit": measured.joules_per_unit,
        "total_seconds": None if total is None else dict(zip(("expected", "low", "high"), total, strict=True)),
        "diagnosis": [dataclasses.asdict(finding) for finding in measured.findings],
        "notes": list(measured.notes),
        "job": {
            "name": description.name,
            "unit": description.unit,
            "batch": description.batch,
            "total_units": description.total_units,
            "exit_code": watched.returned,
            "ended": watched.ended_because,
            "seconds": watched.end - watched.start,
            "reports_of_progress": len(watched.series.points),
            "stalls": [[since - watched.start, until - watched.start] for since, until in watched.stalls],
        },
        "machine": dataclasses.asdict(measured.machine),
        "cpu": dataclasses.asdict(measured.window.cpu),
        "devices": [_device_fields(device) for device in measured.window.devices],
        "sampling_seconds": measured.job.interval_s,
        "samples": _sample_table(watched),
    }


def _measurement_fields(measured: JobMeasurement, as_of: date) -> tuple[dict[str, Any] | None, str]:
    steady, description = measured.steady, measured.told
    if isinstance(steady, str):
        return None, steady
    if measured.accelerator is None:
        name = measured.machine.name
        return None, f"measured on the CPU ({name}): say --accelerator where the catalogue names it"
    fields = {
        "accelerator": measured.accelerator,
        "count": measured.count,
        "units_per_second": steady.rate,
        "per": description.scope,
        "precision": description.precision,
        "scaling": description.scaling,
        "measured_on": as_of.isoformat(),
        "source": describe_source(measured),
    }
    return {key: value for key, value in fields.items() if value is not None}, ""


def describe_source(measured: JobMeasurement) -> str:
    """One line on how the figure came about, for whoever meets it in a plan."""
    steady, watched = measured.steady, measured.watched
    if isinstance(steady, str):
        return f"planner measure: {steady}"
    wide = "" if steady.half_width is None else f", +- {steady.half_width:.1%} (95 %)"
    kind = "steady" if steady.is_steady else f"NOT STEADY ({steady.why_not})"
    seconds = f"{steady.end - steady.start:.0f} of {watched.end - watched.start:.0f} s"
    return f"planner measure {measured.told.name}: {kind}, {seconds}{wide}; job {watched.status}"


def _interval_fields(measured: JobMeasurement) -> dict[str, Any] | None:
    steady = measured.steady
    if isinstance(steady, str) or steady.low is None:
        return None
    return {"confidence": 0.95, "units_per_second_low": steady.low, "units_per_second_high": steady.high,
            "batches": steady.batches, "correlation": steady.correlation}  # fmt: skip


def _steady_fields(measured: JobMeasurement) -> dict[str, Any]:
    steady, start = measured.steady, measured.watched.start
    if isinstance(steady, str):
        return {"is_steady": False, "why_not": steady}
    return {"is_steady": steady.is_steady, "why_not": steady.why_not, "start_seconds": steady.start - start,
            "end_seconds": steady.end - start, "intervals": steady.bins, "drift": steady.drift}  # fmt: skip


def _device_fields(found: Any) -> dict[str, Any]:
    values = dataclasses.asdict(found)
    return {**values.pop("device"), **values}


CPU_COLUMNS = ("job_seconds", "job_memory_gib", "runnable", "blocked", "machine_busy_seconds", "machine_wait_seconds")
DEVICE_COLUMNS = ("busy", "memory_busy", "memory_used_gib", "power_w", "temperature_c", "sm_clock_mhz", "reasons")


def _sample_table(watched: JobObservation) -> dict[str, Any]:
    """Every k-th sample as a row, so that there are at most SAMPLES_KEPT."""
    every = -(-len(watched.samples) // SAMPLES_WRITTEN_MAX) or 1
    columns = [f"{name}:{device.index}" for device in watched.devices for name in DEVICE_COLUMNS]
    rows = [_sample_row(sample, watched.start) for sample in watched.samples[::every]]
    return {"columns": ["seconds", *CPU_COLUMNS, *columns], "every": every, "rows": rows}


def _sample_row(sample: Sample, start: float) -> list[Any]:
    values = [getattr(reading, name) for reading in sample.readings for name in DEVICE_COLUMNS]
    found = [sample.at - start, *(getattr(sample.cpu, name) for name in CPU_COLUMNS), *values]
    return [float(f"{value:.6g}") if isinstance(value, float) else value for value in found]


def to_bytes(content: Mapping[str, Any]) -> bytes:
    """The document as JSON for readers: indented, one sample a line."""
    samples = content["samples"]
    rows = ",\n      ".join(json.dumps(row) for row in samples["rows"])
    text = json.dumps({**content, "samples": {**samples, "rows": []}}, indent=2, ensure_ascii=False, allow_nan=False)
    return (text.removesuffix("[]\n  }\n}") + f"[\n      {rows}\n    ]\n  }}\n}}\n").encode()


def read(source: Path | str | bytes) -> dict[str, Any]:
    """The fields of planner.request.Measurement that a measurement file (its path or its bytes) holds.

    InvalidRequest with every fault: no such file, no JSON, another format, a job that gave no throughput, a field that
    a request would refuse.
    """
    place = "measurement file" if isinstance(source, bytes) else str(source)
    data = source if isinstance(source, bytes) else _read_bytes(Path(source), place)
    if len(data) > BYTES_MAX:
        raise InvalidRequest((InputProblem("", place, "is too large", f"over {BYTES_MAX >> 20} MiB", FORMAT),))
    try:
        content = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise InvalidRequest((InputProblem("", place, f"is no JSON: {error}"[:200]),)) from None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        shown = repr(content.get("format"))[:80] if isinstance(content, dict) else type(content).__name__
        raise InvalidRequest((InputProblem("format", place, "is no measurement file", shown, repr(FORMAT)),))
    measurement = content.get("measurement")
    if not isinstance(measurement, dict):
        why = str(content.get("no_measurement") or "it holds no measurement")[:300]
        raise InvalidRequest((InputProblem("measurement", place, f"cannot be planned with: {why}"),))
    return _validate_measurement(measurement, place)


def _validate_measurement(measurement: dict[str, Any], place: str) -> dict[str, Any]:
    from pydantic import ValidationError

    from planner.request.models import Measurement

    try:
        Measurement.model_validate(measurement)
    except ValidationError as error:
        raise InvalidRequest(
            tuple(
                InputProblem(path := ".".join(["measurement", *map(str, fault["loc"])]), f"{place}: {path}",
                          fault["msg"].removeprefix("Value error, "))
                for fault in error.errors(include_url=False, include_input=False)
            )
        ) from None  # fmt: skip
    return measurement


def _read_bytes(path: Path, place: str) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(BYTES_MAX + 1)
    except OSError as error:
        raise InvalidRequest((InputProblem("", place, f"cannot be read: {error.strerror or error}"),)) from None
