"""The service as a client meets it: answers, reports, problems; once through a real server on the loopback."""

from __future__ import annotations

import json
import re
import socket
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest

from planner.reports import formats, load
from pricing.catalog.price_catalog import Catalog

SCRIPT = Path(sys.executable).with_name("planner")


def problem(response, status):
    assert response.status_code == status
    assert response.headers["content-type"] == "application/problem+json"
    document = response.json()
    assert document["status"] == status
    assert document["type"].startswith("urn:gpu-planner:problem:")
    assert document["title"]
    assert "Traceback" not in response.text
    return document


def places(response):
    return {fault["path"] for fault in problem(response, 422)["errors"]}


def test_a_request_a_workload_and_a_list_are_the_same_question(client, hours):
    query = {"as_of": hours["as_of"], "months": hours["months"], "strategies": "cloud"}
    [workload] = hours["workloads"]
    whole = client.post("/plan", json=hours)
    assert whole.status_code == 200, whole.text
    assert whole.headers["content-type"] == "application/json"
    alone = client.post("/plan", json=workload, params=query)
    listed = client.post("/plan", json=[workload], params=query)
    costs = {answer.json()["strategies"][0]["total_cost"] for answer in (whole, alone, listed)}
    assert len(costs) == 1
    assert costs.pop() > 0


def test_an_accelerator_of_the_past_is_answered_where_it_was_written(client, hours):
    [workload] = hours["workloads"]
    demand = {**workload["demand"], "accelerator": "MI25"}
    response = client.post("/plan", json={**hours, "workloads": [{**workload, "demand": demand}]})
    [fault] = problem(response, 422)["errors"]
    assert fault["path"] == "workloads[0].demand.accelerator"
    assert "not sold since 2026-09-30; instead Standard_NV6ads_A10_v5, from 0.4540 USD an hour" in fault["message"]


def test_the_query_wins_over_the_body(client, hours):
    params = {"months": "3", "providers": "aws,gcp", "strategies": "cloud", "start": "2027-02"}
    plan = client.post("/plan", json=hours, params=params).json()
    assert plan["month_names"] == ["2027-02", "2027-03", "2027-04"]


def test_the_answer_is_that_of_the_command(client, planner, job):
    ours = client.post("/plan", content=job.read_bytes(), headers={"content-type": "application/json"}).json()
    theirs = json.loads(planner("estimate", str(job), "--format", "json").out)
    assert ours.pop("inputs")["sha256"] == theirs.pop("inputs")["sha256"]
    assert ours == theirs


def test_same_input_same_bytes(client, hours):
    assert client.post("/plan", json=hours).content == client.post("/plan", json=hours).content


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", sorted(formats()))
def test_every_report_by_name_and_by_media_type(client, hours, name):
    media_type = load(name).MEDIA_TYPE
    by_name = client.post("/plan", json=hours, params={"format": name})
    assert by_name.status_code == 200
    assert by_name.headers["content-type"] == media_type
    by_type = client.post("/plan", json=hours, headers={"accept": media_type.partition(";")[0]})
    assert by_type.content == by_name.content


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("accept", "expected"),
    [
        ("*/*", "application/json"),
        ("text/html, application/json;q=0.9", "text/html"),
        ("text/*", "text/"),
        ("application/json;q=0.1, text/csv;q=0.8", "text/csv"),
        ("application/json;q=0, */*;q=0.1", "application/json"),
        ("text/csv;q=nonsense, text/markdown", "text/markdown"),
    ],
)
def test_the_best_acceptable_report_is_chosen(client, hours, accept, expected):
    answer = client.post("/plan", json=hours, headers={"accept": accept})
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith(expected)


def test_no_acceptable_report_is_406(client, hours):
    assert "text/csv" in problem(client.post("/plan", json=hours, headers={"accept": "image/png"}), 406)["detail"]


def test_infeasible_is_an_answer(client, impossible):
    answer = client.post("/plan", json=impossible)
    assert answer.status_code == 200
    assert answer.json()["status"] == "infeasible"
    assert answer.json()["reasons"]


def test_all_faults_at_once_in_the_words_of_the_command(client, planner, hours):
    hours["workloads"].append({"name": "b", "demand": {"accelerator_hours_per_month": -1, "accelerator": "H1000"}})
    hours["regions"] = ["us-esat-1"]
    answer = client.post("/plan", json=hours, params={"months": "0", "monthz": "1"})
    assert places(answer) >= {
        "?months",
        "?monthz",
        "regions[0]",
        "workloads[1].demand.accelerator_hours_per_month",
    }
    told = planner("estimate", "--months", "0", stdin=json.dumps(hours).encode()).err
    for fault in answer.json()["errors"]:
        if fault["path"] != "?monthz":
            assert fault["message"] in told
            assert fault["expected"] in told


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (
            [{"name": "x"}, {"name": "y", "demand": {"units_per_month": -1}}],
            {"[0].demand", "[1].demand.units_per_month"},
        ),
        ({"name": "x", "demand": {"units_per_month": -1}}, {"demand.units_per_month"}),
        ({"workloads": [{"name": "x"}]}, {"workloads[0].demand"}),
    ],
)
def test_paths_lead_into_the_body_as_it_was_sent(client, body, expected):
    assert places(client.post("/plan", json=body)) == expected


@pytest.mark.parametrize("body", [b"", b"{", b"nonsense", b'{"a": NaN}', b"\xff\xfe", b"[" * 100_0, b"3"])
def test_a_body_that_is_no_json_is_400(client, body):
    answer = client.post("/plan", content=body, headers={"content-type": "application/json"})
    assert problem(answer, 400)["errors"]


