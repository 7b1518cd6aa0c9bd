"""A reader in a process of its own: what it gives and raises, and what ends it; nothing of it stays."""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import subprocess
import sys
import time
from operator import mul
from pathlib import Path
from queue import Empty, SimpleQueue

import pytest

from planner.inputs.file_reader import SMALL_TEXT, read, read_isolated
from planner.inputs.sandbox import SandboxFailure, SandboxLimits, run_isolated

WIDE = SandboxLimits(2**30, 600)
"""The work is by name in the other process, so it is built into Python."""
WAITS = "import os, time, pathlib; pathlib.Path({path!r}).write_text(str(os.getpid())); time.sleep(600)"
ASKS = """from planner.inputs.sandbox import SandboxLimits, run_isolated
run_isolated(exec, {code!r}, bounds=SandboxLimits(2**30, {seconds}))"""
ASKS_AND_WAITS = """
import sys
from planner.inputs.sandbox import SandboxLimits, run_isolated
module = sys.modules[run_isolated.__module__]
class Answers(module.SimpleQueue):
    def get(self, timeout):
        return super().get()
module.SimpleQueue = Answers
run_isolated(exec, {code!r}, bounds=SandboxLimits(2**30, 0.1))
"""
"""The work may use 0.1 s; its caller waits for as long as it takes, a slow start too."""
SPINS = "import os, re, pathlib; pathlib.Path({path!r}).write_text(str(os.getpid())); re.match('(a+)+b', 'a' * 64)"
"""Never gives way to another thread, as a library of C that is at work."""


def lives(process: int) -> bool:
    """Whether a process still does anything: one that ended may wait for a parent to take notice."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


def until(condition) -> bool:
    for _ in range(6000):
        if condition():
            return True
        time.sleep(0.05)
    return False


def test_an_answer_comes_back_from_another_process():
    assert run_isolated(mul, 6, 7, bounds=WIDE) == 42
    assert run_isolated(os.getpid, bounds=WIDE) != os.getpid()
    assert len(run_isolated(mul, b"x", 3_000_000, bounds=WIDE)) == 3_000_000


def test_what_is_printed_there_is_no_answer(capfd):
    assert run_isolated(print, "an answer?", bounds=WIDE) is None
    assert run_isolated(os.system, "echo an answer?; echo a fault? >&2", bounds=WIDE) == 0
    assert capfd.readouterr() == ("", "")


def test_what_is_raised_there_is_raised_here_with_its_traceback():
    with pytest.raises(ZeroDivisionError) as raised:
        run_isolated(exec, "def inner():\n    1 / 0\ninner()", bounds=WIDE)
    assert "in inner" in raised.value.__notes__[0]
    with pytest.raises(FileNotFoundError):
        run_isolated(os.stat, "/no/such/file", bounds=WIDE)


def test_what_does_not_pickle_is_a_bug_that_is_told():
    with pytest.raises(RuntimeError, match=r"cannot be pickled(.|\n)*pickle"):
        run_isolated(eval, "lambda: 1", bounds=WIDE)


@pytest.mark.parametrize(
    ("work", "argument", "words"),
    [
        (signal.raise_signal, signal.SIGKILL, "stopped .SIGKILL.: the file is damaged, or needs more than 1 GiB"),
        (exec, "import os; os.abort()", "stopped .SIGABRT."),
        (exec, "import ctypes; ctypes.string_at(0)", "stopped .SIGSEGV."),
        (os._exit, 0, "ended without a result"),
        (os._exit, 9, "ended without a result"),
    ],
)
def test_a_reader_that_ends_is_told_in_one_line(work, argument, words, tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SandboxFailure, match=words):
        run_isolated(work, argument, bounds=WIDE)
    assert list(tmp_path.iterdir()) == [], "no core file"
    assert capfd.readouterr() == ("", "")


def test_its_memory_is_bounded():
    with pytest.raises(SandboxFailure, match=r"not read in 0.25 GiB of memory"):
        run_isolated(mul, b"x", 2**30, bounds=SandboxLimits(2**28, 600))


def test_its_time_is_bounded_also_where_no_thread_runs():
    with pytest.raises(SandboxFailure, match="not read in 0 seconds"):
        run_isolated(time.sleep, 600, bounds=SandboxLimits(2**30, 0.3))
    with pytest.raises(SandboxFailure, match="not read in 0 seconds"):
        run_isolated(exec, "import re; re.match('(a+)+b', 'a' * 64)", bounds=SandboxLimits(2**30, 0.3))


ALL_ENDS = """
import os
from planner.inputs.sandbox import SandboxFailure, SandboxLimits, run_isolated
def tried(*work):
    try:
        run_isolated(*work, bounds=SandboxLimits(2**30, 600))
    except (SandboxFailure, TypeError):
        pass
