"""The command from a cold start, plans in a process that has done it before, and the service under load."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from itertools import count
from statistics import quantiles
from tempfile import TemporaryDirectory

import httpx
from catalogues import asked
from measure import (
    COLD_RUNS,
    HERE,
    LOAD_RUNS,
    ROOT,
    SCRIPT,
    WARM_RUNS,
    Figure,
    medians,
    processor_times,
    run,
    server,
    timed,
)
from portfolio import portfolio

from planner.application import plan
from planner.service.plan_jobs import RenderedPlan, run_plan_job, warm_up
from planner.service.uploads import Upload
from pricing.accelerator import match
from pricing.catalog.price_catalog import Catalog
from pricing.search import OfferQuery, find_offers

WORKLOAD = (ROOT / "openapi/examples/measured.request.json").read_bytes()
KINDS = {
    "training by hours": {
        "name": "training", "kind": "training", "gang": 8, "storage_gb": 5000,
        "demand": {"accelerator_hours_per_month": 20_000, "accelerator": "H100-SXM"},
    },
    "a service by requests": {
        "name": "service", "kind": "inference",
        "demand": {"requests_per_second": 200, "daily_shape": "day_and_evening"},
        "measurements": [{"accelerator": "L40S", "count": 1, "units_per_second": 20.0, "per": "job"}],
    },
    "batch in one cloud": {
        "name": "batch", "kind": "batch", "providers": ["gcp"], "may_be_owned": False,
        "demand": {"accelerator_hours_per_month": 3000, "accelerator": "A100-80GB-SXM"},
    },
}  # fmt: skip
"""One workload each, made up."""
LARGE = ((14, 12, 1.0), (10, 36, 1.0))
"""Workloads and months of made portfolios, and the goal of `quick` in processor seconds."""
ONE_PLAN_MS = 10.0
"""The goal of a plan of one workload that is asked for quickly."""
AMOUNTS = count(2)
"""What makes questions differ; the stored answer is to the first."""
QUERY = {"as_of": ["2026-11-21"], "months": ["12"], "start": ["2026-12"]}


def cold() -> Iterator[Figure]:
    """Whole processes in processor time, interpreter and imports included."""
    names = {
        "planner --help, cold": (4.0, ["--help"]),
        "planner offers, cold": (6.0, ["offers", "--accelerator", "H100", "--count", "8", "--limit", "20"]),
        "planner estimate, one workload, cold": (20.0, ["estimate", "--as-of", "2026-11-21", "examples/finetune.yaml"]),
    }
    commands = [partial(run, SCRIPT, *arguments) for _, arguments in names.values()]
    bare, *rest = processor_times([partial(run, sys.executable, "-c", "pass"), *commands], COLD_RUNS)
    yield Figure("python -c pass, cold", bare)
    for (name, (goal, _)), milliseconds in zip(names.items(), rest, strict=True):
        yield Figure(name, milliseconds, milliseconds / bare, "bare", goal)


def planned(document: bytes = WORKLOAD, **query: str) -> Callable[[], object]:
    def work() -> None:
        answer = run_plan_job(Upload(document), QUERY | {name: [text] for name, text in query.items()}, "json")
        assert isinstance(answer, RenderedPlan), answer

    return work


def warm() -> Iterator[Figure]:
    """Plans and queries in one process that has done it before."""
    warm_up()
    one, three = medians([planned(strategies="cloud"), planned()], WARM_RUNS)
    yield Figure("plan in process, one strategy, whole catalogue, warm", one)
    yield Figure("plan in process, three strategies, whole catalogue, warm", three, three / one, "one strategy")
    kinds = [json.dumps({"effort": "quick", "workloads": [workload]}).encode() for workload in KINDS.values()]
    for name, each in zip(KINDS, medians([planned(kind) for kind in kinds], WARM_RUNS), strict=True):
        yield Figure(f"the same of {name}, quick", each, each / ONE_PLAN_MS, f"{ONE_PLAN_MS:g} ms", 1.0)
    for workloads, months, goal_s in LARGE:
        request, took = portfolio(workloads, months, effort="quick"), []
        for _ in range(2):
            began = time.process_time()
            plan(request, Catalog.embedded())
            took.append(time.process_time() - began)
        title = f"{workloads} workloads x {months} months, quick, three strategies, CPU"
        yield Figure(title, took[-1] * 1000, took[-1] / goal_s, f"{goal_s:g} s", 1.0)
    catalog = Catalog.embedded()
    names = [item.name for item in match("H100")]
    query = OfferQuery(accelerator=tuple(names), min_count=8, option=("on_demand",))
    quotes, offers = medians([lambda: asked(catalog, names), lambda: find_offers(query, catalog)], 5 * WARM_RUNS)
    yield Figure(f"catalogue query, {len(catalog.quotes()):,} prices, warm", quotes)
    yield Figure("the same as offers (figures per node, gaps), warm", offers, offers / quotes, "the query")


def service() -> Iterator[Figure]:
    """POST /plan by a real server, against an echo by FastAPI in the same run; client and servers share the machine."""
    headers = {"content-type": "application/json"}
    params = {name: texts[0] for name, texts in QUERY.items()} | {"strategies": "cloud"}
    with (
        TemporaryDirectory() as folder,
        server(SCRIPT, "serve", "--port", "PORT", "--workers", "2", "--store", f"sqlite:///{folder}/store") as ours,
        echo() as theirs,
        httpx.Client(timeout=600) as client,
    ):

        def post_plan(amount: float | None = None) -> None:
            with client.stream(
                "POST", f"{ours}/plan", params=params, content=body(amount or next(AMOUNTS)), headers=headers
            ) as answer:
                answer.raise_for_status()
                for _ in answer.iter_raw():  # to unpack it is the client's work
                    pass

        def echoed() -> httpx.Response:
            return client.post(theirs, content=WORKLOAD, headers=headers).raise_for_status()

        one, stored, other = medians([post_plan, partial(post_plan, 1.0), echoed], WARM_RUNS)
        yield Figure("POST /plan, one workload, one strategy, warm", one, one / other, "FastAPI echo")
        yield Figure("POST /plan, its stored answer", stored, stored / other, "FastAPI echo", 2.0)
        yield from beside_large(client, ours, post_plan)
        with ThreadPoolExecutor(2) as threads:
            list(threads.map(lambda _: post_plan(), range(6)))  # the second worker starts when two clients ask at once
            start = time.perf_counter()
            times = list(threads.map(lambda _: timed(post_plan), range(LOAD_RUNS)))
            a_second = LOAD_RUNS / (time.perf_counter() - start)
        cuts = quantiles(times, n=100)
        yield Figure("POST /plan, two clients, p50", cuts[49])
        yield Figure("POST /plan, two clients, p99", cuts[98], cuts[98] / cuts[49], "p50", 5.0)
        yield Figure(
            f"POST /plan, two workers: {a_second:.0f} plans a second",
            1000 / a_second,
            a_second / 30,
            "30/s",
            1.0,
            at_most=False,
        )


def beside_large(client: httpx.Client, ours: str, plan: Callable[[], None]) -> Iterator[Figure]:
    """Small plans alone, and while large ones are made and wait."""
    idle = quantiles([timed(plan) for _ in range(LOAD_RUNS)], n=100)[98]
    large = [client.post(f"{ours}/v1/plans", json=large_request(number)).headers["location"] for number in range(4)]
    time.sleep(2)  # two of them run, two wait
    busy = quantiles([timed(plan) for _ in range(LOAD_RUNS)], n=100)[98]
    for location in large:
        client.delete(f"{ours}{location}").raise_for_status()
    yield Figure("POST /plan, one client, p99", idle)
    yield Figure("POST /plan beside four large plans, p99", busy, busy / idle, "alone", 3.0)


def body(amount: float) -> bytes:
    """The workload with a little more to do: a question that was not asked before."""
    document = json.loads(WORKLOAD)
    document["demand"]["total_units"] += 1000 * amount
    return json.dumps(document).encode()


def large_request(number: int) -> dict[str, object]:
    kinds = ("H100", "L4", "A100-80GB")
    workloads = [
        {
            "name": f"team {index}",
            "demand": {"accelerator_hours_per_month": 2000 + 700 * index + number, "accelerator": kinds[index % 3]},
        }
        for index in range(60)
    ]
    return {"as_of": "2026-11-21", "months": 60, "workloads": workloads}


@contextmanager
def echo() -> Iterator[str]:
    with server(
        sys.executable, "-m", "uvicorn", "--app-dir", HERE, "--port", "PORT", "--log-level", "error", "echo:app"
    ) as at:
        yield at
