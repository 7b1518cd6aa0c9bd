"""A real job beside the accelerators of a trace: what one run makes of both."""

from __future__ import annotations

import os
import re
import sys
from datetime import date
from pathlib import Path

import pytest

from planner.measure import measurement_file
from planner.measure.cpu_sampler import describe_machine, process_of
from planner.measure.job_watcher import WatchedCommand, watch_job
from planner.messages import text_of
from planner.request.models import Measurement
from pricing.accelerator import embedded_names
from tests.planner.measure.trace_replay import TraceReplay, read_trace

TRACES = Path(__file__).parent / "traces"
STEPS = "import time\nfrom planner.measure import progress\nfor _ in range(60): time.sleep(0.02); progress(4)"


@pytest.mark.parametrize(("trace", "count"), [("compute_bound", 1), ("straggler", 4)])
def test_a_job_with_accelerators(trace, count):
    replay = TraceReplay(*read_trace(TRACES / f"{trace}.jsonl"))
    job = WatchedCommand((sys.executable, "-c", STEPS), interval_s=0.05)
    watched = watch_job(job, replay, os.environ, lambda _: None)
    measured = measurement_file.evaluate(
        watched, job, measurement_file.JobDescription("job"), describe_machine(), embedded_names(), ()
    )
    assert measured.count == count
    assert measured.accelerator == "H100-80GB-SXM"
    assert measured.findings[0].limit == trace
    assert measured.joules_per_unit is None or measured.joules_per_unit >= 0
    found = measurement_file.build_document(measured, date(2026, 11, 21), text_of)
    assert Measurement.model_validate(found["measurement"]).count == count
    assert len(found["devices"]) == count


def test_the_first_words_are_heard():
    """Only the way that was asked for is listened to: a job that calls the hook too is not counted twice."""

    code = "from planner.measure import progress\nfor number in range(5): progress(1000); print(number, 'x')"
    job = WatchedCommand((sys.executable, "-c", code), interval_s=0.05, pattern=re.compile(r"(?P<total>\d+) x"))
    watched = watch_job(job, TraceReplay(*read_trace(TRACES / "idle.jsonl")), os.environ, lambda _: None)
    assert [total for _, total in watched.series.points] == [0, 1, 2, 3, 4]


def test_this_process_as_the_kernel_shows_it():
    me = process_of(os.getpid())
    assert me is not None
    assert me.parent == os.getppid()
    assert me.session == os.getsid(0)
    assert me.own_seconds > 0
    assert me.memory_gib > 0
    assert process_of(2**30) is None


def test_the_machine_has_a_name_and_processors():
    found = describe_machine()
    assert found.name
    assert 1 <= found.cpus <= (os.cpu_count() or 1)
    assert found.sockets >= 1
    assert found.memory_gib > 0