tried(abs, 1)
before = sorted(os.listdir("/proc/self/fd"))
tried(abs, 1), tried(os._exit, 3), tried(len, 3)
assert sorted(os.listdir("/proc/self/fd")) == before
try:
    os.waitpid(-1, os.WNOHANG)
except ChildProcessError:
    print("no child is left")
"""


def test_nothing_stays_open_and_no_process_is_left():
    """In a process of its own: another may have files and children of other tests."""
    done = subprocess.run([sys.executable, "-W", "error", "-c", ALL_ENDS], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("no child is left\n", "")


@pytest.mark.parametrize(("how", "code"), [(signal.SIGINT, -signal.SIGINT), (signal.SIGKILL, -signal.SIGKILL)])
def test_it_ends_with_whoever_asked(how, code, tmp_path):
    path = tmp_path / "pid"
    asks = ASKS.format(code=WAITS.format(path=str(path)), seconds=None)
    asker = subprocess.Popen(
        [sys.executable, "-c", asks],
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509  a runner may ignore it
    )
    assert until(lambda: path.is_file() and path.read_text())
    os.killpg(asker.pid, how)  # as Ctrl-C does: all of the terminal's processes hear it
    assert asker.wait(300) == code
    assert until(lambda: not lives(int(path.read_text())))


def test_one_that_cannot_hear_that_its_asker_is_gone_ends_by_itself(tmp_path):
    path = tmp_path / "pid"
    asks = ASKS_AND_WAITS.format(code=SPINS.format(path=str(path)))
    around = {**os.environ, "TMPDIR": str(tmp_path)}  # nobody is left to take the folder away
    asker = subprocess.Popen([sys.executable, "-c", asks], stderr=subprocess.DEVNULL, env=around)
    assert until(lambda: path.is_file() and path.read_text())
    asker.kill()
    asker.wait(300)
    assert until(lambda: not lives(int(path.read_text())))


SHEET = (
    b"Job,GPU,GPU-hours per month\n"
    + b"".join(b"job %d,L4,730\n" % number for number in range(90))
    + b"a long note " * 6_000
)


def test_a_sheet_is_read_apart_as_it_is_read_here():
    assert len(SHEET) > SMALL_TEXT
    apart_read = read_isolated(SHEET, "a.csv")
    assert apart_read == read(SHEET, "a.csv")
    assert len(apart_read.document["workloads"]) == 90
    assert pickle.loads(pickle.dumps(apart_read)) == apart_read


@pytest.mark.one_in(2)
@pytest.mark.parametrize("sign", [b"[", b"- ", b"a: {b: ", b"1,"])
@pytest.mark.parametrize("name", ["small.yaml", "small.json"])
def test_a_small_text_cannot_fill_the_process_that_reads_it(sign, name):
    """Read apart here, since it would be the test that ends."""
    small = (sign * SMALL_TEXT)[: SMALL_TEXT - 1]
    assert run_isolated(read, b"[" + small, name, bounds=SandboxLimits(2**28, 600)).complaints


def test_a_sheet_that_takes_too_long_is_one_complaint():
    (complaint,) = read_isolated(SHEET, "folder/long.csv", seconds=0.001).complaints
    assert str(complaint) == "long.csv: not read in 0 seconds; expected a smaller file, or the same file saved again"


LEAVES = "import tempfile, pathlib, time; where = tempfile.mkdtemp(); pathlib.Path({path!r}).write_text(where); {then}"


@pytest.mark.parametrize("then", ["pass", "time.sleep(600)", "raise ValueError"])
def test_what_it_leaves_in_temporary_files_goes_with_it(tmp_path, monkeypatch, then):
    told = tmp_path / "where"

    class TooLateOnceTold(SimpleQueue):
        def get(self, timeout):
            assert until(lambda: told.is_file() and told.read_text()), timeout
            raise Empty

    if "sleep" in then:
        monkeypatch.setattr("planner.inputs.sandbox.SimpleQueue", TooLateOnceTold)
    with contextlib.suppress(SandboxFailure, ValueError):
        run_isolated(exec, LEAVES.format(path=str(told), then=then), bounds=WIDE)
    left = Path(told.read_text())
    assert left.parent.name.startswith("planner-read-")
    assert not left.parent.exists()
