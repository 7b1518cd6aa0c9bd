"""What limits a job, on traces of our own whose answer is known; where the evidence ends, so does the answer."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from planner.measure.bottleneck_diagnosis import diagnose
from planner.measure.cpu_sampler import HostMachine
from planner.measure.diagnosis_thresholds import load_thresholds
from planner.measure.telemetry_samples import CpuReading, Device, DeviceReading, Sample, clock_reason_names
from planner.measure.window_statistics import CpuStatistics, DeviceStatistics, WindowStatistics, summarise_window
from planner.messages import text_of
from planner.result.message import message
from tests.planner.measure.trace_replay import TraceReplay, read_trace

TRACES = Path(__file__).parent / "traces"
RIGHT = {
    "compute_bound": "compute_bound",
    "memory_bound": "memory_bound",
    "input_starved": "input_starved",
    "waits_elsewhere": "waits",
    "power_capped": "power_throttled",
    "thermal": "thermal_throttled",
    "small_batch": "small_batch",
    "straggler": "straggler",
    "idle": "accelerator_unused",
}
MACHINE = HostMachine("a processor", sockets=1, cpus=4, memory_gib=64)


@pytest.mark.parametrize(("trace", "limit"), RIGHT.items(), ids=list(RIGHT))
def test_each_trace_is_told_for_what_it_is(replayed, trace, limit):
    first, *_ = replayed(trace).findings
    assert first.limit == limit
    assert text_of(first.because)
    assert first.evidence


def test_every_trace_is_made_by_the_generator_and_has_its_answer(makers):
    assert {path.stem for path in TRACES.iterdir()} == set(makers.CASES) == set(RIGHT)
    for name in makers.CASES:
        assert (TRACES / f"{name}.jsonl").read_text(encoding="utf-8") == makers.text(name)


def test_every_threshold_has_a_meaning_and_a_source():
    for threshold in load_thresholds().values():
        assert threshold.meaning
        assert threshold.source
        assert threshold.unit


def test_a_small_batch_on_several_devices_may_be_communication(replayed):
    one = replayed("small_batch").window
    two = dataclasses.replace(one, devices=one.devices * 2)
    assert "communication" not in text_of(diagnose(one, MACHINE)[0].because)
    assert "communication" in text_of(diagnose(two, MACHINE)[0].because)
    assert diagnose(two, MACHINE)[0].because == message("small_kernels", several_accelerators=True)


def device(**known: object) -> WindowStatistics:
    one = DeviceStatistics(Device(0, "H100", memory_gib=80, power_limit_w=700, sm_clock_max_mhz=1980), 20, **known)
    return WindowStatistics(0, 10, 20, CpuStatistics(job_cores=0.2), (one,))


def test_without_its_utilisation_nothing_is_told():
    (only,) = diagnose(device(power_w=300), MACHINE)
    assert only.limit == "cannot_tell"
    assert only.because == message("utilisation_unknown")


def test_a_busy_device_without_its_power_may_be_anything():
    (only,) = diagnose(device(busy=1.0, idle_share=0.0, memory_busy=0.2), MACHINE)
    assert only.limit == "cannot_tell"
    assert only.because == message("power_unknown")


def test_too_few_samples_tell_nothing():
    (only,) = diagnose(dataclasses.replace(device(busy=1.0), samples=3), MACHINE)
    assert only.limit == "cannot_tell"


def cpu(**known: float) -> str:
    return diagnose(WindowStatistics(0, 10, 20, CpuStatistics(**known)), MACHINE)[0].limit


def test_on_a_cpu():
    assert cpu(job_cores=3.9, busiest_cores=3.9) == "cpu_bound"  # of 4
    assert cpu(job_cores=1.0, busiest_cores=1.0) == "cpu_bound"  # one thread
    assert cpu(job_cores=0.05, busiest_cores=0.05, waiting_cores=0.9) == "input_starved"
    assert cpu(job_cores=0.05, busiest_cores=0.05, waiting_cores=0.0) == "waits"
    assert cpu(job_cores=0.4, busiest_cores=0.4, runnable_share=1.0) == "cpu_contended"  # others have it
    assert cpu(job_cores=1.6, busiest_cores=0.4) == "cannot_tell"
    assert cpu(job_cores=3.9, busiest_cores=3.9, memory_available_gib=1.0) == "memory_short"


def test_figures_by_hand():
    """Three samples a second apart: 100, 200 and 300 W are 150 + 250 = 400 J; 0.5 and 0.75 of CPU time are 1.25 cores
    over 2 s / 2; of three readings one is idle, and the power cap held in two."""
    samples = [
        Sample(0, CpuReading(job_seconds=1.0, blocked=1), (DeviceReading(busy=0.0, power_w=100, reasons=1),)),
        Sample(1, CpuReading(job_seconds=1.5), (DeviceReading(busy=0.6, power_w=200, reasons=4),)),
        Sample(2, CpuReading(job_seconds=2.25), (DeviceReading(busy=0.9, power_w=300, reasons=4 | 32),)),
        Sample(
            9, CpuReading(job_seconds=99.0), (DeviceReading(busy=0.0, power_w=9999, reasons=0),)
        ),  # after the window
    ]
    found = summarise_window(samples, [Device(0, "H100")], [0], 0, 5)
    (one,) = found.devices
    assert found.seconds == 2
    assert one.energy_j == found.energy_j == 400
    assert one.energy_basis == "integral"
    assert one.busy == 0.5
    assert one.idle_share == pytest.approx(1 / 3)
    assert one.reasons == {"idle": 1 / 3, "power_cap": 2 / 3, "sw_thermal": 1 / 3}
    assert found.cpu.job_cores == pytest.approx(1.25 / 2)
    assert found.cpu.blocked_share == pytest.approx(1 / 3)


def test_a_counter_of_energy_comes_before_the_integral():
    samples = [Sample(at, CpuReading(), (DeviceReading(power_w=100, energy_j=5000 + 70 * at),)) for at in range(5)]
    (one,) = summarise_window(samples, [Device(0, "H100")], [0], 0, 10).devices
    assert (one.energy_j, one.energy_basis) == (280, "counter")


def test_a_window_without_samples_has_no_figures():
    assert summarise_window([], [Device(0, "H100")], [0], 0, 1).samples == 0


def test_reasons_by_their_bits():
    assert clock_reason_names(0) == ()
    assert clock_reason_names(0x1FF) == (
        "idle", "application_clocks", "power_cap", "hw_slowdown", "sync_boost", "sw_thermal", "hw_thermal",
        "power_brake", "display_clocks",
    )  # fmt: skip


def test_a_replay_shows_what_stood_last():
    replay = TraceReplay(
        [Device(0, "a")],
        [Sample(0, CpuReading(), (DeviceReading(busy=0.1),)), Sample(2, CpuReading(), (DeviceReading(busy=0.2),))],
    )
    assert [replay.sample(now)[0].busy for now in (100.0, 101.9, 102.0, 500.0)] == [0.1, 0.1, 0.2, 0.2]
    devices, samples = read_trace(TRACES / "straggler.jsonl")
    assert len(devices) == 4
    assert len(samples) == 121
