"""A pull request of GitHub and a merge request of GitLab: the steps of the action and of the template run for real."""

from __future__ import annotations

import json
import re

import pytest

from tests.pipelines.conftest import hours

MARKER = "<!-- gpu-planner: GPU capacity -->"


@pytest.fixture
def step(action, server, repository, shell, tmp_path):
    """The last step of the action, with inputs, on the pull request 7 from the checked-out branch to main."""
    (script,) = (each for each in action["runs"]["steps"] if "PLAN_FILES" in each.get("env", {}))

    def run(**inputs: str):
        given = {name: str(each.get("default", "")) for name, each in action["inputs"].items()} | inputs
        given["token"] = server.token
        event = {"pull_request": {"number": 7, "base": {"sha": repository.git("rev-parse", "main")}}}
        (tmp_path / "event.json").write_text(json.dumps(event))
        variables = {
            name: re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda match: given[match[1]], text)
            for name, text in script["env"].items()
        }
        summary = tmp_path / "summary.md"
        summary.unlink(missing_ok=True)
        return shell(
            script["run"],
            GITHUB_API_URL=server.url,
            GITHUB_REPOSITORY="acme/capacity",
            GITHUB_EVENT_PATH=str(tmp_path / "event.json"),
            GITHUB_STEP_SUMMARY=str(summary),
            **variables,
        )

    return run


def amounts(text: str) -> tuple[float, float]:
    """Cost before and now of the first row."""
    row = next(line for line in text.splitlines() if line.startswith("| capacity/train"))
    before, now = (float(cell.split()[0].replace(",", "")) for cell in row.split(" | ")[1:3])
    return before, now


@pytest.mark.slow
def test_a_pull_request_has_one_comment_that_a_second_push_updates(step, server, repository, tmp_path):
    server.comments |= {number: f"comment {number}" for number in range(1, 8)}  # of others, on three pages
    first = step(files="capacity/*.json\n", options="--months 2")
    assert first.code == 0, first.err
    (number,) = (number for number, text in server.comments.items() if text.startswith(MARKER))
    text = server.comments[number]
    before, now = amounts(text)
    assert now == pytest.approx(2 * before, abs=2)
    assert "capacity/same.json" not in text
    assert "#### Changes since the last review" in text
    assert (tmp_path / "summary.md").read_text().startswith(text.rstrip("\n"))
    assert text.rstrip("\n") in first.out
    assert "comment on GitHub: created" in first.err

    repository.write("capacity/train.json", hours(4380))
    repository.commit()
    second = step(files="capacity/*.json\n", options="--months 2")
    assert second.code == 0, second.err
    assert sum(text.startswith(MARKER) for text in server.comments.values()) == 1
    assert len(server.comments) == 8
    assert amounts(server.comments[number]) == pytest.approx((before, 3 * before), abs=3)
    assert ("PATCH", f"/repos/acme/capacity/issues/comments/{number}") in server.calls
    assert all(server.comments[other] == f"comment {other}" for other in range(1, 8))

    third = step(files="capacity/*.json\n", options="--months 2")
    assert "comment on GitHub: unchanged" in third.err


@pytest.mark.slow
def test_gates_fail_the_job_and_the_comment_says_why(step, server):
    ran = step(files="capacity/*.json", options='--fail-over-budget 1 --max-price-age "0"')
    assert ran.code == 5
    (text,) = server.comments.values()
    assert "| **gate failed** |" in text
    assert "over the budget of 1.00 USD" in text
    assert "older than 0 days" in text
    assert ran.err.count("::error title=gpu-planner::") >= 2


def test_files_beside_the_requests_are_left_out_by_name(step, server, repository):
    repository.write("capacity/README.md", "why we need it\n")
    repository.commit()
    ran = step(files="capacity/README.md")
    assert (ran.code, server.comments) == (0, {})
    assert "left out, since no such file can be planned: capacity/README.md" in ran.err


def test_faults_fail_the_job_on_their_lines(step, server, repository):
    repository.write(
        "capacity/new file.yaml", "name: x\ndemand:\n  accelerator_hours_per_month: lots\n  accelerator: L4\n"
    )
    repository.commit()
    ran = step(files="capacity/*.json\ncapacity/*.yaml")
    assert ran.code == 2
    assert "::error file=capacity/new file.yaml,line=3,col=32,title=gpu-planner::" in ran.err
    (text,) = server.comments.values()
    assert "| capacity/new file.yaml | - | - | - | **invalid** |" in text
    assert "line 3 column 32: not valid" in text
    assert amounts(text)  # the other file is planned all the same


