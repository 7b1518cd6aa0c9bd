"""What is recorded of requests: lines of the log and figures for Prometheus, and what is in neither."""

from __future__ import annotations

import gzip
import json
import logging
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from planner.service import ServiceLimits
from planner.service.gate.log_lines import JsonLines
from tests.doors.conftest import serving
from tests.doors.gate.conftest import NARROW, read_to_end

SCRIPT = Path(sys.executable).with_name("planner")
REQUESTS = "planner.service.requests"


def records(caplog, route=None):
    """The records of requests to a route; those of earlier tests may come late."""
    found = [record.request for record in caplog.records if record.name == REQUESTS]
    return [record for record in found if route in (None, record["route"])]


def figures(client):
    """Every sample by its name and labels."""
    families = text_string_to_metric_families(client.get("/metrics").text)
    return {
        (sample.name, *sorted(sample.labels.items())): sample.value for family in families for sample in family.samples
    }


@contextmanager
def collecting():
    """A collector of traces on the loopback: its URL, and what it has received."""
    received = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["content-length"]))
            received.append((self.path, gzip.decompress(body) if self.headers["content-encoding"] == "gzip" else body))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}", received
        server.shutdown()
        thread.join()


def wait_for(condition):
    """A record is made when the answer has been sent, so a client may be faster."""
    while not condition():
        time.sleep(0.01)


def test_one_record_a_request_with_the_route_and_without_the_path(narrow, caplog):
    with caplog.at_level(logging.INFO, REQUESTS):
        answer = narrow.get("/plans/confidential-plan/terraform?strategy=secret-query", headers={"x-request-id": "a-1"})
        assert answer.status_code == 404
        assert answer.headers["x-request-id"] == "a-1"
        wait_for(lambda: records(caplog, "/plans/{plan_id}/terraform"))
    [record] = records(caplog, "/plans/{plan_id}/terraform")
    assert (record["request_id"], record["method"], record["status"]) == ("a-1", "GET", 404)
    assert record["milliseconds"] > 0
    assert "confidential" not in caplog.text
    assert "secret" not in caplog.text


@pytest.mark.parametrize("stated", ["", "with space", "x" * 65, 'quote"', "new\\nline"])
def test_an_unusable_request_id_is_replaced(narrow, stated):
    made = narrow.get("/healthz", headers={"x-request-id": stated}).headers["x-request-id"]
    assert re.fullmatch(r"[0-9a-f]{16}", made)


def test_a_client_that_leaves_is_499(connect, caplog):
    with caplog.at_level(logging.INFO, REQUESTS):
        connection = connect()
        connection.sendall(b"POST /plan HTTP/1.1\r\nhost: localhost\r\ncontent-length: 9\r\n\r\n{")
        connection.shutdown(socket.SHUT_WR)
        read_to_end(connection)
        wait_for(lambda: records(caplog, "/plan"))
    assert [record["status"] for record in records(caplog, "/plan")] == [499]


def test_a_client_that_leaves_while_its_plan_is_made_is_499(connect, hours, caplog):
    body = json.dumps({**hours, "months": 36}).encode()
    with caplog.at_level(logging.INFO, REQUESTS):
        connection = connect()
        head = (
            f"POST /plan HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {len(body)}"
        )
        connection.sendall(f"{head}\r\n\r\n".encode() + body)
        connection.close()
        wait_for(lambda: records(caplog, "/plan"))
    assert [record["status"] for record in records(caplog, "/plan")] == [499]


def test_requests_are_counted_by_route_and_status(narrow):
    name = "planner_requests_total"
    ok = (name, ("method", "GET"), ("route", "/healthz"), ("status", "200"))
    unknown = (name, ("method", "other"), ("route", ""), ("status", "404"))
    before = figures(narrow)
    for _ in range(3):
        narrow.get("/healthz")
    for path in ("/nothing", "/elsewhere"):
        narrow.request("BREW", path)
    wait_for(lambda: figures(narrow).get(ok, 0) == before.get(ok, 0) + 3)
    wait_for(lambda: figures(narrow).get(unknown, 0) == before.get(unknown, 0) + 2)
    seconds = ("planner_request_seconds_count", ("route", "/healthz"))
    assert figures(narrow)[seconds] == before.get(seconds, 0) + 3


def test_a_line_is_one_json_object_whatever_is_logged():
    logger = logging.getLogger("planner.service")
    record = logger.makeRecord("planner.service", logging.ERROR, "f", 1, "two\nlines %s", ('"x"',), None)
    line = JsonLines().format(record)
    assert "\n" not in line
    assert json.loads(line)["message"] == 'two\nlines "x"'
    assert json.loads(line)["time"].endswith("+00:00")


def test_sigterm_answers_what_it_breaks_off_with_a_problem(tmp_path):
    """A body that is still coming when the service ends: 503 as a problem, no text/plain 500, no traceback."""
    log = tmp_path / "log"
    with log.open("wb") as lines:
        server = subprocess.Popen([SCRIPT, "serve", "--port", "0", "--workers", "1"], stdout=lines, stderr=lines)
    try:
        while b"Uvicorn running" not in log.read_bytes():
            assert server.poll() is None
            time.sleep(0.1)
        port = int(re.search(rb"http://127.0.0.1:(\d+)", log.read_bytes())[1])
        assert httpx.get(f"http://127.0.0.1:{port}/healthz").status_code == 200
        with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
            connection.sendall(b"POST /plan HTTP/1.1\r\nhost: localhost\r\ncontent-length: 9\r\n\r\n{")
            time.sleep(0.2)  # the request has begun; its body never ends
            server.send_signal(signal.SIGTERM)
            answer = read_to_end(connection)
    finally:
        server.terminate()
        server.wait(60)
    assert (answer.status, answer.problem()) == (503, "shutting-down")
    assert answer.headers["retry-after"] == "5"
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert [line["status"] for line in lines if line.get("route") == "/plan"] == [503]
    assert "Traceback" not in log.read_text()


def test_requests_are_spans_where_a_collector_is_named(monkeypatch):
    """A collector on the loopback takes what the exporter sends: the span continues the trace of its caller."""
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    with collecting() as (url, received):
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", url)
        with serving(ServiceLimits(workers=0), gate=NARROW) as client:
            parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
            client.get("/healthz?secret", headers={"traceparent": parent, "x-request-id": "r-1"})
    [(path, body)] = received
    assert path == "/v1/traces"
    message = ExportTraceServiceRequest.FromString(body)
    [span] = [span for group in message.resource_spans for scope in group.scope_spans for span in scope.spans]
    assert span.trace_id.hex() == "0af7651916cd43dd8448eb211c80319c"
    assert span.parent_span_id.hex() == "b7ad6b7169203331"
    assert span.name == "GET /healthz"
    values = {item.key: item.value.string_value or item.value.int_value for item in span.attributes}
    assert values["http.response.status_code"] == 200
    assert values["planner.request_id"] == "r-1"
    assert b"secret" not in body
