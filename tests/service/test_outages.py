"""PostgreSQL killed under a service that plans, and services replaced one after the other under load."""

from __future__ import annotations

import itertools
import json
import os
import secrets
import signal
import tempfile
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import httpx
import pytest
from sqlalchemy import create_engine, make_url, text

from planner.application import plan_document
from planner.service.store import open_store
from pricing.catalog.price_catalog import Catalog
from tests.service.test_runner import LARGE, LEASE, SHORT, free_port, is_up, program, start, until

pytestmark = pytest.mark.slow

LIMITS = ("--workers", "1", "--lease-seconds", str(LEASE), "--attempts", "20")
CLIENTS = 4


@pytest.fixture
def server() -> Iterator[object]:
    """A PostgreSQL server of this test alone."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # where it puts its sockets is told as a warning
        import pgserver
    with tempfile.TemporaryDirectory(prefix="planner-postgresql-", ignore_cleanup_errors=True) as folder:
        started = pgserver.get_server(folder)
        yield started
        started.cleanup()


def new_database(server) -> str:
    url = make_url(server.get_uri()).set(drivername="postgresql+psycopg")
    name = f"planner_{secrets.token_hex(4)}"
    engine = create_engine(url, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text(f"CREATE DATABASE {name}"))
    engine.dispose()
    return url.set(database=name).render_as_string(hide_password=False)


def start_again(server) -> None:
    """Starts PostgreSQL where its main process was killed; the processes below it take a moment to end."""

    def started() -> bool:
        with suppress(Exception):
            server.ensure_postgres_running()
            return True
        return False

    until(started)


def test_postgresql_is_killed_and_started_again_and_no_job_is_lost(server):
    url, port = new_database(server), free_port()
    store = open_store(url)
    key = store.keys.create("default", "ada", ("plan", "read"), None)[0]
    headers = {"authorization": f"Bearer {key}"}
    address = f"http://127.0.0.1:{port}"
    arguments = ("serve", "--store", url, "--port", str(port), "--auth", *LIMITS)
    with program(*arguments), httpx.Client(base_url=address, timeout=600, headers=headers) as client:
        until(lambda: is_up(client))
        asked = [client.post("/v1/plans", json=LARGE | {"months": 12})]
        asked += [client.post("/v1/plans", json=SHORT | {"months": months}) for months in range(3, 9)]
        places = [answer.headers["location"] for answer in asked]
        until(lambda: client.get(places[0]).json()["state"] == "running")

        os.kill(server.get_pid(), signal.SIGKILL)
        time.sleep(6)  # the key that was looked up is no longer remembered: the gate needs the store, too
        for answer in (
            client.get(places[0]),
            client.post("/v1/plans", json=SHORT | {"months": 20}),
            client.get("/readyz"),
        ):
            assert answer.status_code == 503
            assert answer.headers["retry-after"]
            assert answer.headers["content-type"] == "application/problem+json"
        assert "store" in {fault["path"] for fault in client.get("/readyz").json()["errors"]}
        assert client.get("/healthz").status_code == 200

        start_again(server)
        until(lambda: client.get(places[0]).status_code != 503)
        until(lambda: all(client.get(place).status_code == 200 for place in places))
        until(lambda: client.get("/readyz").status_code == 200)
        plans = [client.get(place).json() for place in places]
    store.close()
    assert [plan["months"] for plan in plans] == [12, *range(3, 9)]
    assert [plan["content_digest"] for plan in plans[1:]] == [own_digest(months=months) for months in range(3, 9)]


def own_digest(**changed: object) -> str:
    return plan_document(SHORT | changed, Catalog.current()).content_digest


def with_hours(number: int) -> dict:
    """A question that no other number asks."""
    return SHORT | {
        "workloads": [{"name": "batch", "demand": {"accelerator_hours_per_month": 100 + number, "accelerator": "L4"}}]
    }


def test_two_replicas_are_replaced_under_load_without_a_wrong_answer(store_url):
    """Clients ask either replica, and ask again where they find none or are told to; each replica is replaced once."""
    ports = [free_port(), free_port()]
    arguments = [("serve", "--store", store_url, "--port", str(port), *LIMITS) for port in ports]
    numbers, answers, refused = itertools.count(), dict[int, dict](), list[int]()
    replaced = threading.Event()

    def ask(first: int) -> None:
        with httpx.Client(timeout=600) as client:
            while not replaced.is_set():
                number = next(numbers)
                answers[number] = ask_until_answered(client, number, ports[first:] + ports[:first], refused)

    with replicas(arguments) as started:
        for port in ports:
            until(lambda port=port: answers_on(port))
        threads = [threading.Thread(target=ask, args=(number % 2,)) for number in range(CLIENTS)]
        for each in threads:
            each.start()
        for number, (port, command) in enumerate(zip(ports, arguments, strict=True)):
            done = len(answers)
            until(lambda done=done: len(answers) > done)
            started[number].terminate()
            started[number].wait()
            started[number] = start(command)
            until(lambda port=port: answers_on(port))
        replaced.set()
        for each in threads:
            each.join()
    assert sorted(answers) == list(range(len(answers)))
    for number, plan in answers.items():
        assert plan["workloads"][0]["demand"] == [100 + number] * 2
        assert plan["strategies"][0]["present_cost"] > 0
    for number in (0, len(answers) - 1):
        assert answers[number]["content_digest"] == own_digest(**with_hours(number))
    assert set(refused) <= {202, 503}  # 202: accepted, and its replica ended before the plan was made
    store = open_store(store_url)
    assert store.jobs.count_open() == 0
    assert store.jobs.count_in_state("done") == len(answers)
    assert store.jobs.count_in_state("failed") == store.jobs.count_in_state("cancelled") == 0
    store.close()


def answers_on(port: int) -> bool:
    with httpx.Client(base_url=f"http://127.0.0.1:{port}") as client:
        return is_up(client)


def ask_until_answered(client: httpx.Client, number: int, ports: list[int], refused: list[int]) -> dict:
    """The plan of a question, asked by one idempotency key of replica after replica."""
    headers = {"prefer": "wait=600", "idempotency-key": f"question {number}"}
    while True:
        for port in ports:
            address = f"http://127.0.0.1:{port}/v1/plans"
            try:
                answer = client.post(address, json=with_hours(number), headers=headers)
            except httpx.TransportError:  # that replica ends or starts
                time.sleep(0.1)
                continue
            if answer.status_code == 200:
                return json.loads(answer.content)
            refused.append(answer.status_code)


@contextmanager
def replicas(arguments: list[tuple[str, ...]]) -> Iterator[list]:
    started = [start(each) for each in arguments]
    try:
        yield started
    finally:
        for each in started:
            each.kill()
            each.communicate()