@pytest.mark.slow
def test_a_request_that_cannot_be_planned_is_3(step, server, repository):
    impossible = hours(10)
    impossible["workloads"][0]["memory_gib_per_accelerator"] = 3000
    repository.write("capacity/train.json", impossible)
    repository.commit()
    assert step(files="capacity").code == 3
    (text,) = server.comments.values()
    assert "| none feasible | - | **no feasible plan** |" in text


@pytest.mark.slow
def test_sheets_and_workload_files_are_planned_too(step, server, repository):
    """A sheet, a task of SkyPilot and a batch script; one L4 around the clock costs the same in two of them."""
    repository.write("capacity/review.csv", "Workload,GPU,GPU-hours per month\nCaptions,L4,730\n")
    repository.write("capacity/sky.yaml", "name: train\nresources:\n  accelerators: L4:1\nrun: python train.py\n")
    script = "#!/bin/bash\n#SBATCH --gres=gpu:h100:8\n#SBATCH --time=10:00:00\nsrun train\n"
    repository.write("capacity/train.sbatch", script)
    repository.commit()
    options = "--as-of 2026-11-21 --months 2 --strategies cloud --accept-proposals"
    ran = step(files="capacity/review.csv\ncapacity/sky.yaml\ncapacity/train.sbatch", options=options)
    assert ran.code == 0, ran.err
    (text,) = server.comments.values()
    pattern = r"^\| capacity/(\S+) \| - \| ([\d,]+) USD, cloud \| - \| passed \|$"
    rows = dict(re.findall(pattern, text, re.MULTILINE))
    assert rows.keys() == {"review.csv", "sky.yaml", "train.sbatch"}
    assert rows["review.csv"] == rows["sky.yaml"]


@pytest.mark.slow
def test_a_changed_setup_plans_every_file(step, server, repository):
    repository.git("checkout", "--quiet", "main")
    repository.write("capacity/company.yaml", "limits: {spot_fraction_max: 1}\n")
    repository.commit()
    repository.git("checkout", "--quiet", "-b", "limits")
    repository.write("capacity/company.yaml", "limits: {spot_fraction_max: 0}\n")
    repository.commit()
    assert step(files="capacity", options="--setup capacity/company.yaml").code == 0
    (text,) = server.comments.values()
    assert "### capacity/same.json" in text
    assert "### capacity/train.json" in text
    assert "### capacity/company.yaml" not in text


@pytest.mark.slow
def test_removed_and_renamed_files_are_named(step, server, repository):
    repository.git("checkout", "--quiet", "main")
    repository.git("checkout", "--quiet", "-b", "moved")
    repository.git("mv", "capacity/train.json", "capacity/tuning.json")
    repository.git("rm", "--quiet", "capacity/same.json")
    repository.commit()
    assert step(files="capacity").code == 0
    (text,) = server.comments.values()
    assert re.search(
        r"\| capacity/train.json -&gt; capacity/tuning.json \| [\d,]+ USD, cloud \| [\d,]+ USD, cloud \| none \|", text
    )
    assert "The file is removed." in text


@pytest.mark.slow
def test_no_planned_file_means_no_comment_unless_there_was_one(step, server, repository):
    repository.git("checkout", "--quiet", "main")
    repository.git("checkout", "--quiet", "-b", "words")
    repository.write("README.md", "other words\n")
    repository.commit()
    ran = step(files="capacity")
    assert (ran.code, server.comments) == (0, {})
    assert "none needed" in ran.err
    server.comments[5] = f"{MARKER}\nof an earlier push"
    assert step(files="capacity").code == 0
    assert "No planned file differs." in server.comments[5]


@pytest.mark.slow
def test_each_name_has_a_comment_of_its_own(step, server):
    assert step(files="capacity").code == 0
    assert step(files="capacity", name="Inference").code == 0
    assert len(server.comments) == 2


