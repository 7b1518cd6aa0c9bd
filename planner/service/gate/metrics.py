"""Figures of the service for Prometheus; docs/guides/operate.md says what each means and when to worry."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import version

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from starlette.responses import Response

from planner.service.gate.request_records import RequestRecord
from planner.service.store.jobs import JobEnd

REQUEST_SECONDS = (0.005, 0.02, 0.1, 0.5, 2, 10, 60, 300)
SOLVE_SECONDS = (0.05, 0.2, 0.5, 1, 2, 5, 15, 60, 300, 1800)
GAPS = (0, 1e-6, 1e-4, 1e-3, 0.01, 0.05, 0.2)


class ServiceMetrics:
    """The figures of one service, in a registry of its own."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._requests = Counter(
            "planner_requests",
            "Requests answered; 499: the client left before its answer.",
            ("method", "route", "status"),
            registry=self.registry,
        )
        self._request_seconds = Histogram(
            "planner_request_seconds", "Time to answer.", ("route",), buckets=REQUEST_SECONDS, registry=self.registry
        )
        self._solve_seconds = Histogram(
            "planner_solve_seconds", "Time to make a plan.", buckets=SOLVE_SECONDS, registry=self.registry
        )
        self._gaps = Histogram(
            "planner_plan_gap",
            "Distance of a plan from its proven bound, as a fraction of its cost.",
            buckets=GAPS,
            registry=self.registry,
        )
        self._plans = Counter(
            "planner_plans",
            "Questions by how they were answered: made, stored, rejected or failed.",
            ("answer",),
            registry=self.registry,
        )
        build = Gauge("planner_build_info", "Always 1; the version is its label.", ("version",), registry=self.registry)
        build.labels(version("gpu-planner")).set(1)

    def count_request(self, record: RequestRecord) -> None:
        """Count a request and its time."""
        self._requests.labels(record.method, record.route, str(record.status)).inc()
        self._request_seconds.labels(record.route).observe(record.milliseconds / 1000)

    def count_job(self, end: JobEnd, seconds: float) -> None:
        """Count a job that ended here: a plan that was made, with its time and gap, or why there is none."""
        rejected = 400 <= end.status < 500
        self._plans.labels("made" if end.state == "done" else "rejected" if rejected else "failed").inc()
        if end.state == "done":
            self._solve_seconds.observe(seconds)
        if end.gap is not None:
            self._gaps.observe(end.gap)

    def count_stored_plan(self) -> None:
        """Count a plan that was answered from the store."""
        self._plans.labels("stored").inc()

    def add_gauge(self, name: str, description: str, read: Callable[[], float]) -> None:
        """A figure that is read whenever Prometheus asks."""
        Gauge(name, description, registry=self.registry).set_function(read)

    def exposition(self) -> Response:
        """All figures in the text format of Prometheus."""
        return Response(generate_latest(self.registry), media_type=CONTENT_TYPE_LATEST)
