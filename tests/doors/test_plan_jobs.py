"""Plans as jobs: asked for, followed, cancelled, and found again after a restart."""

from __future__ import annotations

import json
import time

import httpx
import pytest

LARGE = {
    "as_of": "2026-11-21",
    "months": 60,
    "workloads": [
        {
            "name": f"team {number}",
            "demand": {"accelerator_hours_per_month": 2000 + 700 * number, "accelerator": "H100"},
        }
        for number in range(40)
    ],
}


def finished(client, location):
    """The last answer of a job, when it has ended."""
    while (answer := client.get(location)).status_code == 202:
        time.sleep(0.05)
    return answer


def test_a_plan_is_asked_for_and_read_when_it_is_made(client, hours):
    posted = client.post("/v1/plans", json=hours)
    assert posted.status_code == 202
    state = posted.json()
    assert posted.headers["location"] == f"/v1/plans/{state['id']}"
    answer = finished(client, posted.headers["location"])
    assert answer.status_code == 200
    assert answer.content == client.post("/plan", json=hours).content
    by_plan_id = client.get(f"/v1/plans/{answer.json()['plan_id']}")
    assert by_plan_id.json()["content_digest"] == answer.json()["content_digest"]


def test_who_prefers_to_wait_gets_the_plan(client, hours):
    answer = client.post("/v1/plans", json=hours, headers={"prefer": "wait=600"})
    assert answer.status_code == 200
    assert answer.headers["preference-applied"] == "wait=600"
    assert client.get(answer.headers["location"]).content == answer.content


def test_events_end_with_the_last_state(client, hours):
    location = client.post("/v1/plans", json=hours, params={"months": 3}).headers["location"]
    with client.stream("GET", f"{location}/events") as events:
        assert events.headers["content-type"].startswith("text/event-stream")
        lines = [line for line in events.iter_lines() if line]
    states = [json.loads(line.removeprefix("data: "))["state"] for line in lines if line.startswith("data: ")]
    assert states[-1] == "done"
    assert set(states) <= {"queued", "running", "done"}


def test_a_fault_is_the_answer_of_its_job(client, hours):
    location = client.post("/v1/plans", json={**hours, "months": 0}).headers["location"]
    answer = finished(client, location)
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["path"] == "months"


def test_a_plan_that_nobody_asked_for_is_404(client):
    for method, path in (("GET", ""), ("DELETE", ""), ("GET", "/events")):
        answer = client.request(method, f"/v1/plans/0123456789ab{path}")
        assert answer.status_code == 404
        assert answer.headers["content-type"] == "application/problem+json"


def test_what_is_cancelled_is_gone(client):
    """One that has ended before it is cancelled is deleted instead: this one waits behind another."""
    ahead = client.post("/v1/plans", json=LARGE, params={"months": 52}).headers["location"]
    running(client, ahead)
    location = client.post("/v1/plans", json=LARGE).headers["location"]
    assert client.get(location).json()["state"] == "queued"
    assert client.delete(location).status_code == 204
    assert client.delete(ahead).status_code == 204
    answer = client.get(location)
    assert answer.status_code == 410
    assert answer.json()["type"] == "urn:gpu-planner:problem:cancelled"


def test_what_is_deleted_is_gone(client, hours):
    location = client.post("/v1/plans", json=hours, params={"months": 4}, headers={"prefer": "wait=600"}).headers[
        "location"
    ]
    assert client.delete(location).status_code == 204
    assert client.get(location).status_code == 404


@pytest.mark.slow
def test_an_equal_question_has_the_stored_answer(client, hours):
    first = client.post("/v1/plans", json=hours, params={"months": 6}, headers={"prefer": "wait=600"})
    again = client.post("/v1/plans", json=hours, params={"months": 6})
    assert again.headers["location"] == first.headers["location"]
    assert again.json()["state"] == "done"
    other = client.post("/v1/plans", json=hours, params={"months": 7})
    assert other.headers["location"] != first.headers["location"]


def test_a_deleted_answer_is_made_again(client, hours):
    first = client.post("/v1/plans", json=hours, params={"months": 8}, headers={"prefer": "wait=600"})
    client.delete(first.headers["location"])
    again = client.post("/v1/plans", json=hours, params={"months": 8}, headers={"prefer": "wait=600"})
    assert again.headers["location"] != first.headers["location"]
    assert again.content == first.content


