"""`planner estimate` on good input: what is printed, what is written, and where."""

from __future__ import annotations

import fcntl
import io
import json
import os
import pty
import re
import signal
import subprocess
import sys
import termios
import time
import zipfile
from array import array
from pathlib import Path
from urllib.parse import unquote
from xml.etree import ElementTree

import pytest

from planner.cli._output_options import choose_outputs
from planner.reports import formats

SCRIPT = Path(sys.executable).with_name("planner")


def test_it_prints_the_report_and_exits_with_0(planner, job, written):
    ran = planner("estimate", str(job))
    assert ran.code == 0
    assert ran.out.startswith("Recommendation")
    assert ran.out.count("\n") <= 60
    assert ran.err == ""
    assert written() == ["job.json"]


@pytest.mark.parametrize("name", sorted(formats()))
def test_every_format_is_printed(planner, job, name):
    ran = planner("estimate", str(job), "--format", name, *(["--full"] if name == "text" else []))
    assert ran.code == 0, ran.err
    if name in {"xlsx", "terraform"}:
        assert zipfile.ZipFile(io.BytesIO(ran.data)).testzip() is None
    else:
        assert "batch" in ran.out


def test_the_whole_report_and_parts_of_it(planner, job, tmp_path):
    whole = planner("estimate", str(job), "--full").out
    assert {"Strategies", "Gaps", "Assumptions", "Input"} <= set(whole.split("\n"))
    part = planner("estimate", str(job), "--section", "gaps", "--section", "input", "-o", "part.txt")
    assert part.out.startswith("Gaps\n")
    assert part.out.rstrip("\n") in whole.replace(whole[whole.index("Assumptions") : whole.index("Input\n---")], "")
    assert (tmp_path / "part.txt").read_text() == part.out


def test_parts_that_there_are_not(planner, job, written):
    ran = planner("estimate", str(job), "--section", "gasp", "--format", "json")
    assert ran.code == 2
    assert "--section: no part of the report; read gasp; expected one of recommendation, strategies" in ran.err
    assert "nearest: gaps" in ran.err
    assert "--section: only the format text has a first screen; read json" in ran.err
    assert written() == ["job.json"]


def test_json_is_the_plan(planner, job):
    plan = json.loads(planner("estimate", str(job), "--format", "json").out)
    assert plan["status"] == "optimal"
    assert plan["inputs"]["name"] == "job.json"
    # 1,460 hours a month for two months on the cheapest L4 by the hour, whatever that costs today:
    units = sum(use["units"] for use in plan["strategies"][0]["uses"])
    assert units == pytest.approx(2 * 1460)


def test_standard_input_is_read_whatever_its_format(planner, job):
    as_json = planner("estimate", "-", "--format", "json", stdin=job.read_bytes())
    assert as_json.code == 0
    yaml = b"""
    as_of: 2026-11-21
    months: 2
    strategies: [cloud]
    workloads:
      - name: batch
        demand: {accelerator_hours_per_month: 1460, accelerator: L4}
    """
    as_yaml = planner("estimate", "--format", "json", stdin=yaml)
    assert as_yaml.code == 0, as_yaml.err
    cost = [json.loads(ran.out)["strategies"][0]["total_cost"] for ran in (as_json, as_yaml)]
    assert cost[0] == cost[1] > 0


def test_several_outputs_in_one_run(planner, job, tmp_path):
    ran = planner("estimate", str(job), "-o", "out/plan.xlsx", "-o", "out/plan.json", "-o", "out/terraform/")
    assert ran.code == 0, ran.err
    assert ran.out.startswith("Recommendation")
    assert [line.split()[:3] for line in ran.err.splitlines()] == [
        ["wrote", "out/plan.xlsx", "(xlsx,"],
        ["wrote", "out/plan.json", "(json,"],
        ["wrote", "out/terraform/", "(terraform,"],
    ]
    assert (tmp_path / "out/plan.xlsx").read_bytes()[:2] == b"PK"
    assert json.loads((tmp_path / "out/plan.json").read_bytes())["status"] == "optimal"
    assert (tmp_path / "out/terraform/README.md").is_file()
    assert list((tmp_path / "out/terraform").glob("*/main.tf"))
    assert not list(tmp_path.rglob(".planner-*"))


def test_the_longest_suffix_names_the_format():
    names = {"a.csv": "csv", "a.focus.csv": "focus", "OUT/A.FOCUS.CSV": "focus", "a.focus.x.csv": "csv",
             "a.json": "json", "a.infracost.json": "infracost"}  # fmt: skip
    outputs, faults = choose_outputs(None, list(names))
    assert faults == ()
    assert [output.format for output in outputs] == ["text", *names.values()]
    (fault,) = choose_outputs("focus", ["forecast.csv"])[1]
    assert fault.expected == "no --format, or -o NAME.focus.csv"


