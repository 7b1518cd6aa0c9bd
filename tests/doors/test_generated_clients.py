"""Clients that others generate from the OpenAPI document: each posts a request and reads the plan."""

from __future__ import annotations

import importlib
import io
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

SHEET = b"name,accelerator,hours per month,gpus\na,L4,730,2\n"
TYPESCRIPT = Path(__file__).with_name("typescript")


def run_tool(*arguments: str | Path, folder: Path | None = None) -> str:
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))  # the tools call each other by name
    environment = os.environ | {"PATH": path}
    made = subprocess.run(arguments, capture_output=True, text=True, check=False, cwd=folder, env=environment)
    assert made.returncode == 0, made.stdout + made.stderr
    return made.stdout


@pytest.fixture
def document(client, tmp_path) -> Path:
    path = tmp_path / "openapi.json"
    path.write_text(client.get("/openapi.json").text)
    return path


def test_a_client_in_python(client, hours, document, tmp_path, monkeypatch):
    """openapi-python-client, without a warning: every operation and every model is there."""
    tool = Path(sys.executable).with_name("openapi-python-client")
    arguments = ["generate", "--path", document, "--output-path", tmp_path / "made_client", "--meta", "none"]
    run_tool(tool, *arguments, "--fail-on-warning")
    monkeypatch.syspath_prepend(tmp_path)
    ours = importlib.import_module("made_client")
    models = importlib.import_module("made_client.models")
    create = importlib.import_module("made_client.api.default.create_plan")
    read = importlib.import_module("made_client.api.default.read_plan")
    from_file = importlib.import_module("made_client.api.default.create_plan_from_file")
    types = importlib.import_module("made_client.types")
    with ours.Client(base_url=str(client.base_url), timeout=600) as connection:
        answer = create.sync_detailed(client=connection, body=models.Request.from_dict(hours), prefer="wait=600")
        assert isinstance(answer.parsed, models.Plan)
        assert answer.parsed.to_dict() == json.loads(answer.content)
        assert read.sync(answer.parsed.plan_id, client=connection) == answer.parsed
        sheet = types.File(io.BytesIO(SHEET), "plan.csv", "text/csv")
        body = models.CreatePlanFromFileBody(file=sheet)
        posted = from_file.sync(client=connection, body=body, months=2, prefer="wait=600")
        assert isinstance(posted, models.Plan)


def test_models_of_pydantic(client, hours, document, tmp_path, monkeypatch):
    """datamodel-code-generator: what was written by hand is a request, what is answered is a plan, nothing is lost."""
    tool = Path(sys.executable).with_name("datamodel-codegen")
    options = [
        "--input-file-type",
        "openapi",
        "--output-model-type",
        "pydantic_v2.BaseModel",
        "--formatters",
        "builtin",
    ]
    run_tool(tool, "--input", document, "--output", tmp_path / "made_models.py", *options)
    monkeypatch.syspath_prepend(tmp_path)
    models = importlib.import_module("made_models")
    request = models.Request.model_validate(hours)
    body = request.model_dump_json(exclude_unset=True)
    headers = {"content-type": "application/json", "prefer": "wait=600"}
    answer = client.post("/v1/plans", content=body, headers=headers)
    plan = models.Plan.model_validate_json(answer.content)
    assert json.loads(plan.model_dump_json(by_alias=True)) == answer.json()
    read = models.Plan.model_validate_json(client.get(f"/v1/plans/{plan.plan_id}").content)
    assert read == plan
    known = client.post("/v1/plans", content=body, headers={"content-type": "application/json"})
    known = client.post("/v1/plans", content=body, headers={"content-type": "application/json"})
    job = models.PlanJob.model_validate_json(known.content)
    assert job.plan_id == plan.plan_id
    wrong = client.post("/v1/plans", json={**hours, "months": 0}, headers={"prefer": "wait=600"})
    problem = models.Problem.model_validate_json(wrong.content)
    assert [each.path for each in problem.errors] == ["months"]
    with pytest.raises(ValueError, match="workloads"):
        models.Request.model_validate({"months": 3})


def test_a_client_in_typescript(client, hours, tmp_path):
    """openapi-typescript and openapi-fetch: it compiles without a cast of what is posted, and runs in node."""
    node, tools = shutil.which("node"), TYPESCRIPT / "node_modules"
    if node is None or not tools.is_dir():
        pytest.skip("no client in TypeScript: it needs node, and `make typescript`, which fetches its generator")
    for path in TYPESCRIPT.iterdir():
        if path.is_file():
            shutil.copy(path, tmp_path)
    (tmp_path / "node_modules").symlink_to(tools)
    address = str(client.base_url).rstrip("/")
    generator = tools / "openapi-typescript/bin/cli.js"  # given the address, it finds the examples, too
    run_tool(node, generator, f"{address}/openapi.json", "-o", "schema.d.ts", folder=tmp_path)
    run_tool(node, tools / "typescript/bin/tsc", "--project", tmp_path, folder=tmp_path)
    printed = json.loads(run_tool(node, tmp_path / "client.js", address, json.dumps(hours), SHEET.decode()))
    plan = client.get(f"/v1/plans/{printed['posted']['plan_id']}").json()
    assert printed["posted"] == printed["read"] == plan
    assert printed["workloads"] == 1
    assert [fault["path"] for fault in printed["faults"]] == ["months"]