def test_a_request_sent_twice_with_its_key_is_one_job(client, hours):
    headers = {"idempotency-key": "first try"}
    first = client.post("/v1/plans", json=hours, params={"months": 9}, headers=headers)
    again = client.post("/v1/plans", json=hours, params={"months": 9}, headers=headers)
    assert again.headers["location"] == first.headers["location"]
    other = client.post("/v1/plans", json=hours, params={"months": 10}, headers=headers)
    assert other.status_code == 422
    assert other.json()["errors"][0]["path"] == "Idempotency-Key"
    long = client.post("/v1/plans", json=hours, headers={"idempotency-key": "x" * 201})
    assert long.status_code == 422


def test_who_has_the_plan_already_is_not_sent_it_again(client, hours):
    location = client.post("/v1/plans", json=hours, headers={"prefer": "wait=600"}).headers["location"]
    answer = client.get(location)
    known = client.get(location, headers={"if-none-match": answer.headers["etag"]})
    assert (known.status_code, known.content) == (304, b"")
    assert client.get(location, headers={"if-none-match": '"another"'}).content == answer.content
    plain = client.get(location, headers={"accept-encoding": "identity"})
    assert "content-encoding" not in plain.headers
    assert plain.content == answer.content
    assert plain.headers["etag"] != answer.headers["etag"]
    assert client.get(location, headers={"if-none-match": plain.headers["etag"]}).status_code == 304


def running(client, location):
    """Waits until a job runs."""
    while client.get(location).json()["state"] == "queued":
        time.sleep(0.05)


def test_a_small_plan_does_not_wait_for_large_ones(client, hours):
    large = [client.post("/v1/plans", json=LARGE, params={"months": 59 + n}).headers["location"] for n in range(2)]
    running(client, large[0])
    small = client.post("/v1/plans", json=hours, params={"months": 11}, headers={"prefer": "wait=600"})
    assert small.status_code == 200
    states = [client.get(location).json() for location in large]
    assert {state["lane"] for state in states} == {"long"}
    assert [state["state"] for state in states] == ["running", "queued"]
    assert [client.delete(location).status_code for location in large] == [204, 204]


def test_a_job_that_its_only_client_leaves_is_cancelled(client):
    with pytest.raises(httpx.ReadTimeout):
        client.post("/plan", json=LARGE, params={"months": 55}, timeout=2)
    follow_up = client.post("/v1/plans", json=LARGE, params={"months": 55})
    assert follow_up.json()["started"] is None, "the first would be running and joined"
    client.delete(follow_up.headers["location"])


@pytest.mark.slow
def test_a_job_that_somebody_else_waits_for_goes_on(client):
    location = client.post("/v1/plans", json=LARGE, params={"months": 54}).headers["location"]
    running(client, location)
    with pytest.raises(httpx.ReadTimeout):
        client.post("/plan", json=LARGE, params={"months": 54}, timeout=1)
    time.sleep(1)
    assert client.get(location).json()["state"] == "running"
    client.delete(location)


@pytest.mark.slow
def test_who_waited_long_enough_comes_back(client):
    answer = client.post("/v1/plans", json=LARGE, params={"months": 53}, headers={"prefer": "respond-async, wait=1"})
    assert answer.status_code == 202
    assert answer.headers["preference-applied"] == "wait=1"
    running(client, answer.headers["location"])
    assert client.get(answer.headers["location"]).json()["state"] == "running"
    client.delete(answer.headers["location"])


@pytest.mark.slow
def test_plans_outlive_the_service(hours, tmp_path):
    from planner.service import ServiceLimits
    from tests.doors.conftest import serving

    store = f"sqlite:///{tmp_path / 'service.sqlite'}"
    with serving(ServiceLimits(workers=1, seconds=600), store) as client:
        plan = client.post("/plan", json=hours).json()
        waiting = client.post("/v1/plans", json=hours, params={"months": 5}).headers["location"]
    with serving(ServiceLimits(workers=1, seconds=600), store) as client:
        assert finished(client, waiting).status_code == 200
        assert client.get(f"/plans/{plan['plan_id']}/terraform").status_code == 200
        again = client.post("/plan", json=hours, params={"compare_to": plan["plan_id"], "months": 3})
        assert again.json()["changes"] is not None
