"""The measurement file: its figures by hand, and as a request takes it; what a request cannot use is refused whole."""

from __future__ import annotations

import dataclasses
import json
from datetime import date

import pytest

from planner.measure import measurement_file, read_file
from planner.measure.job_watcher import JobObservation, WatchedCommand
from planner.measure.progress_sources import WorkSeries
from planner.measure.telemetry_samples import Device, DeviceReading, Sample
from planner.messages import text_of
from planner.request.errors import InvalidRequest
from planner.request.models import Measurement
from planner.result.message import message
from pricing.accelerator import embedded_names

DAY = date(2026, 11, 21)


def test_a_measurement_is_what_a_request_takes(replayed, tmp_path):
    measured = replayed("compute_bound", rate=10.0, precision="bf16", scaling="strong")
    path = tmp_path / "job.measured.json"
    path.write_bytes(measurement_file.to_bytes(measurement_file.build_document(measured, DAY, text_of)))
    fields = read_file(path)
    assert fields == read_file(str(path)) == read_file(path.read_bytes())
    taken = Measurement.model_validate(fields)
    assert taken.accelerator == "H100-80GB-SXM"  # NVML says NVIDIA H100 80GB HBM3
    assert (taken.count, taken.per, taken.precision, taken.scaling) == (1, "job", "bf16", "strong")
    assert taken.units_per_second == pytest.approx(10)
    assert taken.measured_on == DAY
    assert "steady" in taken.source


def test_energy_of_a_unit_by_hand(replayed):
    """Four devices over the window: their counters' differences over 10 units in each of its seconds."""
    measured = replayed("straggler", rate=10.0)
    window, watched = measured.window, measured.watched
    inside = [sample for sample in watched.samples if window.start <= sample.at <= window.end]
    joules = sum(last.energy_j - first.energy_j
                 for first, last in zip(inside[0].readings, inside[-1].readings, strict=True))  # fmt: skip
    assert measured.joules_per_unit == pytest.approx(joules / (10 * (inside[-1].at - inside[0].at)))
    # Three at about 560 W and one at 75 + 485 x 0.42 / 0.98 = 283 W: some 1,960 W for ten units a second.
    assert measured.joules_per_unit == pytest.approx(196, rel=0.03)


def test_work_of_one_device_is_multiplied_by_the_count(replayed):
    job, one = replayed("straggler", rate=10.0), replayed("straggler", rate=10.0, scope="device")
    assert one.count == 4
    assert one.job_rate == pytest.approx(40)
    assert one.joules_per_unit == pytest.approx(job.joules_per_unit / 4)
    fields = measurement_file.build_document(one, DAY, text_of)["measurement"]
    assert (fields["per"], fields["count"], fields["units_per_second"]) == ("device", 4, pytest.approx(10))


def test_a_plan_hears_how_busy_the_accelerators_were(replayed):
    """Three at work for about 98 % of the time and one for 42: (3 x 0.98 + 0.42) / 4 = 0.84."""
    fields = measurement_file.build_document(replayed("straggler"), DAY, text_of)["measurement"]
    assert Measurement.model_validate(fields).utilisation == pytest.approx(0.84, abs=0.02)


def test_time_to_solution(replayed):
    """36,000 units at 10 a second are an hour."""
    expected, low, high = replayed("compute_bound", rate=10.0, total_units=36_000).total_seconds
    assert expected == pytest.approx(3600)
    assert low <= expected <= high


def test_what_is_told_wins(replayed):
    fields = measurement_file.build_document(replayed("straggler", count=8, accelerator="A100 80GB"), DAY, text_of)[
        "measurement"
    ]
    assert fields["count"] == 8
    assert fields["accelerator"] == "A100-80GB-SXM"


def test_an_accelerator_that_nobody_knows_keeps_its_name(replayed):
    measured = replayed("compute_bound", accelerator="NVIDIA Z900")
    assert measurement_file.build_document(measured, DAY, text_of)["measurement"]["accelerator"] == "NVIDIA Z900"
    assert "Z900" in measured.notes[-1].parameters["problem"]


def test_a_job_that_left_its_accelerators_alone_was_not_measured_on_them(machine):
    samples = [Sample(at / 2, reading_cpu(at), (DeviceReading(busy=0.0),)) for at in range(40)]
    measured = evaluate(machine, samples, [Device(0, "NVIDIA H100 80GB HBM3")])
    assert measured.accelerator is None
    assert measured.used == ()
    assert message("no_accelerator_used") in measured.notes


