"""The measurement file: an observed job as one JSON document, and such a document as a measurement of a request.

The document has `format`, `measurement` (the fields of planner.request.Measurement; None where there is no throughput
or no accelerator, with the reason in `no_measurement`), and all evidence for it. Clock, machine and the words of
messages are parameters.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from pathlib import Path
from statistics import fmean
from typing import Any

from planner.measure.bottleneck_diagnosis import Finding, diagnose
from planner.measure.cpu_sampler import HostMachine
from planner.measure.diagnosis_thresholds import threshold_value
from planner.measure.job_watcher import JobObservation, WatchedCommand
from planner.measure.steady_state import SteadyWindow, find_steady_window
from planner.measure.telemetry_samples import Device, Sample
from planner.measure.window_statistics import WindowStatistics, summarise_window
from planner.request.errors import InputProblem, InvalidRequest
from planner.result.message import Message, message
from pricing.accelerator import AcceleratorNames
from pricing.errors import UnknownName
from pricing.frozen_values import dataclass

FORMAT = "gpu-planner measurement 1"
Words = Callable[[Message], str]
BYTES_MAX = 16 << 20
SAMPLES_WRITTEN_MAX = 1000


@dataclass(frozen=True, slots=True)
class JobDescription:
    """Facts of the job that only the user knows; None is left out of the measurement."""

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
    """A job observed and evaluated. `steady` is the reason where there is no rate; `window` has the statistics of the
    steady window, else of the whole run after its warm-up."""

    description: JobDescription
    job: WatchedCommand
    watched: JobObservation
    machine: HostMachine
    steady: SteadyWindow | Message
    window: WindowStatistics
    used: tuple[Device, ...]
    accelerator: str | None
    count: float
    findings: tuple[Finding, ...]
    notes: tuple[Message | str, ...]

    @property
    def job_rate(self) -> float | None:
        """Units per second of the whole job."""
        if isinstance(self.steady, Message):
            return None
        return self.steady.rate * (self.count if self.description.scope == "device" else 1)

    @property
    def joules_per_unit(self) -> float | None:
        """Energy of the accelerators per unit of work."""
        energy, rate = self.window.energy_j, self.job_rate
        if not energy or not rate or self.window.seconds <= 0:
            return None
        return energy / (rate * self.window.seconds)

    @property
    def total_seconds(self) -> tuple[float, float | None, float | None] | None:
        """Time for the total work of the job, and its bounds."""
        total, rate = self.description.total_units, self.job_rate
        if total is None or not rate or isinstance(self.steady, Message):
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
    """The steady window, the statistics in it, and the findings."""
    after = watched.start + job.warm_up_s
    steady = find_steady_window(watched.series.points, after)
    start, end = (after, watched.end) if isinstance(steady, Message) else (steady.start, steady.end)
    remarks: list[Message | str] = list(notes)
    used = _used_devices(watched, remarks)
    window = summarise_window(watched.samples, watched.devices, [device.index for device in used], start, end)
    name = description.accelerator or _accelerator_name(used, remarks)
    count = description.count or float(len(used) or machine.sockets)
    remarks += [
        message("job_stalled", seconds=until - since, start_s=since - watched.start) for since, until in watched.stalls
    ]
    others = (window.cpu.machine_cores or 0.0) - (window.cpu.job_cores or 0.0)
    if others >= threshold_value("others_cores"):
        remarks.append(message("other_processes_busy", processors=others))
    if dropped := watched.series.dropped:
        remarks.append(message("progress_reports_dropped", reports=dropped))
    return JobMeasurement(
        description, job, watched, machine, steady, window, used,
        _canonical_name(name, names, remarks), count, diagnose(window, machine), tuple(remarks),
    )  # fmt: skip


def _used_devices(watched: JobObservation, remarks: list[Message | str]) -> tuple[Device, ...]:
    """The accelerators that did the work: those on which its processes ran, else all that are visible to it."""
    if not watched.devices:
        return ()
    if watched.used:
        return tuple(device for device in watched.devices if device.index in watched.used)
    busy = [reading.busy for sample in watched.samples for reading in sample.readings]
    if busy and None not in busy and max(value or 0.0 for value in busy) < threshold_value("unused"):
        remarks.append(message("no_accelerator_used"))
        return ()
    remarks.append(message("accelerators_used_unknown"))
    return watched.devices


def _accelerator_name(used: Sequence[Device], remarks: list[Message | str]) -> str | None:
    kinds = sorted({device.name for device in used})
    if len(kinds) > 1:
        remarks.append(message("several_kinds_of_accelerator", names=kinds))
    return kinds[0] if len(kinds) == 1 else None


def _canonical_name(name: str | None, names: AcceleratorNames, remarks: list[Message | str]) -> str | None:
    if name is None:
        return None
    try:
        return names.resolve(name).name
    except UnknownName as unknown:
        remarks.append(message("accelerator_not_in_catalog", problem=str(unknown)))
        return name


def build_document(measured: JobMeasurement, as_of: date, words: Words) -> dict[str, Any]:
    """The whole document as JSON values; `words` gives the text of a message."""
    watched, description = measured.watched, measured.description
    measurement, reason = _measurement_fields(measured, as_of, words)
    total = measured.total_seconds
    return {
        "format": FORMAT,
        "status": watched.status,
        "measurement": measurement,
        "no_measurement": "" if reason is None else words(reason),
        **_rate_fields(measured, words),
        "joules_per_unit": measured.joules_per_unit,
        "total_seconds": None if total is None else dict(zip(("expected", "low", "high"), total, strict=True)),
        "diagnosis": [{**dataclasses.asdict(each), "because": words(each.because)} for each in measured.findings],
        "notes": [note if isinstance(note, str) else words(note) for note in measured.notes],
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


def _measurement_fields(
    measured: JobMeasurement, as_of: date, words: Words
) -> tuple[dict[str, Any] | None, Message | None]:
    steady, description = measured.steady, measured.description
    if isinstance(steady, Message):
        return None, steady
    if measured.accelerator is None:
        return None, message("measured_on_cpu", cpu=measured.machine.name)
    fields = {
        "accelerator": measured.accelerator,
        "count": measured.count,
        "units_per_second": steady.rate,
        "per": description.scope,
        "precision": description.precision,
        "scaling": description.scaling,
        "utilisation": _mean_utilisation(measured.window),
        "measured_on": as_of.isoformat(),
        "source": describe_source(measured, words),
    }
    return {key: value for key, value in fields.items() if value is not None}, None


def _mean_utilisation(window: WindowStatistics) -> float | None:
    """Of the accelerators used, to three digits; None where one of them is unknown, or none ran anything."""
    busy = [device.busy for device in window.devices]
    known = [value for value in busy if value is not None]
    return round(fmean(known), 3) or None if known and len(known) == len(busy) else None


def describe_source(measured: JobMeasurement, words: Words) -> str:
    """One line on the origin of the rate, for readers of a plan."""
    steady, watched = measured.steady, measured.watched
    if isinstance(steady, Message):
        return f"planner measure: {words(steady)}"
    wide = "" if steady.half_width is None else f", +- {steady.half_width:.1%} (95 %)"
    kind = "steady" if steady.why_not is None else f"NOT STEADY ({words(steady.why_not)})"
    seconds = f"{steady.end - steady.start:.0f} of {watched.end - watched.start:.0f} s"
    return f"planner measure {measured.description.name}: {kind}, {seconds}{wide}; job {watched.status}"


def _rate_fields(measured: JobMeasurement, words: Words) -> dict[str, Any]:
    """The interval of the rate, None where there is none, and the window that it was measured in."""
    steady, start = measured.steady, measured.watched.start
    if isinstance(steady, Message):
        return {"interval": None, "steady": {"is_steady": False, "why_not": words(steady)}}
    why_not = "" if steady.why_not is None else words(steady.why_not)
    interval = {"confidence": 0.95, "units_per_second_low": steady.low, "units_per_second_high": steady.high,
                "batches": steady.batches, "correlation": steady.correlation}  # fmt: skip
    window = {"is_steady": steady.is_steady, "why_not": why_not, "start_seconds": steady.start - start,
              "end_seconds": steady.end - start, "intervals": steady.bins, "drift": steady.drift}  # fmt: skip
    return {"interval": None if steady.low is None else interval, "steady": window}


def _device_fields(statistics: Any) -> dict[str, Any]:
    values = dataclasses.asdict(statistics)
    return {**values.pop("device"), **values}


CPU_COLUMNS = ("job_seconds", "job_memory_gib", "runnable", "blocked", "machine_busy_seconds", "machine_wait_seconds")
DEVICE_COLUMNS = ("busy", "memory_busy", "memory_used_gib", "power_w", "temperature_c", "sm_clock_mhz", "reasons")


def _sample_table(watched: JobObservation) -> dict[str, Any]:
    """Every k-th sample as a row, so that there are at most SAMPLES_WRITTEN_MAX."""
    every = -(-len(watched.samples) // SAMPLES_WRITTEN_MAX) or 1
    columns = [f"{name}:{device.index}" for device in watched.devices for name in DEVICE_COLUMNS]
    rows = [_sample_row(sample, watched.start) for sample in watched.samples[::every]]
    return {"columns": ["seconds", *CPU_COLUMNS, *columns], "every": every, "rows": rows}


def _sample_row(sample: Sample, start: float) -> list[Any]:
    values = [getattr(reading, name) for reading in sample.readings for name in DEVICE_COLUMNS]
    row = [sample.at - start, *(getattr(sample.cpu, name) for name in CPU_COLUMNS), *values]
    return [float(f"{value:.6g}") if isinstance(value, float) else value for value in row]


def to_bytes(content: Mapping[str, Any]) -> bytes:
    """The document as JSON for readers: indented, one sample a line."""
    samples = content["samples"]
    rows = ",\n      ".join(json.dumps(row) for row in samples["rows"])
    text = json.dumps({**content, "samples": {**samples, "rows": []}}, indent=2, ensure_ascii=False, allow_nan=False)
    return (text.removesuffix("[]\n  }\n}") + f"[\n      {rows}\n    ]\n  }}\n}}\n").encode()


def read(source: Path | str | bytes) -> dict[str, Any]:
    """The fields of planner.request.Measurement in a measurement file (its path or its bytes).

    InvalidRequest with every problem: no such file, no JSON, another format, a job without throughput, a field that a
    request would reject.
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
        why = str(content.get("no_measurement") or "it has no measurement")[:300]
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
