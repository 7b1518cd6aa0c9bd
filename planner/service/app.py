"""The HTTP application: its routes, its store and its workers. Plans are computed by worker processes; only
offers, which are fast, are computed here."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from importlib.metadata import version
from pathlib import Path

from fastapi import FastAPI
from starlette_compress import CompressMiddleware

from planner.service import openapi_reviews, openapi_schemas, problems
from planner.service.gate.gate import install_gate
from planner.service.gate.settings import AccessSettings, GateSettings
from planner.service.gate.store_outages import answer_store_outage
from planner.service.http_content import ContentDigestMiddleware
from planner.service.limits import ServiceLimits
from planner.service.page_files import install_page
from planner.service.plan_desk import PlanDesk
from planner.service.queue import RenderPool
from planner.service.review_documents import Review
from planner.service.routes import catalogue, operations, plans, reviews
from planner.service.store import open_store
from planner.service.store.engine import STORE_FILE, STORE_OUTAGES, sqlite_url
from pricing.accelerator import Accelerator


def create(
    limits: ServiceLimits | None = None,
    store_url: str = "",
    gate_settings: GateSettings | None = None,
    access: AccessSettings | None = None,
) -> FastAPI:
    """The service; its workers start with the first plan and end with the service. Without a URL of a store, jobs
    and plans end with it too."""
    limits = limits or ServiceLimits()

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        with ExitStack() as ending:
            folder = "" if store_url else ending.enter_context(tempfile.TemporaryDirectory(prefix="planner-store-"))
            app.state.store = open_store(store_url or sqlite_url(Path(folder) / STORE_FILE))
            ending.callback(app.state.store.close)
            app.state.desk = PlanDesk(app.state.store, limits, app.state.gate.metrics)
            ending.callback(app.state.desk.close)
            operations.add_gauges(app)
            app.state.renders = RenderPool(limits)
            ending.callback(app.state.renders.close)
            ending.callback(app.state.gate.close)
            yield

    app = FastAPI(
        title="gpu-planner",
        version=version("gpu-planner"),
        description=openapi_schemas.DESCRIPTION,
        lifespan=lifespan,
        docs_url=None,  # its page loads scripts from elsewhere; this service works without a network
        redoc_url=None,
        generate_unique_id_function=lambda route: route.name,
    )
    app.state.limits = limits
    problems.install_error_handlers(app)
    for outage in STORE_OUTAGES:
        app.add_exception_handler(outage, answer_store_outage)
    app.add_middleware(ContentDigestMiddleware)
    app.add_middleware(CompressMiddleware, brotli=False)
    app.state.gate = install_gate(app, gate_settings or GateSettings(), access or AccessSettings())
    _add_routes(app)
    install_page(app)
    openapi_schemas.install_openapi(app)
    return app


def _add_routes(app: FastAPI) -> None:
    """Operations have a version in their path; those without are for users of earlier releases."""
    one_plan = "/v1/plans/{plan_id}"
    app.add_api_route("/plan", plans.plan, methods=["POST"], **openapi_schemas.PLAN)
    app.add_api_route("/v1/plans", plans.create_plan, methods=["POST"], **openapi_schemas.CREATE_PLAN)
    from_file = openapi_schemas.CREATE_PLAN_FROM_FILE
    app.add_api_route("/v1/plans/file", plans.create_plan_from_file, methods=["POST"], **from_file)
    app.add_api_route(one_plan, plans.read_plan, **openapi_schemas.READ_PLAN)
    app.add_api_route(one_plan, plans.delete_plan, methods=["DELETE"], **openapi_schemas.DELETE_PLAN)
    app.add_api_route(f"{one_plan}/again", plans.plan_again, methods=["POST"], **openapi_schemas.PLAN_AGAIN)
    app.add_api_route(f"{one_plan}/reports/{{format_name}}", plans.report, **openapi_schemas.REPORT)
    app.add_api_route(f"{one_plan}/events", plans.plan_events, **openapi_schemas.PLAN_EVENTS)
    for prefix in ("/v1", ""):
        shown = bool(prefix)
        path = f"{prefix}/plans/{{plan_id}}/terraform"
        app.add_api_route(path, plans.terraform, include_in_schema=shown, **openapi_schemas.TERRAFORM)
        app.add_api_route(f"{prefix}/offers", catalogue.offers, include_in_schema=shown, **openapi_schemas.OFFERS)
        accelerators = list[Accelerator]
        app.add_api_route(
            f"{prefix}/accelerators", catalogue.accelerators, include_in_schema=shown, response_model=accelerators
        )
        app.add_api_route(
            f"{prefix}/catalog", catalogue.catalog, include_in_schema=shown, response_model=catalogue.CatalogAge
        )
    _add_review_routes(app)
    app.add_api_route("/examples/{name}", catalogue.example, include_in_schema=False)
    app.add_api_route("/healthz", catalogue.healthz, response_model=catalogue.Health)
    app.add_api_route("/readyz", operations.readyz, **openapi_schemas.READY)
    app.add_api_route("/metrics", operations.metrics, include_in_schema=False)


def _add_review_routes(app: FastAPI) -> None:
    one, links, shared = "/v1/reviews/{review_id}", "/v1/reviews/{review_id}/links", "/v1/shared/{token}"
    app.add_api_route("/v1/reviews", reviews.create_review, methods=["POST"], **openapi_reviews.CREATE_REVIEW)
    app.add_api_route("/v1/reviews", reviews.list_reviews, response_model=list[Review])
    app.add_api_route(one, reviews.read_review, **openapi_reviews.READ_REVIEW)
    app.add_api_route(one, reviews.change_review, methods=["PUT"], **openapi_reviews.CHANGE_REVIEW)
    app.add_api_route(one, reviews.delete_review, methods=["DELETE"], **openapi_reviews.DELETE_REVIEW)
    app.add_api_route(links, reviews.share_review, methods=["POST"], **openapi_reviews.SHARE_REVIEW)
    app.add_api_route(links, reviews.end_sharing, methods=["DELETE"], **openapi_reviews.END_SHARING)
    app.add_api_route(shared, reviews.read_shared_review, **openapi_reviews.READ_SHARED_REVIEW)
    app.add_api_route(f"{shared}/plan", reviews.read_shared_plan, **openapi_reviews.READ_SHARED_PLAN)
    app.add_api_route("/v1/answers", reviews.list_answers, response_model=dict[str, str])
