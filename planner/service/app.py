"""The routes: who asks what, and which answer that is. Nothing is computed here but offers, which are quick."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import date
from functools import cache
from importlib.metadata import version

from fastapi import FastAPI, Request
from fastapi.responses import Response
from pydantic import BaseModel, Field, TypeAdapter

from planner.clock import today
from planner.errors import Complaint, InvalidRequest
from planner.offers import Offers, find, parse_query
from planner.reports import formats
from planner.service import documents, problems
from planner.service.kept import Kept
from planner.service.pool import BusyError, Limits, Pool, TooLongError
from planner.service.problems import Stop
from planner.service.sent import sent
from planner.service.solve import COMPARE_TO, FORMAT, Failed, NoPrices, Refused, Solved, provision, solve, warm_up
from pricing import accelerator
from pricing.accelerator import Accelerator
from pricing.catalog import Catalog, Coverage
from pricing.errors import BadSnapshot
from pricing.view import faults_of_card

DEFAULT = "json"
Answer = Solved | Refused | NoPrices | Failed


class Health(BaseModel):
    """Whether the service answers."""

    status: str
    version: str


class CatalogAge(BaseModel):
    """What the catalogue covers and how old it is; `digest` names it, equal digests give equal plans."""

    digest: str
    oldest_price: date
    age_days: int
    coverage: tuple[Coverage, ...]
    unpriced: tuple[tuple[str, str], ...] = Field(description="provider and type without any price: gaps")


def create(limits: Limits | None = None) -> FastAPI:
    """The service; its workers start with the first plan and end with it."""
    limits = limits or Limits()

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        app.state.pool = Pool(limits, warm_up)
        app.state.kept = Kept(limits.plans_kept)
        yield
        app.state.pool.close()

    app = FastAPI(
        title="gpu-planner",
        version=version("gpu-planner"),
        description=documents.DESCRIPTION,
        lifespan=lifespan,
        docs_url=None,  # its page loads scripts from elsewhere; this service works without a network
        redoc_url=None,
        generate_unique_id_function=lambda route: route.name,
    )
    app.state.limits = limits
    problems.install(app)
    app.add_api_route("/plan", plan, methods=["POST"], **documents.PLAN)
    app.add_api_route("/plans/{plan_id}/terraform", terraform, **documents.TERRAFORM)
    app.add_api_route("/offers", offers, **documents.OFFERS)
    app.add_api_route("/accelerators", accelerators, response_model=list[Accelerator])
    app.add_api_route("/catalog", catalog, response_model=CatalogAge)
    app.add_api_route("/healthz", healthz, response_model=Health)
    documents.install(app)
    return app


async def plan(request: Request) -> Response:
    """Plan one workload, a list of workloads, a whole request, a spreadsheet or a bill.

    A file is the body itself, by its media type and name (?name=review.xlsx, or Content-Disposition), or the one file
    of a form, in its field `file`. The query may hold settings of a request (?months=24), which win over the body, and
    what is to be said of a sheet or a bill (?map=, ?dates=, ?growth=, ?tag=, ?substitution=); ?compare_to= is the
    plan_id of an answer before, to tell what changed since. An infeasible demand is an answer: 200 with `status`
    infeasible and the reasons. The report is the one that ?format= names, else the best of the Accept header, else
    JSON.
    """
    query = _lists(request)
    format_name = _format(query, request.headers.get("accept") or "*/*")
    limits: Limits = request.app.state.limits
    last = _kept(request, query.pop(COMPARE_TO, [""])[-1])
    body = await sent(request, limits, query.pop("name", [""])[-1])
    answer = await _run(request, solve, body, query, format_name, last)
    if isinstance(answer, Solved):
        request.app.state.kept.add(answer.plan_id, answer.kept)
    return _answered(answer)


async def terraform(request: Request, plan_id: str) -> Response:
    """Terraform that provisions a plan answered before, as a zip: one root module a provider, and a README over all.

    The plan is one of the last that POST /plan answered. ?strategy= is one of its strategies (default: the one it
    recommends), ?nodes= vm (default) or kubernetes.
    """
    kept = _kept(request, plan_id)
    asked = _lists(request)
    known = ("strategy", "nodes")
    faults = [
        Complaint(f"?{name}", f"?{name}", "unknown parameter", name, f"one of {', '.join(known)}")
        for name in asked
        if name not in known
    ]
    if faults:
        raise InvalidRequest(tuple(faults))
    strategy, nodes = asked.get("strategy", [None])[-1], asked.get("nodes", ["vm"])[-1]
    return _answered(await _run(request, provision, kept, strategy, nodes))


def _kept(request: Request, plan_id: str) -> bytes | None:
    """A plan answered before; Stop where it is none of those that are kept. None where none is named."""
    kept: bytes | None = request.app.state.kept.get(plan_id)
    if plan_id and kept is None:
        limits: Limits = request.app.state.limits
        detail = f"The last {limits.plans_kept} plans are kept while the service runs; post the request again."
        raise Stop(problems.problem(404, "no-such-plan", "No such plan", detail))
    return kept


async def _run(request: Request, work: Callable[..., Answer], *arguments: object) -> Answer:
    """What a worker answers; Stop with a problem where none is free or it takes too long."""
    limits: Limits = request.app.state.limits
    try:
        answer: Answer = await request.app.state.pool.run(work, *arguments)
    except BusyError:
        detail = "As many plans wait as may; try again in a few seconds."
        raise Stop(problems.problem(503, "busy", "Busy", detail)) from None
    except TooLongError:
        detail = f"No plan was proven in {limits.seconds:g} seconds; ask for fewer workloads, months or regions."
        raise Stop(problems.problem(504, "too-long", "Too long", detail)) from None
    return answer


def _answered(answer: Answer) -> Response:
    if isinstance(answer, Failed):
        return problems.bug(answer.details)
    if isinstance(answer, NoPrices):
        return problems.unreadable_prices(BadSnapshot(answer.faults))
    if isinstance(answer, Refused):
        return problems.refused(answer.complaints, readable=answer.readable)
    return Response(answer.data, media_type=answer.media_type)


def offers(request: Request) -> Response:
    """Every offering that fits, at every price known for it, with source and date; gaps by name."""
    opened = Catalog.current()
    if wrong := faults_of_card(opened):
        raise BadSnapshot(wrong)  # the card is the service's own: no fault of who asks
    found = find(parse_query(_lists(request), opened, lambda name: f"?{name}"), opened)
    return Response(_offers().dump_json(found), media_type="application/json")


def accelerators() -> tuple[Accelerator, ...]:
    """Every accelerator by its canonical name, with its specification; null is unknown."""
    return accelerator.accelerators()


def catalog() -> CatalogAge:
    """What the catalogue covers and how old it is."""
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
def _offers() -> TypeAdapter[Offers]:
    return TypeAdapter(Offers)


def _lists(request: Request) -> dict[str, list[str]]:
    return {name: request.query_params.getlist(name) for name in request.query_params}


def _format(query: dict[str, list[str]], accept: str) -> str:
    """The report asked for by ?format=, which is taken out of the query, or by the Accept header.

    A format that there is none of stays in the query, to be told with whatever else is wrong with the request.
    """
    if query.get(FORMAT):
        (asked, *others) = query[FORMAT]
        return query.pop(FORMAT)[0] if asked in formats() and not others else DEFAULT
    by_media_type = documents.media_types()
    for wanted in _by_preference(accept):
        kind, _, sub = wanted.partition("/")
        for media_type, name in by_media_type.items():
            if wanted in ("*/*", media_type) or (sub == "*" and media_type.startswith(f"{kind}/")):
                return name
    detail = f"There are {', '.join(by_media_type)}."
    raise Stop(problems.problem(406, "not-acceptable", "No such report", detail))


def _by_preference(accept: str) -> list[str]:
    """The media ranges of an Accept header, the most wanted first; those of quality 0 are left out."""
    ranges = []
    for part in accept.split(","):
        media_range, *parameters = (piece.strip().lower() for piece in part.split(";"))
        quality = next((p.removeprefix("q=") for p in parameters if p.startswith("q=")), "1")
        try:
            ranges.append((float(quality), media_range))
        except ValueError:
            continue
    return [media_range for quality, media_range in sorted(ranges, key=lambda item: -item[0]) if quality > 0]
