"""Puts the gate in front of the routes."""

from __future__ import annotations

import logging

from fastapi import FastAPI

from planner.service.gate.audit_trail import AuditRecorder
from planner.service.gate.authentication import Authentication
from planner.service.gate.identity_tokens import IdentityTokens
from planner.service.gate.log_lines import log_request
from planner.service.gate.metrics import ServiceMetrics
from planner.service.gate.origins import OwnOrigin
from planner.service.gate.rate_limits import RateLimits
from planner.service.gate.request_records import RequestRecorder
from planner.service.gate.response_headers import StrictHeaders
from planner.service.gate.settings import AccessSettings, GateSettings
from planner.service.gate.store_outages import StoreOutages
from planner.service.gate.time_limits import RequestLimits
from planner.service.gate.tracing import RequestTracer, open_tracer
from planner.service.gate.trusted_hosts import TrustedHosts
from planner.service.store import ServiceStore
from pricing.frozen_values import dataclass

log = logging.getLogger("planner.service")


@dataclass(frozen=True, slots=True)
class Gate:
    """What the gate records."""

    metrics: ServiceMetrics
    tracer: RequestTracer | None

    def close(self) -> None:
        """Send what has not been sent."""
        if self.tracer is not None:
            self.tracer.close()


def install_gate(app: FastAPI, settings: GateSettings, access: AccessSettings) -> Gate:
    """Add the middleware to `app`, which has the store; what is added last sees a request first. Raises ValueError
    for settings that cannot be right."""

    def store() -> ServiceStore:
        opened: ServiceStore = app.state.store  # from the start of the service on
        return opened

    tokens = IdentityTokens(access) if access.oidc_issuer else None
    gate = Gate(ServiceMetrics(), open_tracer(_warn_of_missing_extra))
    observers = [log_request, gate.metrics.count_request, *([gate.tracer.trace_request] if gate.tracer else [])]
    app.add_middleware(AuditRecorder, store=store)
    app.add_middleware(RateLimits, settings=access, store=store)
    app.add_middleware(Authentication, store=store, tokens=tokens, required=access.key_required)
    app.add_middleware(StoreOutages)
    app.add_middleware(OwnOrigin, allowed=settings.allowed_origins)
    app.add_middleware(TrustedHosts, allowed=settings.allowed_hosts)
    app.add_middleware(RequestLimits, settings=settings)
    app.add_middleware(StrictHeaders)
    app.add_middleware(RequestRecorder, observers=observers)
    return gate


def _warn_of_missing_extra(variable: str) -> None:
    log.warning("%s is set, but pip install 'gpu-planner[otel]' is missing: no traces are sent", variable)
