"""The HTTP routes. Plans are computed by worker processes; only offers, which are fast, are computed here."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import date
from functools import cache
from importlib.metadata import version

from fastapi import FastAPI, Request
from fastapi.responses import Response
from pydantic import BaseModel, TypeAdapter

from planner.reports import formats
from planner.request.errors import InputProblem, InvalidRequest
from planner.request.offer_query import parse_offer_query
from planner.service import openapi_schemas, problems
from planner.service.plan_cache import PlanCache
from planner.service.plan_jobs import (
    COMPARE_TO,
    FORMAT,
    CrashedJob,
    RejectedRequest,
    RenderedPlan,
    UnreadablePrices,
    run_plan_job,
    run_terraform_job,
    warm_up,
)
from planner.service.problems import ProblemResponseError
from planner.service.uploads import read_upload
from planner.service.worker_pool import BusyError, ServiceLimits, TooLongError, WorkerPool
from pricing import accelerator
from pricing.accelerator import Accelerator
from pricing.catalog.adjusted_prices import check_rate_card
from pricing.catalog.price_catalog import Catalog, Coverage
from pricing.clock import today
from pricing.errors import InvalidSnapshot
from pricing.search import find_offers
from pricing.search.results import Offers

DEFAULT = "json"
JobAnswer = RenderedPlan | RejectedRequest | UnreadablePrices | CrashedJob


class Health(BaseModel):
    """Whether the service answers."""

    status: str
    """State of the service: ok."""
    version: str
    """Version of gpu-planner."""


class CatalogAge(BaseModel):
    """Coverage and age of the catalogue; equal digests give equal plans."""

    digest: str
    """Checksum of the catalogue; equal checksums give equal plans."""
    oldest_price: date
    """Date of the oldest price of a current offering."""
    age_days: int
    """Age of that price in days."""
    coverage: tuple[Coverage, ...]
    """Prices by provider, family and purchase option."""
    unpriced: tuple[tuple[str, str], ...]
    """Provider and instance type of offerings without any price."""


def create(limits: ServiceLimits | None = None) -> FastAPI:
    """The service; its workers start with the first plan and end with the service."""
    limits = limits or ServiceLimits()

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        app.state.pool = WorkerPool(limits, warm_up)
        app.state.plans = PlanCache(limits.plans_kept)
        yield
        app.state.pool.close()

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
    app.add_api_route("/plan", plan, methods=["POST"], **openapi_schemas.PLAN)
    app.add_api_route("/plans/{plan_id}/terraform", terraform, **openapi_schemas.TERRAFORM)
    app.add_api_route("/offers", offers, **openapi_schemas.OFFERS)
    app.add_api_route("/accelerators", accelerators, response_model=list[Accelerator])
    app.add_api_route("/catalog", catalog, response_model=CatalogAge)
    app.add_api_route("/healthz", healthz, response_model=Health)
    openapi_schemas.install_openapi(app)
    return app


async def plan(request: Request) -> Response:
    """Plan one workload, a list of workloads, a whole request, a spreadsheet or a bill.

    A file is the body itself, by its media type and name (?name=review.xlsx, or Content-Disposition), or the one file
    of a form, in its field `file`. The query may have settings of a request (?months=24), which override the body, and
    options for a sheet or a bill (?map=, ?dates=, ?sheet=, ?growth=, ?tag=, ?substitution=). What is doubtful in a
    sheet is answered by ?answer=, by an answers file in the form's field `answers`, or by ?accept_proposals=true.
    ?compare_to= is the plan_id of an earlier answer, to report the changes since. An infeasible demand is a valid
    request: 200 with `status` infeasible and the reasons. The format of the report is ?format=, else the best match of
    the Accept header, else JSON.
    """
    query = _query_lists(request)
    format_name = _negotiate_format(query, request.headers.get("accept") or "*/*")
    limits: ServiceLimits = request.app.state.limits
    last = _cached_plan(request, query.pop(COMPARE_TO, [""])[-1])
    body = await read_upload(request, limits, query.pop("name", [""])[-1])
    answer = await _run_in_worker(request, run_plan_job, body, query, format_name, last)
    if isinstance(answer, RenderedPlan):
        request.app.state.plans.add(answer.plan_id, answer.compressed_plan)
    return _to_response(answer)


async def terraform(request: Request, plan_id: str) -> Response:
    """Terraform that provisions an earlier plan, as a zip: one root module per provider, and a README.

    The plan is one of the last that POST /plan answered. ?strategy= is one of its strategies (default: the one it
    recommends), ?nodes= vm (default) or kubernetes.
    """
    document = _cached_plan(request, plan_id)
    query = _query_lists(request)
    known = ("strategy", "nodes")
    faults = [
        InputProblem(f"?{name}", f"?{name}", "unknown parameter", name, f"one of {', '.join(known)}")
        for name in query
        if name not in known
    ]
    if faults:
        raise InvalidRequest(tuple(faults))
    strategy, nodes = query.get("strategy", [None])[-1], query.get("nodes", ["vm"])[-1]
    return _to_response(await _run_in_worker(request, run_terraform_job, document, strategy, nodes))


def _cached_plan(request: Request, plan_id: str) -> bytes | None:
    """A plan of the cache, None for an empty id; ProblemResponseError if the cache does not have it."""
    document: bytes | None = request.app.state.plans.get(plan_id)
    if plan_id and document is None:
        limits: ServiceLimits = request.app.state.limits
        detail = f"Only the last {limits.plans_kept} plans are in memory; post the request again."
        raise ProblemResponseError(problems.problem_response(404, "no-such-plan", "No such plan", detail))
    return document


async def _run_in_worker(request: Request, work: Callable[..., JobAnswer], *arguments: object) -> JobAnswer:
    """The answer of a worker; ProblemResponseError if the queue is full or the time limit has passed."""
    limits: ServiceLimits = request.app.state.limits
    try:
        answer: JobAnswer = await request.app.state.pool.run(work, *arguments)
    except BusyError:
        detail = "The queue is full; try again in a few seconds."
        raise ProblemResponseError(problems.problem_response(503, "busy", "Busy", detail)) from None
    except TooLongError:
        detail = f"No plan was proven optimal in {limits.seconds:g} seconds; reduce workloads, months or regions."
        raise ProblemResponseError(problems.problem_response(504, "too-long", "Too long", detail)) from None
    return answer


def _to_response(answer: JobAnswer) -> Response:
    if isinstance(answer, CrashedJob):
        return problems.internal_error_response(answer.details)
    if isinstance(answer, UnreadablePrices):
        return problems.unreadable_prices_response(InvalidSnapshot(answer.faults))
    if isinstance(answer, RejectedRequest):
        return problems.invalid_request_response(
            answer.complaints, readable=answer.readable, doubts=answer.doubts, answers=answer.answers
        )
    return Response(answer.data, media_type=answer.media_type)


def offers(request: Request) -> Response:
    """Every matching offering at each of its known prices, with source and date; offerings without a price as gaps."""
    opened = Catalog.current()
    if wrong := check_rate_card(opened):
        raise InvalidSnapshot(wrong)  # the rate card belongs to the service: not a problem of the request
    result = find_offers(parse_offer_query(_query_lists(request), opened, lambda name: f"?{name}"), opened)
    return Response(_offers_adapter().dump_json(result), media_type="application/json")


def accelerators() -> tuple[Accelerator, ...]:
    """Every accelerator by its canonical name, with its specification; null is unknown."""
    return accelerator.accelerators()


def catalog() -> CatalogAge:
    """Coverage and age of the catalogue."""
    opened = Catalog.current()
    oldest = opened.oldest()
    return CatalogAge(
        digest=opened.digest,
        oldest_price=oldest,
        age_days=(today() - oldest).days,
        coverage=opened.coverage(),
        unpriced=tuple(offering.key for offering in opened.unpriced()),
    )


def healthz() -> Health:
    """Whether the service answers."""
    return Health(status="ok", version=version("gpu-planner"))


@cache
def _offers_adapter() -> TypeAdapter[Offers]:
    return TypeAdapter(Offers)


def _query_lists(request: Request) -> dict[str, list[str]]:
    return {name: request.query_params.getlist(name) for name in request.query_params}


def _negotiate_format(query: dict[str, list[str]], accept: str) -> str:
    """The report format of ?format=, which is removed from the query, or of the Accept header.

    An unknown format stays in the query, to be reported with the other problems of the request.
    """
    if query.get(FORMAT):
        (format_name, *others) = query[FORMAT]
        return query.pop(FORMAT)[0] if format_name in formats() and not others else DEFAULT
    by_media_type = openapi_schemas.media_types()
    for media_range in _by_preference(accept):
        kind, _, sub = media_range.partition("/")
        for media_type, name in by_media_type.items():
            if media_range in ("*/*", media_type) or (sub == "*" and media_type.startswith(f"{kind}/")):
                return name
    detail = f"Available media types: {', '.join(by_media_type)}."
    raise ProblemResponseError(problems.problem_response(406, "not-acceptable", "No such report", detail))


def _by_preference(accept: str) -> list[str]:
    """The media ranges of an Accept header, the most preferred first; those of quality 0 are left out."""
    ranges = []
    for part in accept.split(","):
        media_range, *parameters = (piece.strip().lower() for piece in part.split(";"))
        quality = next((p.removeprefix("q=") for p in parameters if p.startswith("q=")), "1")
        try:
            ranges.append((float(quality), media_range))
        except ValueError:
            continue
    return [media_range for quality, media_range in sorted(ranges, key=lambda item: -item[0]) if quality > 0]