def test_a_file_holds_what_standard_output_would(planner, job, tmp_path):
    printed = planner("estimate", str(job), "--format", "json").data
    planner("estimate", str(job), "-o", "plan.json")
    assert (tmp_path / "plan.json").read_bytes() == printed


def test_minus_o_minus_prints_the_format_beside_the_files(planner, job, tmp_path):
    ran = planner("estimate", str(job), "-o", "plan.csv", "-o", "-", "--format", "json")
    assert json.loads(ran.out)["status"] == "optimal"
    assert (tmp_path / "plan.csv").is_file()


def test_an_existing_file_is_replaced_and_keeps_no_leftovers(planner, job, tmp_path):
    (tmp_path / "plan.json").write_text("old " * 100_000)
    assert planner("estimate", str(job), "-o", "plan.json").code == 0
    assert json.loads((tmp_path / "plan.json").read_bytes())["months"] == 2


def test_terraform_of_another_plan_is_not_mixed_with_this_one(planner, job, tmp_path):
    (tmp_path / "infra").mkdir()
    (tmp_path / "infra/network.tf").write_text("# theirs")
    ran = planner("estimate", str(job), "-o", "infra/", "-o", "plan.json")
    assert ran.code == 2
    assert "network.tf" in ran.err
    assert not (tmp_path / "plan.json").exists()
    assert [path.name for path in (tmp_path / "infra").iterdir()] == ["network.tf"]


def test_options_win_over_the_file(planner, job):
    arguments = ("--months", "3", "--start", "2027-02", "--regions", "us-east-1,us-west-2", "--providers", "aws")
    more = ("--discount-rate", "9%", "--as-of", "2026-12-24", "--strategies", "cloud,hybrid", "--no-estimates")
    plan = json.loads(planner("estimate", str(job), "--format", "json", *arguments, *more).out)
    assert plan["month_names"] == ["2027-02", "2027-03", "2027-04"]
    assert plan["discount_rate_annual"] == pytest.approx(0.09)
    assert plan["as_of"] == "2026-12-24"
    assert [strategy["name"] for strategy in plan["strategies"]] == ["cloud", "hybrid"]
    used = {(use["provider"], use["region"]) for strategy in plan["strategies"] for use in strategy["uses"]}
    assert used <= {("aws", "us-east-1"), ("aws", "us-west-2"), ("", "")}


def test_a_list_may_be_repeated(planner, job):
    once = planner("estimate", str(job), "--providers", "aws,gcp", "--format", "json")
    twice = planner("estimate", str(job), "--providers", "aws", "--providers", "gcp", "--format", "json")
    assert once.out == twice.out


def test_assumptions_of_a_file_replace_defaults(planner, job, tmp_path):
    (tmp_path / "ours.yaml").write_text("# ours\nelectricity_price_per_kwh: 0.31\n")
    plan = json.loads(planner("estimate", str(job), "--assumptions", "ours.yaml", "--format", "json").out)
    [ours] = [a for a in plan["assumptions"] if a["overridden"]]
    assert (ours["name"], ours["value"]) == ("electricity_price_per_kwh", 0.31)


def test_assumptions_of_the_option_are_added_to_those_of_the_request(planner, hours, tmp_path):
    (tmp_path / "job.json").write_text(json.dumps(hours | {"assumptions": {"pue": 1.3, "lead_time_months": 4}}))
    (tmp_path / "ours.json").write_text('{"pue": 1.2}')
    plan = json.loads(planner("estimate", "job.json", "--assumptions", "ours.json", "--format", "json").out)
    assert {a["name"]: a["value"] for a in plan["assumptions"] if a["overridden"]} == {
        "pue": 1.2,
        "lead_time_months": 4.0,
    }


def test_the_date_is_today_unless_said(planner, hours, monkeypatch):
    from datetime import date

    monkeypatch.setattr("planner.inputs.merged_settings.today", lambda: date(2027, 3, 4))
    del hours["as_of"]
    plan = json.loads(planner("estimate", "--format", "json", stdin=json.dumps(hours).encode()).out)
    assert (plan["as_of"], plan["start"]) == ("2027-03-04", "2027-04")


def test_no_plan_possible_is_exit_code_3_and_still_told_and_written(planner, impossible, tmp_path):
    ran = planner("estimate", "-o", "plan.json", stdin=json.dumps(impossible).encode())
    assert ran.code == 3
    assert "too large" in ran.out
    assert "memory" in ran.out
    plan = json.loads((tmp_path / "plan.json").read_bytes())
    assert plan["status"] == "infeasible"
    assert plan["reasons"]


