"""`planner measure` on real jobs: what they print, how they end, what is kept of those that die or hang."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from planner.measure import read_file

PYTHON = sys.executable
PLANNER = (PYTHON, "-c", "from planner.cli import main; main()", "measure", "--interval", "0.05")
STEPS = """
import sys, time
for step in range(int(sys.argv[1])):
    time.sleep(0.02)
    print("step", step, "of 8 samples", flush=True)
"""
PATTERN = r"of (?P<units>\d+) samples"


@pytest.fixture
def measure(planner) -> Callable:
    return lambda *arguments: planner("measure", "--interval", "0.05", *arguments)


def kept(path: Path) -> dict:
    found = json.loads(path.read_text(encoding="utf-8"))
    assert found["format"] == "gpu-planner measurement 1"
    return found


def test_a_job_that_reports_by_its_output(measure, tmp_path):
    told = (
        "--pattern",
        PATTERN,
        "--unit",
        "samples",
        "--accelerator",
        "CPU-Xeon-8380",
        "--precision",
        "fp32",
        "--name",
        "ours",
    )
    ran = measure(*told, "--", PYTHON, "-c", STEPS, "60")
    assert ran.code == 0, ran.err
    assert ran.out.splitlines() == [f"step {step} of 8 samples" for step in range(60)]  # unchanged
    found = kept(tmp_path / "ours.measured.json")
    assert found["status"] == "complete"
    assert found["job"]["reports_of_progress"] == 60
    fields = read_file(tmp_path / "ours.measured.json")
    assert fields["accelerator"] == "CPU-Xeon-8380"
    assert 0 < fields["units_per_second"] < 2 * 8 / 0.02  # no step is shorter than its sleep
    assert "samples/s" in ran.err


def test_a_measured_file_tells_the_plan_what_waiting_costs(planner, measure, tmp_path):
    """No GPU is here to tell how busy it was: 34 % of the time, and the rate, are written into the file that the job
    left. Feeding to 90 % saves 1 - 0.34 / 0.9 = 62.2 % of the cost of a year."""
    told = ("--pattern", PATTERN, "--unit", "samples", "--accelerator", "V100-16GB-SXM2", "--precision", "fp32")
    assert measure(*told, "--name", "slow", "--", PYTHON, "-c", STEPS, "30").code == 0
    path = tmp_path / "slow.measured.json"
    found = kept(path)
    found["measurement"] |= {"utilisation": 0.34, "units_per_second": 800.0}
    path.write_text(json.dumps(found), encoding="utf-8")
    workload = {"name": "train", "kind": "training", "unit": "samples", "demand": {"units_per_month": 2.0e9},
                "accelerators": ["V100-16GB-SXM2"], "measurements": [{"file": path.name}]}  # fmt: skip
    (tmp_path / "job.json").write_text(json.dumps({"workloads": [workload]}), encoding="utf-8")
    ran = planner("estimate", "--start", "2026-12", "--as-of", "2026-11-21", "--format", "json", "job.json")
    assert ran.code == 0, ran.err
    (worth,) = [reason for reason in reasons_of(json.loads(ran.out)) if "worked 34% of the time" in reason]
    yearly, saved = (
        float(text.replace(",", "")) for text in re.findall(r"Of ([\d,]+) a year.*?of the time ([\d,]+)", worth)[0]
    )
    assert saved == pytest.approx(yearly * (1 - 0.34 / 0.9), rel=1e-3)


def reasons_of(document: object) -> list[str]:
    """Every text of a plan, wherever it stands."""
    if isinstance(document, dict):
        return [text for value in document.values() for text in reasons_of(value)]
    if isinstance(document, list):
        return [text for value in document for text in reasons_of(value)]
    return [document] if isinstance(document, str) else []


def test_a_job_that_calls_the_hook(measure, tmp_path):
    code = "import time\nfrom planner.measure import progress\nfor _ in range(40): time.sleep(0.02); progress(5)"
    ran = measure("-o", "own.json", "--", PYTHON, "-c", code)
    assert ran.code == 0, ran.err
    found = kept(tmp_path / "own.json")
    assert found["interval"]["units_per_second_high"] > 0
    assert found["measurement"] is None
    assert "CPU" in found["no_measurement"]


def test_a_job_that_keeps_a_count_in_a_file(measure, tmp_path):
    code = "import time, pathlib\nfor n in range(30): time.sleep(0.05); pathlib.Path('done').write_text(f'{n * 7}\\n')"
    ran = measure("--progress", "done", "-o", "own.json", "--", PYTHON, "-c", code)
    assert ran.code == 0, ran.err
    assert kept(tmp_path / "own.json")["job"]["reports_of_progress"] >= 3


def test_streams_stay_apart_and_bytes_stay_bytes(measure):
    code = r"import os; os.write(1, b'out\xff\0'); os.write(2, b'err\n')"
    ran = measure("--pattern", PATTERN, "--", PYTHON, "-c", code)
    assert ran.data == b"out\xff\0"
    assert ran.err.startswith("planner: no accelerator") or "err\n" in ran.err
    assert "err\n" in ran.err


def test_nothing_matched_says_so_with_what_was_seen(measure, tmp_path):
    ran = measure("--pattern", r"(?P<rate>\d+) tokens", "-o", "own.json", "--", PYTHON, "-c", STEPS, "20")
    assert ran.code == 2
    assert "matched none" in ran.err
    assert "step 0 of 8 samples" in ran.err
    found = kept(tmp_path / "own.json")
    assert found["status"] == "complete"
    assert found["cpu"]["job_cores"] is not None


def test_a_job_that_fails_gives_its_own_code(measure, tmp_path):
    ran = measure("--pattern", PATTERN, "-o", "own.json", "--", PYTHON, "-c", STEPS + "sys.exit(7)", "30")
    assert ran.code == 7
    found = kept(tmp_path / "own.json")
    assert (found["status"], found["job"]["exit_code"]) == ("failed", 7)
    assert found["job"]["reports_of_progress"] == 30


def test_a_job_that_is_killed(measure, tmp_path):
    code = STEPS + "import os; os.kill(os.getpid(), 9)"
    ran = measure("--pattern", PATTERN, "-o", "own.json", "--", PYTHON, "-c", code, "30")
    assert ran.code == 128 + 9
    found = kept(tmp_path / "own.json")
    assert (found["status"], found["job"]["exit_code"]) == ("failed", -9)
    assert found["steady"]["end_seconds"] > 0.5


HANGS = STEPS + "signal = __import__('signal'); signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"


def test_a_job_that_hangs_is_ended_where_asked(measure, tmp_path):
    told = ("--pattern", PATTERN, "--stall", "4", "--end-stalled", "--grace", "0.3", "-o", "own.json")
    ran = measure(*told, "--", PYTHON, "-c", HANGS, "30")
    assert ran.code == 124
    assert "no output and no progress for 4 s" in ran.err
    found = kept(tmp_path / "own.json")
    assert found["status"] == "stalled"
    assert found["job"]["reports_of_progress"] == 30
    (stall,) = found["job"]["stalls"]
    assert stall[1] - stall[0] >= 4
    assert found["steady"]["end_seconds"] <= stall[0] + 0.01  # the hang is no part of the rate


def test_a_stalled_job_that_prints_while_it_is_ended_has_stalled(measure, tmp_path):
    told = "print('saved', flush=True); time.sleep(0.5); os._exit(3)"
    code = f"import os, signal, time; signal.signal(15, lambda *_: exec({told!r})); print('up', flush=True)"
    code += "; time.sleep(60)"
    ran = measure("--stall", "2", "--end-stalled", "-o", "own.json", "--", PYTHON, "-c", code)
    assert (ran.code, ran.out) == (124, "up\nsaved\n")
    found = kept(tmp_path / "own.json")
    assert (found["status"], found["job"]["exit_code"]) == ("stalled", 3)


def test_a_stall_is_told_and_not_ended_unless_asked(measure, tmp_path):
    # It ends at once: to end slowly were a second stall.
    code = "import os, time; time.sleep(1); print('back', flush=True); os._exit(0)"
    ran = measure("--stall", "0.3", "-o", "own.json", "--", PYTHON, "-c", code)
    assert ran.code == 0
    assert ran.out == "back\n"
    found = kept(tmp_path / "own.json")
    assert found["status"] == "complete"
    assert len(found["job"]["stalls"]) == 1


def test_after_so_many_seconds_it_is_ended(measure, tmp_path):
    ran = measure("--seconds", "1", "-o", "own.json", "--", PYTHON, "-c", "import time; time.sleep(600)")
    assert ran.code == 0, ran.err
    found = kept(tmp_path / "own.json")
    assert found["status"] == "ended"
    assert found["job"]["seconds"] >= 1


@pytest.mark.slow
def test_until_steady(measure, tmp_path):
    ran = measure("--pattern", PATTERN, "--until-steady", "-o", "own.json", "--", PYTHON, "-c", STEPS, "5000")
    assert ran.code == 0, ran.err
    found = kept(tmp_path / "own.json")
    assert found["status"] == "ended"
    assert found["steady"]["is_steady"]
    assert "steady to +- 2%" in found["job"]["ended"]


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def started(tmp_path: Path, code: str, *told: str) -> tuple[subprocess.Popen, int]:
    """A measurement of a job that has written its number to a file and says `ready`."""
    head = "import os, pathlib, signal, time\npathlib.Path('pid').write_text(str(os.getpid()))\n"
    words = [*PLANNER, "-o", "own.json", *told, "--", PYTHON, "-c", head + code]
    running = subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert running.stdout.readline() == b"ready\n"
    return running, int((tmp_path / "pid").read_text())


WAITS = "print('ready', flush=True)\ntime.sleep(600)"
STUBBORN = "signal.signal(signal.SIGINT, lambda *_: print('heard', flush=True))\n" + WAITS


@pytest.mark.one_in(2)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_reaches_the_job_and_what_was_measured_is_kept(tmp_path, number):
    running, pid = started(tmp_path, WAITS)
    time.sleep(0.3)
    running.send_signal(number)
    _, err = running.communicate(timeout=300)
    assert running.returncode == {signal.SIGINT: 130, signal.SIGTERM: -signal.SIGTERM}[number], err
    assert not alive(pid)
    assert b"Traceback" not in err.partition(b"planner:")[2].partition(b"KeyboardInterrupt")[2]
    found = kept(tmp_path / "own.json")
    assert found["status"] == "interrupted"
    assert found["job"]["exit_code"] == -number
    assert found["samples"]["rows"]


@pytest.mark.slow
def test_a_second_interrupt_kills(tmp_path):
    running, pid = started(tmp_path, STUBBORN)
    running.send_signal(signal.SIGINT)
    assert running.stdout.readline() == b"heard\n"
    assert running.poll() is None
    running.send_signal(signal.SIGINT)
    running.communicate(timeout=300)
    assert running.returncode == 130
    assert not alive(pid)
    assert kept(tmp_path / "own.json")["job"]["exit_code"] == -9


@pytest.mark.slow
def test_ranks_in_sessions_of_their_own_are_ended_too(tmp_path):
    """As torchrun starts them. The launcher is deaf: the whole tree is killed after its grace."""
    code = f"""
