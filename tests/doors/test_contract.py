"""The contract of the service: what clients can rely on, and clients that are made from it."""

from __future__ import annotations

import gzip

import pytest
import zstandard

VERSIONED = ("/v1/accelerators", "/v1/catalog", "/v1/offers?accelerator=L4")
SHEET = b"name,accelerator,hours per month,gpus\na,L4,730,2\n"


def unpack_zstd(data: bytes) -> bytes:
    return zstandard.ZstdDecompressor().stream_reader(data).read()


def wait(client, document, **query):
    return client.post("/v1/plans", json=document, params=query, headers={"prefer": "wait=600"})


@pytest.mark.one_in(5)
@pytest.mark.parametrize("path", [*VERSIONED, "/healthz", "/openapi.json"])
def test_head_and_etag_beside_every_get(client, path):
    got = client.get(path)
    head = client.head(path)
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["etag"] == got.headers["etag"]
    known = client.get(path, headers={"if-none-match": got.headers["etag"]})
    assert (known.status_code, known.content) == (304, b"")
    assert client.get(path, headers={"if-none-match": '"other"'}).content == got.content


def test_the_old_paths_answer_as_those_with_a_version(client):
    for path in VERSIONED:
        assert client.get(path.removeprefix("/v1")).content == client.get(path).content


@pytest.mark.parametrize(("coding", "decode"), [("gzip", gzip.decompress), ("zstd", unpack_zstd)])
def test_answers_are_compressed_as_the_client_takes_them(client, hours, coding, decode):
    location = wait(client, hours).headers["location"]
    for path in (location, "/v1/accelerators"):
        plain = client.get(path, headers={"accept-encoding": "identity"})
        assert "content-encoding" not in plain.headers
        with client.stream("GET", path, headers={"accept-encoding": coding}) as answer:
            raw = b"".join(answer.iter_raw())
            assert answer.headers["content-encoding"] == coding
        assert decode(raw) == plain.content
        assert len(raw) < len(plain.content) / 3


@pytest.mark.slow
def test_offers_come_in_pages_that_add_up(client):
    whole = client.get("/v1/offers", params={"accelerator": "L4"}).json()
    answer = client.get("/v1/offers", params={"accelerator": "L4", "limit": 7})
    rows = list(answer.json()["rows"])
    assert len(rows) == 7
    while "next" in answer.links:
        answer = client.get(answer.links["next"]["url"])
        assert answer.json()["total"] == whole["total"]
        rows += answer.json()["rows"]
    assert rows == whole["rows"]


@pytest.mark.parametrize("cursor", ["12345678-7", "x", "-", "12345678"])
def test_a_cursor_of_other_prices_is_a_fault(client, cursor):
    answer = client.get("/v1/offers", params={"accelerator": "L4", "limit": 7, "cursor": cursor})
    assert answer.status_code == 422
    assert [fault["path"] for fault in answer.json()["errors"]] == ["?cursor"]


def test_a_summary_leaves_out_what_was_considered(client, hours):
    waited = wait(client, hours)
    whole, location = waited.json(), waited.headers["location"]
    summary = client.get(location, params={"view": "summary"}).json()
    assert whole.keys() - summary.keys() >= {"considered", "assumptions", "ledger"}
    assert summary == {name: whole[name] for name in summary}
    more = client.get(location, params={"include": "considered,prices"}).json()
    assert more == {name: whole[name] for name in more}
    assert more.keys() - summary.keys() == {"considered", "prices"}
    assert wait(client, hours, view="summary").json() == summary
    faults = client.get(location, params={"view": "short", "include": "considerd", "x": "1"}).json()["errors"]
    assert {fault["path"] for fault in faults} == {"?view", "?include"}
    assert "considered" in next(fault["expected"] for fault in faults if fault["path"] == "?include")


def test_examples_of_the_document_are_served(client):
    document = client.get("/openapi.json").json()
    names = {
        each["externalValue"]
        for path in document["paths"].values()
        for operation in path.values()
        for content in operation.get("requestBody", {}).get("content", {}).values()
        for each in content.get("examples", {}).values()
    }
    assert names
    for name in names:
        assert client.get(f"/{name}").json() is not None
    assert client.get("/examples/..%2Fopenapi.json").status_code == 404


def test_every_operation_takes_one_type_of_body_and_has_typed_parameters(client):
    document = client.get("/openapi.json").json()
    assert document["servers"]
    for path in document["paths"].values():
        for operation in path.values():
            assert len(operation.get("requestBody", {"content": {"": {}}})["content"]) == 1
            for parameter in operation.get("parameters", []):
                assert parameter["schema"], parameter["name"]
                assert parameter["in"] == "path" or parameter["description"]
    kinds = {each["name"]: each["schema"] for each in document["paths"]["/v1/plans"]["post"]["parameters"]}
    assert kinds["months"]["type"] == "integer"
    assert kinds["measured_only"]["type"] == "boolean"
    assert kinds["discount_rate_annual"]["type"] == "number"
    assert kinds["strategies"]["type"] == "array"
    assert kinds["as_of"]["format"] == "date"


def test_files_have_an_operation_of_their_own(client, hours):
    sheet = {"file": ("plan.csv", SHEET)}
    query = {"as_of": "2026-11-21", "months": 2}
    answer = client.post("/v1/plans/file", files=sheet, params=query, headers={"prefer": "wait=600"})
    assert answer.status_code == 200
    assert answer.json()["inputs"]["name"] == "plan.csv"
    assert "/v1/plans/file" in client.post("/v1/plans", files=sheet, params=query).json()["detail"]
    assert client.post("/v1/plans/file", json=hours).status_code == 415


def test_a_form_with_answers_alone_names_the_file_that_is_missing(client):
    answer = client.post("/v1/plans/file", files={"answers": ("answers.yaml", b"answers: {}")})
    assert answer.status_code == 422
    assert [fault["path"] for fault in answer.json()["errors"]] == ["form field file"]


def test_problems_have_the_fields_of_their_schema(client, hours):
    schema = client.get("/openapi.json").json()["components"]["schemas"]["Problem"]
    for problem in (client.get("/v1/plans/none").json(), client.post("/plan", json={**hours, "months": 0}).json()):
        assert set(schema["required"]) <= problem.keys() <= schema["properties"].keys()
