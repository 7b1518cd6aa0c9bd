"""Runs the job, forwards its output and the signals to it, and samples the machine until it ends. Linux.

One loop and no threads: it wakes for the job's output, for its end and for the next sample. Samples are not evaluated
here. The job has a session of its own, so that a signal reaches all of it and no terminal sends one twice.
"""

from __future__ import annotations

import os
import re
import selectors
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import field
from pathlib import Path
from types import FrameType
from typing import Literal

from planner.measure import steady_state
from planner.measure.cpu_sampler import SEARCH_EVERY, JobCpuSampler
from planner.measure.progress_hook import VARIABLE
from planner.measure.progress_sources import CounterFile, HookFile, OutputLines, WorkSeries
from planner.measure.telemetry_samples import AcceleratorSampler, Device, Sample
from pricing.frozen_values import dataclass

Status = Literal["complete", "failed", "interrupted", "stalled", "ended"]
SAMPLES_MAX = 7200
"""Beyond it every other sample is dropped and the interval doubled: an hour at half a second, then two at one ..."""
DRAIN_S = 1.0
"""How long to wait for output after the job's end: a process it left behind may hold the pipe for ever."""
CHUNK = 1 << 16
REPORT_S = 10.0
Report = Callable[[float, WorkSeries], None]
"""Called with the seconds since the start and the work done so far."""
STEADY_HALF_WIDTH, STEADY_SECONDS = 0.02, 10.0
"""--until-steady: a steady window of at least so many seconds whose 95 % interval is the rate +- 2 %."""
FORWARDED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2)
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@dataclass(frozen=True, slots=True)
class WatchedCommand:
    """A command and the source of its progress: `pattern` in its output, else the file `counter`, else the hook."""

    command: tuple[str, ...]
    interval_s: float = 0.5
    pattern: re.Pattern[str] | None = None
    counter: Path | None = None
    warm_up_s: float = 0.0
    seconds: float | None = None
    until_steady: bool = False
    stall_s: float | None = None
    end_stalled: bool = False
    grace_s: float = 10.0


@dataclass(slots=True)
class JobObservation:
    """An observed run. Times are of the monotonic clock; `returned` is the job's exit code, negative for a signal;
    `used` are the devices with processes of it, `stalls` the times without output or progress."""

    start: float
    series: WorkSeries
    devices: tuple[Device, ...]
    end: float = 0.0
    returned: int = 0
    status: Status = "complete"
    interrupted_by: int = 0
    samples: list[Sample] = field(default_factory=list)
    used: set[int] = field(default_factory=set)
    stalls: list[tuple[float, float]] = field(default_factory=list)
    lines: OutputLines | None = None
    ended_because: str = ""


def watch_job(
    job: WatchedCommand,
    accelerators: AcceleratorSampler,
    environment: Mapping[str, str],
    notify: Callable[[str], None],
    report: Report | None = None,
) -> JobObservation:
    """Run the job to its end. `notify` is called at once with warnings, `report` every REPORT_S with the progress;
    OSError where the job cannot be started."""
    with tempfile.TemporaryDirectory(prefix="planner-measure-") as folder:
        hook = Path(folder, "progress")
        hook.touch()
        listener = HookFile(hook)
        try:
            watching = _JobWatcher(job, accelerators, listener, notify, report)
            listened = {} if job.pattern or job.counter else {VARIABLE: str(hook)}
            others = {name: value for name, value in environment.items() if name != VARIABLE}
            return watching.run(others | listened)
        finally:
            listener.close()