def test_where_it_cannot_be_told_which_were_used_all_count_and_it_says_so(machine):
    samples = [Sample(at / 2, reading_cpu(at), (DeviceReading(busy=0.9), DeviceReading(busy=0.9))) for at in range(40)]
    measured = evaluate(machine, samples, [Device(0, "NVIDIA L4"), Device(1, "NVIDIA L4")])
    assert measured.count == 2
    assert message("accelerators_used_unknown") in measured.notes


def test_several_kinds_are_no_measurement_of_one(machine):
    samples = [Sample(at / 2, reading_cpu(at), (DeviceReading(busy=0.9), DeviceReading(busy=0.9))) for at in range(40)]
    found = measurement_file.build_document(
        evaluate(machine, samples, [Device(0, "NVIDIA L4"), Device(1, "Tesla T4")]), DAY, text_of
    )
    assert found["measurement"] is None
    assert any("several kinds" in note for note in found["notes"])


def reading_cpu(at: int):
    from planner.measure.telemetry_samples import CpuReading

    return CpuReading(job_seconds=at / 2, machine_busy_seconds=at / 2, memory_available_gib=100)


def evaluate(machine, samples, devices) -> measurement_file.JobMeasurement:
    series = WorkSeries()
    for second in range(20):
        series.add(float(second), 5.0 * second)
    watched = JobObservation(0.0, series, tuple(devices), end=19.5, samples=samples)
    return measurement_file.evaluate(
        watched, WatchedCommand(("job",)), measurement_file.JobDescription("job"), machine, embedded_names(), []
    )


def test_the_same_gives_the_same_bytes(replayed):
    one, other = (
        measurement_file.to_bytes(measurement_file.build_document(replayed("straggler"), DAY, text_of))
        for _ in range(2)
    )
    assert one == other
    found = json.loads(one)
    assert found["format"] == measurement_file.FORMAT
    assert {"status", "measurement", "interval", "steady", "devices", "diagnosis", "samples"} <= set(found)
    assert len(found["samples"]["columns"]) == len(found["samples"]["rows"][0])


def test_a_long_run_keeps_a_thousand_samples(replayed):
    measured = replayed("compute_bound")
    first = measured.watched.samples[0]
    measured.watched.samples[:] = [dataclasses.replace(first, at=n / 100) for n in range(5001)]
    samples = json.loads(measurement_file.to_bytes(measurement_file.build_document(measured, DAY, text_of)))["samples"]
    assert samples["every"] == 6
    assert len(samples["rows"]) == 834


def test_without_samples_it_is_json_too(machine):
    watched = JobObservation(0.0, WorkSeries(), (), end=0.1)
    measured = measurement_file.evaluate(
        watched, WatchedCommand(("job",)), measurement_file.JobDescription("job"), machine, embedded_names(), []
    )
    assert (
        json.loads(measurement_file.to_bytes(measurement_file.build_document(measured, DAY, text_of)))["samples"][
            "rows"
        ]
        == []
    )


GOOD = {"accelerator": "H100-80GB-SXM", "count": 1, "units_per_second": 3.5, "per": "job"}


def refused(document: object) -> str:
    with pytest.raises(InvalidRequest) as raised:
        read_file(document if isinstance(document, bytes) else json.dumps(document).encode())
    return str(raised.value)


def test_every_fault_of_a_file_is_told():
    told = refused({"format": measurement_file.FORMAT, "measurement": {**GOOD, "count": -1, "per": "day", "speed": 1}})
    for field in ("measurement.count", "measurement.per", "measurement.speed"):
        assert field in told


@pytest.mark.parametrize(
    ("document", "word"),
    [
        (b"{", "no JSON"),
        (b"\xff\xfe", "no JSON"),
        (b"[" * 100_000, "no JSON"),
        ([], "no measurement file"),
        ({"format": "gpu-planner measurement 2"}, "measurement 1"),
        ({"format": measurement_file.FORMAT}, "has no measurement"),
        ({"format": measurement_file.FORMAT, "measurement": None, "no_measurement": "it was a CPU"}, "it was a CPU"),
        ({"format": measurement_file.FORMAT, "measurement": {}}, "accelerator"),
    ],
)
def test_what_is_no_measurement(document, word):
    assert word in refused(document)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(InvalidRequest, match="cannot be read"):
        read_file(tmp_path / "none.json")
    with pytest.raises(InvalidRequest, match="cannot be read"):
        read_file(tmp_path)
