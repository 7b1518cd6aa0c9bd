"""Where reports go: links, devices, pipes, names with blanks and umlauts, a full disk, a closed output, SIGTERM.

What has its own process here is the program as its entry point starts it.
"""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from pricing import file_replacement
from pricing.file_replacement import write_atomically

ROOT = Path(__file__).parents[2]
JOB = str(ROOT / "examples" / "finetune.yaml")
DATED = ("--start", "2026-12", "--as-of", "2026-11-21")
PROGRAM = (sys.executable, "-c", "from planner.cli import main; main()")
ON_POSIX = pytest.mark.skipif(os.name != "posix", reason="links, pipes and devices of POSIX")


def shell(line: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Runs a line of sh, in which `planner` is this program."""
    script = f"planner() {{ {sys.executable} -c 'from planner.cli import main; main()' \"$@\"; }}\n{line}"
    return subprocess.run(["sh", "-c", script], cwd=folder, capture_output=True, text=True, check=False)


@ON_POSIX
def test_a_link_stays_a_link_and_its_target_has_the_report(planner, tmp_path):
    (tmp_path / "kept").mkdir()
    target = tmp_path / "kept" / "plan.json"
    target.write_text("old")
    target.chmod(0o640)
    (tmp_path / "plan.json").symlink_to("kept/plan.json")
    assert planner("estimate", *DATED, JOB, "-o", "plan.json").code == 0
    assert (tmp_path / "plan.json").is_symlink()
    assert target.read_text().startswith("{")
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    assert [path.name for path in target.parent.iterdir()] == ["plan.json"]


@ON_POSIX
def test_a_link_to_nothing_makes_what_it_names(tmp_path):
    (tmp_path / "link").symlink_to("sub/new.csv")
    write_atomically(tmp_path / "link", b"a")
    assert (tmp_path / "sub" / "new.csv").read_bytes() == b"a"
    assert (tmp_path / "link").is_symlink()


@ON_POSIX
def test_a_device_stays_a_device(planner, tmp_path):
    """As root, a rename would put a file in its place; a node of our own keeps the machine's from harm."""
    device = tmp_path / "null"
    try:
        os.mknod(device, stat.S_IFCHR | 0o600, os.makedev(1, 3))
        device.write_bytes(b"")
    except OSError:
        pytest.skip("only root makes devices")
    ran = planner("estimate", *DATED, JOB, "-o", str(device), "--format", "markdown")
    assert ran.code == 0, ran.err
    assert stat.S_ISCHR(device.stat().st_mode)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["null", "tmp"]  # no charts beside a device


@ON_POSIX
def test_a_named_pipe_is_written_through(planner, tmp_path):
    pipe = tmp_path / "plan.json"
    os.mkfifo(pipe)
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()))
    reader.start()
    ran = planner("estimate", *DATED, JOB, "-o", "plan.json")
    reader.join()
    assert ran.code == 0, ran.err
    assert read[0].startswith("{")
    assert stat.S_ISFIFO(pipe.stat().st_mode)