@pytest.mark.slow
def test_other_commands_count_too(step, server):
    ran = step(
        files="capacity", also="offers --accelerator L4 --limit 1\nestimate --fail-over-budget 1 capacity/same.json\n"
    )
    assert ran.code == 5
    (text,) = server.comments.values()
    assert "### planner offers --accelerator L4 --limit 1" in text
    assert "g6.xlarge" in text or "g2-standard" in text


@pytest.mark.slow
def test_drift_of_a_bill_from_the_plan_is_a_gate(step, server, repository, shell):
    """The bill is that of twice the planned hours; to the cent of the plan there is no drift."""
    plan = "planner estimate capacity/train.json -o {0}.json -o {0}.focus.csv"
    repository.git("checkout", "--quiet", "main")
    assert shell(plan.format("plan")).code == 0
    repository.git("checkout", "--quiet", "more")
    assert shell(plan.format("bill")).code == 0
    gate = "drift --max-drift 10% plan.json {}.focus.csv"
    assert step(files="capacity/same.json", also=gate.format("plan")).code == 0
    server.comments.clear()
    ran = step(files="capacity/same.json", also=gate.format("bill"))
    assert ran.code == 5, ran.err
    (text,) = server.comments.values()
    assert "### planner drift --max-drift 10% plan.json bill.focus.csv" in text
    assert "**gate failed**" in text
    assert "volume" in text


def test_inputs_are_never_a_part_of_the_script(step, server, tmp_path):
    ran = step(
        files="capacity/$(touch hacked).json\n`touch hacked`", options="'$(touch hacked)'", name="a; touch hacked"
    )
    assert ran.code == 2
    assert not list(tmp_path.rglob("hacked"))
    assert server.comments == {}


@pytest.mark.slow
def test_a_file_is_never_an_option(step, server, repository):
    repository.write("--version.json", hours(365))
    repository.commit()
    assert step(files="./--version.json").code == 0
    (text,) = server.comments.values()
    assert "### --version.json" in text
    assert "#### Recommendation" in text


@pytest.mark.slow
def test_a_token_that_may_not_comment_leaves_the_verdict_of_the_plans(step, server):
    server.refuses = 403
    ran = step(files="capacity")
    assert ran.code == 0
    assert "as with requests from forks" in ran.err
    server.refuses = 500
    assert step(files="capacity").code == 4
    server.refuses = 403
    assert step(files="capacity", options="--fail-over-budget 1").code == 5


@pytest.mark.slow
def test_the_token_is_never_printed(step, server):
    server.token = "ghs_0123456789abcdef"
    ran = step(files="capacity")
    assert server.token not in ran.out + ran.err
    server.token = "another"
    refused = step(files="capacity", comment="github")
    assert "another" not in refused.out + refused.err


@pytest.mark.slow
def test_nothing_is_left_of_the_base(step, repository):
    step(files="capacity")
    assert repository.git("worktree", "list").count("\n") == 0
    assert repository.git("status", "--porcelain") == ""


@pytest.mark.slow
def test_a_merge_request_has_one_note_that_a_second_push_updates(template, server, repository, shell):
    job = template["gpu-plan"]
    (script,) = job["script"]
    variables = {
        **job["variables"],
        "PLAN_FILES": "capacity/*.json",
        "PLAN_OPTIONS": "--months 2",
        "CI_API_V4_URL": f"{server.url}/api/v4",
        "CI_PROJECT_ID": "42",
        "CI_MERGE_REQUEST_IID": "7",
        "CI_MERGE_REQUEST_DIFF_BASE_SHA": repository.git("rev-parse", "main"),
        "GITLAB_TOKEN": server.token,
    }
    first = shell(script, **variables)
    assert first.code == 0, first.err
    ((number, text),) = server.comments.items()
    before, now = amounts(text)
    assert now == pytest.approx(2 * before, abs=2)
    assert (repository.folder / "gpu-plan.md").read_text().startswith(MARKER)
    repository.write("capacity/train.json", hours(730))
    repository.commit()
    second = shell(script, **variables)
    assert second.code == 0, second.err
    assert list(server.comments) == [number]
    assert amounts(server.comments[number])[1] == pytest.approx(before / 2, abs=2)
    assert ("PUT", f"/api/v4/projects/42/merge_requests/7/notes/{number}") in server.calls
    assert shell(script, **{**variables, "GITLAB_TOKEN": ""}).code == 0  # the log and the artifact have it
