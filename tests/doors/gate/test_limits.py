"""Slow, large and idle clients: what each gets, and that others are answered meanwhile."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
import time
from dataclasses import replace

import pytest

from planner.service import ServiceLimits
from planner.service.gate import connections
from planner.service.gate.connections import SENDING_SECONDS
from planner.service.gate.time_limits import UnreadAnswerError, _limit_send
from tests.doors.conftest import serving
from tests.doors.gate.conftest import NARROW, read_to_end

HEAD = b"POST /plan HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"


def test_headers_that_never_end_are_408(connect):
    connection = connect()
    connection.sendall(b"GET /healthz HTTP/1.1\r\nhost: local")
    answer = read_to_end(connection)
    assert (answer.status, answer.problem()) == (408, "slow-headers")


def test_headers_that_drip_are_408(connect):
    """Each byte comes in time; the whole does not. The limit is half a second, a second of bytes is sent."""
    connection = connect()

    def drip():
        for _ in range(600):
            connection.sendall(b"x")
            time.sleep(0.05)

    with pytest.raises(OSError, match=r"Broken pipe|reset"):
        drip()


def test_a_connection_without_a_byte_is_closed_silently(connect):
    assert read_to_end(connect()).data == b""


def test_a_connection_that_drips_after_an_answer_is_closed(connect):
    connection = connect()
    connection.sendall(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\nGET /healthz HTTP")
    answer = read_to_end(connection)
    assert answer.status == 200
    assert b"HTTP/1.1 408" in answer.body or answer.body.endswith(b"}")


def test_a_body_that_never_ends_is_408(connect):
    connection = connect()
    connection.sendall(HEAD + b"content-length: 100\r\n\r\n{")
    answer = read_to_end(connection)
    assert (answer.status, answer.problem()) == (408, "slow-body")


def test_too_large_headers_are_refused(connect):
    connection = connect()
    connection.sendall(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\nx: " + b"a" * 8192)
    assert read_to_end(connection).problem() == "not-http"


def test_too_many_headers_are_431(narrow):
    assert narrow.get("/healthz", headers={f"x-{n}": "1" for n in range(40)}).status_code == 431


def test_what_is_not_http_is_a_problem(connect):
    connection = connect()
    connection.sendall(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n")
    answer = read_to_end(connection)
    assert (answer.status, answer.problem()) == (400, "not-http")


ASK = b"GET /healthz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n"


def test_idle_connections_make_room_for_a_request():
    """The service takes 20 connections and no time limit helps: the oldest idle ones are closed, the newest are not."""
    with serving(ServiceLimits(workers=0), gate=replace(NARROW, header_seconds=600)) as client:
        address = (client.base_url.host, client.base_url.port)
        idle = [socket.create_connection(address, timeout=60) for _ in range(NARROW.connections)]
        time.sleep(SENDING_SECONDS + 0.2)
        idle += [socket.create_connection(address, timeout=60) for _ in range(NARROW.connections // 2)]
        assert client.get("/healthz").status_code == 200
        assert idle[0].recv(1) == b""
        idle[-1].sendall(ASK)
        assert read_to_end(idle[-1]).status == 200
        for connection in idle:
            connection.close()


def test_who_has_just_connected_is_not_closed_for_another(monkeypatch):
    """However late its request comes: a reset would leave it without an answer, and the other is told to try again."""
    monkeypatch.setattr(connections, "SENDING_SECONDS", 600.0)
    with serving(ServiceLimits(workers=0), gate=replace(NARROW, header_seconds=600, keep_alive_seconds=600)) as client:
        address = (client.base_url.host, client.base_url.port)
        first = [socket.create_connection(address, timeout=60) for _ in range(NARROW.connections - 1)]
        assert client.get("/healthz").status_code == 200  # kept open: the last that is taken
        with socket.create_connection(address, timeout=60) as refused:
            answer = read_to_end(refused)
        assert (answer.status, answer.problem()) == (503, "connections")
        for connection in first:
            connection.sendall(ASK)
        assert [read_to_end(connection).status for connection in first] == [200] * len(first)
        assert client.get("/healthz").status_code == 200
        for connection in first:
            connection.close()


def test_a_refusal_can_be_read_where_its_request_was_not():
    """All three connections of the service wait for a body; a fourth client has sent 100 kB when it is refused."""
    gate = replace(NARROW, connections=3, header_seconds=60, body_seconds=60)
    with serving(ServiceLimits(workers=0), gate=gate) as client:
        address = (client.base_url.host, client.base_url.port)
        for _ in range(3):
            used = [socket.create_connection(address, timeout=60) for _ in range(3)]
            for connection in used:
                connection.sendall(HEAD + b"content-length: 100\r\n\r\n{")
            time.sleep(0.2)  # all of them are answering
            with socket.create_connection(address, timeout=60) as refused:
                refused.sendall(HEAD + b"content-length: 100000\r\n\r\n" + b" " * 100_000)
                time.sleep(0.2)  # a reset would be here by now
                answer = read_to_end(refused)
            assert (answer.status, answer.problem()) == (503, "connections")
            for connection in used:
                connection.close()
            time.sleep(0.2)


def test_a_body_that_is_not_http_ends_its_request_at_once(connect, caplog):
    """The answer is followed by nothing: what waited for the body is told that the connection is closed."""
    connection = connect()
    connection.sendall(HEAD + b"transfer-encoding: chunked\r\n\r\nno length of a chunk\r\n")
    assert read_to_end(connection).problem() == "not-http"
    time.sleep(2 * NARROW.body_seconds)
    assert [record.getMessage() for record in caplog.records if record.levelname == "ERROR"] == []


def test_every_request_of_a_burst_is_answered():
    """60 clients ask at once where 20 connections are taken: those that came first are not closed for the others before
    their requests are read."""
    with serving(ServiceLimits(workers=0), gate=replace(NARROW, header_seconds=600)) as client:
        address = (client.base_url.host, client.base_url.port)
        clients = []
        for _ in range(60):
            clients.append(socket.create_connection(address, timeout=60))
            clients[-1].sendall(ASK)
        statuses = [read_to_end(each).status for each in clients]
        for each in clients:
            each.close()
    assert set(statuses) <= {200, 503}
    assert statuses.count(200) >= 20


def test_an_answer_that_is_not_taken_is_given_up():
    async def stuck(_):
        await asyncio.Event().wait()

    with pytest.raises(UnreadAnswerError):
        asyncio.run(_limit_send(stuck, 0.01)({"type": "http.response.body"}))


FLOOD = """
import resource, sys
resource.setrlimit(resource.RLIMIT_NOFILE, (1024, 1024))
from planner.cli import main
main()
"""


@pytest.mark.slow
def test_1100_idle_sockets_do_not_silence_the_service(tmp_path):
    """More sockets than the process may have files: uvicorn alone answers nothing here, and logs 27 MB in 6 s."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log = tmp_path / "log"
    with log.open("wb") as lines:
        server = subprocess.Popen(
            [sys.executable, "-c", FLOOD, "serve", "--port", str(port), "--header-seconds", "600"],
            stdout=lines,
            stderr=lines,
        )
    idle = []
    try:
        while b"Uvicorn running" not in log.read_bytes():
            assert server.poll() is None
            time.sleep(0.1)
        idle += [socket.create_connection(("127.0.0.1", port), timeout=60) for _ in range(1100)]
        time.sleep(SENDING_SECONDS + 0.2)
        for _ in range(5):
            connection = socket.create_connection(("127.0.0.1", port), timeout=60)
            connection.sendall(ASK)
            assert read_to_end(connection).status == 200
            connection.close()
    finally:
        server.terminate()
        server.wait(60)
        for connection in idle:
            connection.close()
    assert len(log.read_bytes().splitlines()) < 30