def test_same_input_same_bytes(planner, job):
    runs = [planner("estimate", str(job), "--format", name).data for name in ("xlsx", "xlsx", "json", "json")]
    assert runs[0] == runs[1]
    assert runs[2] == runs[3]


def test_a_folder_without_a_slash_is_a_folder_when_it_exists(tmp_path):
    outputs, complaints = choose_outputs(None, [str(tmp_path)])
    assert not complaints
    assert (outputs[1].format, outputs[1].folder) == ("terraform", True)


def test_the_installed_command_answers_a_pipe():
    request = b"name: x\ndemand: {accelerator_hours_per_month: 100, accelerator: L4}\n"
    done = subprocess.run(
        [SCRIPT, "estimate", "--as-of", "2026-11-21", "--months", "1", "-", "--format", "json"],
        input=request,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["months"] == 1


@pytest.mark.slow
def test_a_reader_that_leaves_early_is_no_error():
    head = subprocess.run(f"'{SCRIPT}' offers --csv | head -1", shell=True, capture_output=True, check=False, text=True)
    assert head.stdout.startswith("provider,region")
    assert head.stderr == ""


@pytest.mark.slow
def test_binary_formats_are_refused_on_a_terminal(job):
    leader, follower = pty.openpty()
    done = subprocess.run(
        [SCRIPT, "estimate", job, "--format", "xlsx"], stdout=follower, stderr=subprocess.PIPE, check=False, text=True
    )
    os.close(follower)
    os.close(leader)
    assert done.returncode == 2
    assert "--format: a binary format would garble the terminal; read xlsx; expected -o plan.xlsx" in done.stderr


def heeding_ctrl_c():
    """In the child, before it starts: a runner in the background would pass on that SIGINT is ignored."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_ctrl_c_is_exit_code_130_and_leaves_nothing(tmp_path):
    read, write = os.pipe()
    running = subprocess.Popen(
        [SCRIPT, "estimate", "-", "-o", tmp_path / "plan.json"],
        stdin=read,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=heeding_ctrl_c,  # noqa: PLW1509  it runs alone in the child
    )
    os.write(write, b"name: job\n")
    unread = array("i", [1])
    while unread[0]:  # it has begun to read its input, and waits for the rest
        time.sleep(0.05)
        fcntl.ioctl(read, termios.FIONREAD, unread)
    running.send_signal(signal.SIGINT)
    _, err = running.communicate(timeout=300)
    os.close(read)
    os.close(write)
    assert running.returncode == 130
    assert "interrupted" in err
    assert "Traceback" not in err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_ctrl_c_during_the_solve_ends_it_at_once():
    # The solver would run on for minutes before Python hears of the signal; a sleeping thread stands for it. It sends
    # the signal once it is waited for.
    code = (
        "import os, signal, sys, threading, time\n"
        "from planner.cli._estimate_settings import _run_interruptibly\n"
        "def solve():\n"
        "    frame = lambda: sys._current_frames()[threading.main_thread().ident]\n"
        "    while [(at := frame()).f_code.co_name, at.f_back.f_code.co_name] != ['wait', 'result']: time.sleep(0.01)\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n"
        "    time.sleep(3600)\n"
        "_run_interruptibly(solve)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        preexec_fn=heeding_ctrl_c,
    )
    assert done.returncode == 130
    assert done.stderr == "planner: interrupted; no files were written\n"


def test_a_markdown_file_has_its_charts_beside_it(planner, tmp_path):
    """Each link names a file that was written, and that is a drawing; on standard output there are none."""
    (tmp_path / "out").mkdir()
    request = ("--as-of", "2026-11-21", "--start", "2026-12", "--months", "3", "job.yaml")
    (tmp_path / "job.yaml").write_text("{name: j, demand: {accelerator_hours_per_month: 730, accelerator: H100}}\n")
    ran = planner("estimate", *request, "-o", "out/board review.md")
    assert ran.code == 0, ran.err
    report = (tmp_path / "out" / "board review.md").read_text()
    links = [unquote(link) for link in re.findall(r"!\[[^\]]+\]\(([^)]+)\)", report)]
    assert links[0] == "board review-cash.svg"
    assert {path.name for path in (tmp_path / "out").glob("*.svg")} == set(links)
    for link in links:
        drawn = ElementTree.fromstring((tmp_path / "out" / link).read_bytes())
        assert drawn.tag == "{http://www.w3.org/2000/svg}svg"
        assert link in ran.err
    assert "![" not in planner("estimate", *request, "--format", "markdown").out
