"""openapi/: the committed document is the one the service gives, and its examples are what it answers."""

from __future__ import annotations

import json
import os

import jsonschema
import pytest

from planner.service.openapi import main
from planner.service.openapi_schemas import EXAMPLES, QUERY, REJECTED_EXAMPLES

DEAR = {"portfolio", "measured"}


@pytest.fixture(scope="module")
def document(repository):
    return json.loads((repository / "openapi/openapi.json").read_bytes())


def test_the_committed_document_is_current(client, document):
    assert client.get("/openapi.json").json() == document, "run python -m planner.service.openapi"


@pytest.mark.parametrize(  # `make check` answers all of them, too
    "name",
    [pytest.param(name, marks=pytest.mark.slow if name in DEAR else ()) for name in EXAMPLES],
)
def test_the_committed_answer_is_the_answer(client, repository, name):
    request = (repository / f"openapi/examples/{name}.request.json").read_bytes()
    answer = client.post("/plan", content=request, params=QUERY, headers={"content-type": "application/json"})
    assert answer.status_code == (422 if name in REJECTED_EXAMPLES else 200)
    expected = (repository / f"openapi/examples/{name}.answer.json").read_bytes()
    assert answer.content == expected, "run python -m planner.service.openapi"


def test_every_pair_in_the_folder_is_an_example_of_the_document(document, repository):
    files = {path.name for path in (repository / "openapi/examples").iterdir()}
    assert files == {f"{name}.{kind}.json" for name in EXAMPLES for kind in ("request", "answer")}
    text = json.dumps(document)
    assert all(f'"examples/{name}"' in text for name in files)


def test_examples_of_a_body_are_of_its_type(document, repository):
    """What is rejected is so for what it says."""
    checked = 0
    for path in document["paths"].values():
        for operation in path.values():
            body = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
            for name, example in body.get("examples", {}).items():
                if name not in REJECTED_EXAMPLES:
                    request = json.loads((repository / "openapi" / example["externalValue"]).read_bytes())
                    jsonschema.validate(request, body["schema"] | {"components": document["components"]})
                    checked += 1
    assert checked == len(EXAMPLES) * 2 - 1 - 2 * len(REJECTED_EXAMPLES)


def test_operations_are_named_after_their_functions(document):
    operations = {
        operation["operationId"]: (method, path)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    }
    assert operations == {
        "plan": ("post", "/plan"),
        "create_plan": ("post", "/v1/plans"),
        "create_plan_from_file": ("post", "/v1/plans/file"),
        "read_plan": ("get", "/v1/plans/{plan_id}"),
        "delete_plan": ("delete", "/v1/plans/{plan_id}"),
        "plan_events": ("get", "/v1/plans/{plan_id}/events"),
        "offers": ("get", "/v1/offers"),
        "accelerators": ("get", "/v1/accelerators"),
        "catalog": ("get", "/v1/catalog"),
        "healthz": ("get", "/healthz"),
        "terraform": ("get", "/v1/plans/{plan_id}/terraform"),
        "plan_again": ("post", "/v1/plans/{plan_id}/again"),
        "report": ("get", "/v1/plans/{plan_id}/reports/{format_name}"),
        "readyz": ("get", "/readyz"),
        "create_review": ("post", "/v1/reviews"),
        "list_reviews": ("get", "/v1/reviews"),
        "read_review": ("get", "/v1/reviews/{review_id}"),
        "change_review": ("put", "/v1/reviews/{review_id}"),
        "delete_review": ("delete", "/v1/reviews/{review_id}"),
        "share_review": ("post", "/v1/reviews/{review_id}/links"),
        "end_sharing": ("delete", "/v1/reviews/{review_id}/links"),
        "read_shared_review": ("get", "/v1/shared/{token}"),
        "read_shared_plan": ("get", "/v1/shared/{token}/plan"),
        "list_answers": ("get", "/v1/answers"),
    }


def test_every_reference_leads_somewhere(document):
    def references(value):
        if isinstance(value, dict):
            yield from ([value["$ref"]] if isinstance(value.get("$ref"), str) else [])
            for item in value.values():
                yield from references(item)
        elif isinstance(value, list):
            for item in value:
                yield from references(item)

    names = {reference.removeprefix("#/components/schemas/") for reference in references(document)}
    assert names <= document["components"]["schemas"].keys()
    assert {"Plan", "Request", "Workload", "Offers", "Problem"} <= names


def test_the_answer_has_the_fields_of_the_schema(document, repository):
    schema = document["components"]["schemas"]["Plan"]
    answer = json.loads((repository / "openapi/examples/portfolio.answer.json").read_bytes())
    assert set(schema["properties"]) == answer.keys()


@pytest.mark.slow
def test_a_stale_file_is_told(repository, tmp_path, capsys, monkeypatch):
    import shutil

    monkeypatch.setenv("GPU_PLANNER_DATA", os.devnull)  # `main` sets it for its process: here for this test
    monkeypatch.setattr("planner.service.openapi.EXAMPLES", {"bad": EXAMPLES["bad"]})  # refused: nothing is planned
    shutil.copytree(repository / "openapi", tmp_path / "openapi")
    (tmp_path / "openapi/examples/bad.answer.json").write_text("{}")
    assert main(["--check", str(tmp_path / "openapi")]) == 1
    assert "bad.answer.json is out of date" in capsys.readouterr().err
    assert main([str(tmp_path / "openapi")]) == 0
    assert main(["--check", str(tmp_path / "openapi")]) == 0