@pytest.mark.parametrize("declared", ["application/pdf", "application/x-www-form-urlencoded", "nonsense"])
def test_another_media_type_is_415_and_tells_what_is_taken(client, declared):
    detail = problem(client.post("/plan", content=b"a,b", headers={"content-type": declared}), 415)["detail"]
    assert all(taken in detail for taken in (declared, "application/json", "text/csv", "curl -F file=@review.xlsx"))


def test_a_large_body_is_413_whether_announced_or_not(client):
    problem(client.post("/plan", content=b" " * 30_000, headers={"content-type": "application/json"}), 413)
    pieces = (b" " * 1000 for _ in range(30))
    problem(client.post("/plan", content=pieces, headers={"content-type": "application/json"}), 413)


def test_what_is_not_there_is_a_problem_too(client):
    problem(client.get("/nothing"), 404)
    assert client.get("/plan").headers["allow"] == "POST"
    problem(client.get("/plan"), 405)
    assert places(client.get("/offers", params={"count": "x", "gpu": "T4"})) == {"?count", "?gpu"}


def test_an_unknown_format_is_told_with_the_other_faults(client):
    wrong = client.post("/plan?format=pdf&months=0&strategy=cloud", json={"name": "a"})
    assert places(wrong) == {"?format", "?months", "?strategy", "demand"}
    (expected,) = (fault["expected"] for fault in wrong.json()["errors"] if fault["path"] == "?format")
    assert "markdown" in expected


@pytest.mark.parametrize("name", ["site", "finance", "limits", "existing", "systems", "risk"])
def test_what_no_text_can_say_is_no_parameter(client, hours, name):
    (fault,) = client.post(f"/plan?{name}=x", json=hours).json()["errors"]
    assert (fault["path"], fault["message"]) == (f"?{name}", "unknown parameter")


def test_a_setting_that_is_said_twice_is_a_fault_and_a_list_is_not(client, hours):
    answer = client.post("/plan?months=1&months=2&providers=aws&providers=gcp&format=csv&format=json", json=hours)
    assert places(answer) == {"?months", "?format"}


def test_an_empty_accept_header_accepts_anything(client, hours):
    answer = client.post("/plan", json=hours, headers={"accept": ""})
    assert answer.headers["content-type"] == "application/json"


def test_a_client_that_leaves_is_no_bug(client, caplog):
    head = "POST /plan HTTP/1.1\r\nhost: localhost\r\ncontent-type: text/csv\r\ncontent-length: 9\r\n\r\nGPU"
    with socket.create_connection((client.base_url.host, client.base_url.port)) as connection:
        connection.sendall(head.encode())
        connection.shutdown(socket.SHUT_WR)
        assert connection.recv(100) == b""
    assert client.get("/healthz").json()["status"] == "ok"
    assert "internal error" not in caplog.text


def test_a_bug_is_an_id_and_the_rest_is_in_the_log(client, monkeypatch, caplog):
    def broken():
        raise ZeroDivisionError("a secret detail")

    monkeypatch.setattr(Catalog, "current", broken)
    document = problem(client.get("/offers"), 500)
    assert re.fullmatch(r"[0-9a-f]{12}", document["id"])
    assert "secret" not in json.dumps(document)
    assert f"internal error {document['id']}" in caplog.text
    assert "a secret detail" in caplog.text


def test_offers_are_those_of_the_command(client, planner):
    ours = client.get("/offers", params={"accelerator": "H100", "count": "8", "sort": "price_per_rate", "limit": "4"})
    theirs = planner("offers", "--accelerator=H100", "--count=8", "--sort=price_per_rate", "--limit=4", "--json")
    assert ours.json() == json.loads(theirs.out)


def test_lists_in_a_query_may_be_repeated_or_joined(client):
    joined = client.get("/offers?provider=aws,gcp&accelerator=L4")
    repeated = client.get("/offers?provider=aws&provider=gcp&accelerator=L4")
    assert joined.json() == repeated.json()
    assert {row["provider"] for row in joined.json()["rows"]} == {"aws", "gcp"}


def test_accelerators_catalog_and_health(client):
    accelerators = client.get("/accelerators").json()
    assert {"H100-80GB-SXM", "L4-24GB"} <= {item["name"] for item in accelerators}
    catalog = client.get("/catalog").json()
    assert catalog["digest"] == Catalog.embedded().digest
    assert {line["provider"] for line in catalog["coverage"]} == set(Catalog.embedded().providers)
    assert catalog["age_days"] >= 0
    assert client.get("/healthz").json()["status"] == "ok"


def test_nothing_is_loaded_from_elsewhere(client):
    assert client.get("/docs").status_code == 404
    assert client.get("/redoc").status_code == 404


@pytest.mark.slow
def test_a_real_server_on_the_loopback(repository):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = subprocess.Popen(
        [SCRIPT, "serve", "--port", str(port), "--workers", "1"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        for _ in range(3000):
            try:
                httpx.get(f"http://127.0.0.1:{port}/healthz")
                break
            except httpx.ConnectError:
                time.sleep(0.1)
        request = (repository / "openapi/examples/measured.request.json").read_bytes()
        answer = httpx.post(
            f"http://127.0.0.1:{port}/plan",
            params={"as_of": "2026-11-21"},
            content=request,
            headers={"content-type": "application/json"},
            timeout=600,
        )
        assert answer.content == (repository / "openapi/examples/measured.answer.json").read_bytes()
    finally:
        server.terminate()
        out, _ = server.communicate(timeout=300)
    assert "Uvicorn running on http://127.0.0.1" in out
    assert "Traceback" not in out
