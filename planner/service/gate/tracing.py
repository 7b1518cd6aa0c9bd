"""Requests as spans of OpenTelemetry: off unless one of its own variables names a collector."""

from __future__ import annotations

import os
import time
from collections.abc import Callable

from planner.service.gate.request_records import RequestRecord

ENDPOINTS = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
"""Variables of the OpenTelemetry specification; its others (headers, sampling, resource) work as well."""


class RequestTracer:
    """Sends a span for each record to the collector that the environment names. Needs the extra `otel`."""

    def __init__(self) -> None:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import SERVICE_NAME, Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor

        named = Resource.create({SERVICE_NAME: os.environ.get("OTEL_SERVICE_NAME", "gpu-planner")})
        self._provider = TracerProvider(resource=named)
        self._provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
        self._tracer = self._provider.get_tracer("planner.service")

    def trace_request(self, record: RequestRecord) -> None:
        """Send the span of a request; it continues the trace of a caller that states one (traceparent)."""
        from opentelemetry.trace import SpanKind
        from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

        end = time.time_ns()
        span = self._tracer.start_span(
            f"{record.method} {record.route}".rstrip(),
            context=TraceContextTextMapPropagator().extract({"traceparent": record.trace_parent}),
            kind=SpanKind.SERVER,
            start_time=end - round(record.milliseconds * 1e6),
            attributes={
                "http.request.method": record.method,
                "http.route": record.route,
                "http.response.status_code": record.status,
                "planner.request_id": record.request_id,
            },
        )
        span.end(end)

    def close(self) -> None:
        """Send what has not been sent."""
        self._provider.shutdown()


def open_tracer(on_missing: Callable[[str], None]) -> RequestTracer | None:
    """The tracer, None where no collector is named; `on_missing` hears which variable asks for what is not
    installed."""
    stated = next((name for name in ENDPOINTS if os.environ.get(name)), None)
    if stated is None or os.environ.get("OTEL_SDK_DISABLED", "").lower() == "true":
        return None
    try:
        return RequestTracer()
    except ModuleNotFoundError:
        on_missing(stated)
        return None