class _JobWatcher:
    """The loop and its state."""

    def __init__(
        self,
        job: WatchedCommand,
        accelerators: AcceleratorSampler,
        hook: HookFile,
        notify: Callable[[str], None],
        report: Report | None,
    ) -> None:
        self._job, self._accelerators, self._notify, self._report = job, accelerators, notify, report
        self._lines = OutputLines(job.pattern) if job.pattern else None
        self._counter = CounterFile(job.counter) if job.counter else None
        self._polled = [self._counter or hook] if not self._lines else []
        source = self._lines or self._counter or hook
        self._observation = JobObservation(0.0, source.series, accelerators.devices(), lines=self._lines)
        self._interval, self._samples_read = job.interval_s, 0
        self._signals: list[int] = []
        self._last_output = self._next_sample = self._next_steady = self._next_report = 0.0
        self._kill_at: float | None = None
        self._stalled_since: float | None = None
        self._cpu: JobCpuSampler | None = None

    def run(self, environment: dict[str, str]) -> JobObservation:
        """Start, watch, and account for the end."""
        reads_output = self._lines is not None or self._job.stall_s is not None
        pipe = subprocess.PIPE if reads_output else None
        if reads_output:
            environment.setdefault("PYTHONUNBUFFERED", "1")  # else lines come in blocks, and their times mean nothing
        with self._forward_signals():
            self._observation.start = self._last_output = self._next_sample = time.monotonic()
            self._next_report = self._observation.start + REPORT_S
            self._child = subprocess.Popen(  # noqa: S603  (running the user's command is what this is for)
                self._job.command, env=environment, stdout=pipe, stderr=pipe, bufsize=0, start_new_session=True
            )
            try:
                self._cpu = JobCpuSampler(self._child.pid)
                for number in self._signals:  # came before the job had started
                    self._send_signal(number)
                self._run_loop()
            finally:
                if self._child.poll() is None:
                    self._kill_job()
                    self._child.wait()
        return self._finish_observation()

    def _run_loop(self) -> None:
        streams = [(stream, to) for stream, to in ((self._child.stdout, 1), (self._child.stderr, 2)) if stream]
        ended = os.pidfd_open(self._child.pid)
        with selectors.DefaultSelector() as selector:
            selector.register(ended, selectors.EVENT_READ, None)
            for stream, to in streams:
                selector.register(stream, selectors.EVENT_READ, to)
            try:
                while self._child.poll() is None:
                    wake = self._next_sample if self._kill_at is None else min(self._next_sample, self._kill_at)
                    self._forward_output(selector, max(0.0, wake - time.monotonic()))
                    self._run_due_tasks(time.monotonic())
                self._observation.end = time.monotonic()
                selector.unregister(ended)
                while selector.get_map() and (left := self._observation.end + DRAIN_S - time.monotonic()) > 0:
                    self._forward_output(selector, left)
            finally:
                os.close(ended)
                for stream, _ in streams:
                    stream.close()
        for source in self._polled:
            source.poll(self._observation.end)

    def _forward_output(self, selector: selectors.BaseSelector, wait_s: float) -> None:
        """Hand on what the job prints, once, waiting for it no longer than `wait_s`."""
        for key, _ in selector.select(wait_s):
            if key.data is None:
                continue
            data = os.read(key.fd, CHUNK)
            self._last_output = time.monotonic()
            if data and self._lines:
                self._lines.feed(key.data, data, self._last_output)
            if not data or not _write_all(key.data, data):
                selector.unregister(key.fileobj)
                key.fileobj.close()  # type: ignore[union-attr]  # a stream, never a number; closing it notifies a writing job

    def _run_due_tasks(self, now: float) -> None:
        """The tasks that are due at this moment."""
        if self._kill_at is not None and now >= self._kill_at:
            self._kill_at = None
            self._kill_job()
        if now < self._next_sample:
            return
        self._next_sample = max(self._next_sample + self._interval, now)
        for source in self._polled:
            source.poll(now)
        self._record_sample(now)
        self._check_stall(now)
        if self._report and now >= self._next_report:
            self._next_report = now + REPORT_S
            self._report(now - self._observation.start, self._observation.series)
        if self._kill_at is None and not self._observation.ended_because and (why := self._end_reason(now)):
            self._observation.ended_because = why
            self._terminate_job()

    def _record_sample(self, now: float) -> None:
        cpu, samples = self._cpu or JobCpuSampler(self._child.pid), self._observation.samples
        samples.append(Sample(now, cpu.sample(), self._accelerators.sample(now)))
        if self._samples_read % SEARCH_EVERY == 0:
            self._observation.used |= self._accelerators.used_by(cpu.pids())
        self._samples_read += 1
        if len(samples) > SAMPLES_MAX:
            del samples[1:-1:2]
            self._interval *= 2

    def _check_stall(self, now: float) -> None:
        alive = max(self._last_output, self._observation.series.latest or 0.0)
        limit = self._job.stall_s
        if limit is None:
            return
        if self._stalled_since is None and now - alive >= limit:
            self._stalled_since = alive
            self._notify(f"no output and no progress for {limit:g} s" + (", ended" if self._job.end_stalled else ""))
            if self._job.end_stalled:
                self._terminate_job()
        elif self._stalled_since is not None and alive > self._stalled_since and not self._job.end_stalled:
            self._observation.stalls.append((self._stalled_since, alive))
            self._stalled_since = None

    def _end_reason(self, now: float) -> str:
        """The reason to end the job now; "" where there is none."""
        passed = now - self._observation.start
        if self._job.seconds is not None and passed >= self._job.seconds:
            return f"after {self._job.seconds:g} s, as requested"
        if self._job.until_steady and now >= self._next_steady:
            self._next_steady = now + max(1.0, passed / 10)  # the longer it takes, the less a look may cost
            window = steady_state.find_steady_window(
                self._observation.series.points, self._observation.start + self._job.warm_up_s
            )
            if (
                isinstance(window, steady_state.SteadyWindow)
                and window.is_steady
                and window.end - window.start >= STEADY_SECONDS
                and window.half_width is not None
                and window.half_width <= STEADY_HALF_WIDTH
            ):
                return f"steady to +- {STEADY_HALF_WIDTH:.0%} over {window.end - window.start:.0f} s"
        return ""

    @contextmanager
    def _forward_signals(self) -> Iterator[None]:
        """Signals go to the job while it runs; only the main thread of a program can receive any."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {number: signal.signal(number, self._handle_signal) for number in FORWARDED}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _handle_signal(self, number: int, _: FrameType | None) -> None:
        if number in ENDING:
            self._signals.append(number)
        if self._cpu is None:
            return
        if len(self._signals) > 1 and number in ENDING:
            self._kill_job()
        else:
            self._send_signal(number)

    def _terminate_job(self) -> None:
        """Request the end of the job; it is killed after its grace period."""
        self._send_signal(signal.SIGTERM)
        self._kill_at = time.monotonic() + self._job.grace_s

    def _send_signal(self, number: int) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self._child.pid, number)

    def _kill_job(self) -> None:
        """All of it, the sessions of its ranks too."""
        doomed = self._cpu.tree() if self._cpu else ()
        self._send_signal(signal.SIGKILL)
        for process in doomed:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(process.pid, signal.SIGKILL)

    def _finish_observation(self) -> JobObservation:
        observation = self._observation
        observation.returned = self._child.returncode
        observation.interrupted_by = self._signals[0] if self._signals else 0
        if self._stalled_since is not None:
            observation.stalls.append((self._stalled_since, observation.end))
        if self._stalled_since is not None and (self._signals or self._job.end_stalled):
            observation.status = "stalled"
        elif self._signals:
            observation.status = "interrupted"
        elif observation.ended_because:
            observation.status = "ended"
        else:
            observation.status = "failed" if observation.returned else "complete"
        return observation


def _write_all(to: int, data: bytes) -> bool:
    """Write all data to a stream of this process; False once it has no reader."""
    try:
        while data:
            data = data[os.write(to, data) :]
    except BrokenPipeError:
        return False
    return True