@pytest.mark.slow
@ON_POSIX
@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1"])
def test_standard_output_by_its_path_is_standard_output(name, tmp_path):
    """A file behind it is neither emptied nor replaced: what the shell wrote there before stays."""
    line = f"{{ echo before; planner estimate {' '.join(DATED)} {JOB} --format json -o {name}; }} > out.txt"
    ran = shell(line, tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert (tmp_path / "out.txt").read_text().startswith("before\n{")


@ON_POSIX
def test_a_device_that_refuses_leaves_the_files_as_they_were(planner, tmp_path):
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full")
    (tmp_path / "plan.json").write_text("old")
    ran = planner("estimate", *DATED, JOB, "-o", "plan.json", "-o", "/dev/full", "--format", "json")
    assert ran.code == 2
    assert "-o /dev/full: cannot be written; read No space left on device" in ran.err
    assert (tmp_path / "plan.json").read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["plan.json", "tmp"]


def test_names_with_blanks_and_umlauts(planner, tmp_path):
    folder = tmp_path / "Prüfung für März"
    folder.mkdir()
    (folder / "Größe 1.yaml").write_bytes(Path(JOB).read_bytes())
    ran = planner(
        "estimate", *DATED, str(folder / "Größe 1.yaml"), "-o", str(folder / "Plan März.md"), "-o", f"{folder}/t f/"
    )
    assert ran.code == 0, ran.err
    assert (folder / "Plan März.md").read_text(encoding="utf-8").startswith("# GPU capacity plan")
    assert (folder / "Plan März-cash.svg").is_file()
    assert list((folder / "t f").rglob("*.tf"))


@pytest.mark.one_in(8)
@ON_POSIX
@pytest.mark.parametrize("command", [f"estimate {' '.join(DATED)} {JOB}", "offers --accelerator H100", "--help", ""])
@pytest.mark.parametrize("output", [">/dev/full", ">&-"])
def test_an_output_that_cannot_be_written_is_no_bug(command, output, tmp_path):
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full")
    ran = shell(f"planner {command} {output}", tmp_path)
    assert ran.returncode == 2
    assert ran.stderr.startswith("error: standard output cannot be written\n")
    assert "bug" not in ran.stderr


@pytest.mark.slow
@ON_POSIX
def test_a_closed_output_is_no_place_for_a_file(tmp_path):
    """Without a guard the report's file would get descriptor 1, and what is printed would stand in it."""
    ran = shell(f"planner estimate {' '.join(DATED)} {JOB} -o plan.json >&-", tmp_path)
    assert ran.returncode == 2
    assert (tmp_path / "plan.json").read_text().startswith("{")
    assert "Recommendation\n----" not in (tmp_path / "plan.json").read_text()


@ON_POSIX
def test_sigterm_leaves_nothing_half_written(tmp_path):
    """Sent while the files are staged: their temporary names are there, and nothing stands under its own name."""
    waits = (
        "import time, pathlib\n"
        "from planner.cli import main\n"
        "from planner.library import plan_outputs\n"
        "plain = plan_outputs.stage_file\n"
        "def slow(path, content):\n"
        "    if path.name == 'b.csv':\n"
        "        pathlib.Path('ready').touch()\n"
        "        time.sleep(60)\n"
        "    return plain(path, content)\n"
        "plan_outputs.stage_file = slow\n"
        "main()\n"
    )
    arguments = ("estimate", *DATED, JOB, "-o", "a.json", "-o", "b.csv")
    child = subprocess.Popen([sys.executable, "-c", waits, *arguments], cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    while not (tmp_path / "ready").exists() and child.poll() is None:
        time.sleep(0.02)
    assert list(tmp_path.glob(f"{file_replacement.TEMPORARY_PREFIX}*"))
    child.send_signal(signal.SIGTERM)
    _, err = child.communicate()
    assert child.returncode == -signal.SIGTERM
    assert err == "planner: terminated; no partial files were left\n"
    assert [path.name for path in tmp_path.iterdir()] == ["ready"]


@pytest.mark.slow
@ON_POSIX
def test_sigterm_during_the_search_ends_at_once(tmp_path):
    """The solver's thread cannot be stopped: the program must not wait for it."""
    waits = (
        "import pathlib, time\n"
        "from planner.cli import _estimate_settings, main\n"
        "def search(*_, **__):\n"
        "    pathlib.Path('ready').touch()\n"
        "    time.sleep(60)\n"
        "_estimate_settings.plan_input = search\n"
        "main()\n"
    )
    command = [sys.executable, "-c", waits, "estimate", *DATED, JOB, "-o", "a.json"]
    child = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    while not (tmp_path / "ready").exists() and child.poll() is None:
        time.sleep(0.02)
    child.send_signal(signal.SIGTERM)
    _, err = child.communicate()
    assert (child.returncode, err) == (143, "planner: terminated; no files were written\n")
    assert [path.name for path in tmp_path.iterdir()] == ["ready"]


@pytest.mark.slow
def test_it_plans_without_fcntl_and_without_links(tmp_path):
    """As on Windows: the module is absent, and nobody may make a link."""
    code = (
        "import os, sys\n"
        "sys.modules['fcntl'] = sys.modules['resource'] = None\n"
        "def refuse(*_, **__): raise OSError(1314, 'a required privilege is not held by the client')\n"
        "os.symlink = refuse\n"
        "from planner.cli import main\n"
        "main()\n"
    )
    bill = ROOT / "examples" / "bill-focus.csv"
    for arguments in (("estimate", *DATED, JOB, "-o", "plan.json"), ("usage", str(bill)), ("offers", "--limit", "1")):
        done = subprocess.run(
            [sys.executable, "-c", code, *arguments], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert (done.returncode, "internal error" in done.stderr) == (0, False), done.stderr
        assert done.stdout
    assert (tmp_path / "plan.json").is_file()