import subprocess, sys
signal.signal(signal.SIGTERM, signal.SIG_IGN)
rank = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
pathlib.Path("rank").write_text(str(rank.pid))
{WAITS}"""
    running, pid = started(tmp_path, code, "--seconds", "5", "--grace", "0.3")
    running.communicate(timeout=300)
    assert running.returncode == 0
    assert not alive(pid)
    assert not alive(int((tmp_path / "rank").read_text()))
    assert kept(tmp_path / "own.json")["samples"]["rows"]


@pytest.mark.slow
def test_other_signals_are_the_jobs(tmp_path):
    code = "signal.signal(signal.SIGUSR1, lambda *_: os._exit(33))\n" + WAITS
    running, _ = started(tmp_path, code)
    running.send_signal(signal.SIGUSR1)
    running.communicate(timeout=300)
    assert running.returncode == 33


def test_a_reader_that_leaves_ends_the_job_as_it_would_have(tmp_path):
    words = [*PLANNER, "--pattern", PATTERN, "-o", "own.json", "--", PYTHON, "-c", STEPS, "3000"]
    running = subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    running.stdout.readline()
    running.stdout.close()
    err = running.stderr.read()
    running.wait(timeout=300)
    running.stderr.close()
    assert b"BrokenPipeError" in err  # the job's own, as without us
    assert running.returncode in {1, 120, 128 + signal.SIGPIPE}
    assert kept(tmp_path / "own.json")["status"] == "failed"


def test_a_process_left_behind_does_not_hold_us(measure):
    left = "import subprocess, sys; print(subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)']).pid)"
    ran = measure("--pattern", r"(?P<units>\d+)", "--", PYTHON, "-c", left)
    assert ran.code == 0
    assert alive(int(ran.out))  # it holds the pipe still, and it is the job's to leave it
    os.kill(int(ran.out), signal.SIGKILL)


def test_all_faults_at_once_and_nothing_run(measure, written):
    told = ("--pattern", "(", "--progress", "x", "--end-stalled", "-o", "no/such/folder.json")
    ran = measure(*told, "--", "no-such-command")
    assert ran.code == 2
    for place in ("no-such-command", "--pattern", "--progress", "--end-stalled", "-o no/such/folder.json"):
        assert place in ran.err
    assert written() == []


def test_the_file_before_is_kept_until_the_new_one_is_whole(measure, tmp_path):
    (tmp_path / "own.json").write_text("before")
    assert measure("-o", "own.json", "--", "no-such-command").code == 2
    assert (tmp_path / "own.json").read_text() == "before"
    assert measure("-o", "own.json", "--", PYTHON, "-c", "pass").code == 0
    assert kept(tmp_path / "own.json")["status"] == "complete"
    assert [path.name for path in tmp_path.iterdir() if ".tmp" in path.name] == []


def test_a_folder_that_went_away_loses_nothing(measure, tmp_path):
    (tmp_path / "sub").mkdir()
    ran = measure("-o", "sub/own.json", "--", PYTHON, "-c", "import os; os.rmdir('sub'); open('sub', 'w').close()")
    assert "saved as" in ran.err
    path = Path(ran.err.partition("saved as ")[2].split()[0])
    assert kept(path)["status"] == "complete"


@pytest.mark.slow
def test_what_limits_a_cpu_job(measure, tmp_path, repository):
    folder = repository / "examples" / "measure"
    assert measure("-o", "a.json", "--", PYTHON, str(folder / "steady.py"), "--seconds", "2").code == 0
    assert measure("-o", "b.json", "--", PYTHON, str(folder / "input_starved.py"), "--seconds", "2").code == 0
    first, second = (kept(tmp_path / name)["diagnosis"][0]["limit"] for name in ("a.json", "b.json"))
    if not any(Path("/dev").glob("nvidia*")):  # what limits them on a GPU is another question
        assert second in {"waits", "input_starved"}  # the latter where others keep the disk busy
        assert first in {"cpu_bound", "cpu_contended"}  # the latter where others keep the machine busy


def test_no_driver_is_one_line_and_no_traceback(measure):
    if any(Path("/dev").glob("nvidia*")):
        pytest.skip("this machine has one")
    ran = measure("--", PYTHON, "-c", "pass")
    assert ran.code == 0
    assert "no readable accelerator, so the CPU is measured (NVIDIA: " in ran.err
    assert "Traceback" not in ran.err


def test_the_jobs_options_are_its_own(measure):
    ran = measure("--", PYTHON, "-c", "import sys; print(sys.argv[1:])", "--seconds", "1", "-o", "x")
    assert ran.out == "['--seconds', '1', '-o', 'x']\n"
    assert measure(PYTHON, "-c", "print(1)").out == "1\n"  # the dashes may be left out


def test_a_job_that_runs_for_days_keeps_few_samples(measure, tmp_path, monkeypatch):
    monkeypatch.setattr("planner.measure.job_watcher.SAMPLES_MAX", 10)
    assert measure("-o", "own.json", "--seconds", "1.5", "--", "sleep", "60").code == 0
    rows = kept(tmp_path / "own.json")["samples"]["rows"]
    assert 5 <= len(rows) <= 10
    assert rows[-1][0] > 0.7


def test_on_a_terminal_it_says_how_far_it_is(tmp_path):
    """And nowhere else: a pipe gets no such lines."""
    ours, theirs = pty.openpty()
    code = "import planner.measure.job_watcher as watch; watch.REPORT_S = 0.2\nfrom planner.cli import main; main()"
    words = [PYTHON, "-c", code, "measure", "--interval", "0.05", "--name", "x", "--", "sleep", "2"]
    assert subprocess.run(words, cwd=tmp_path, stderr=theirs, check=False).returncode == 0
    shown = os.read(ours, 1 << 16).decode()
    os.close(ours)
    os.close(theirs)
    assert "since the first report" in shown
    plain = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "since the first report" not in plain.stderr
