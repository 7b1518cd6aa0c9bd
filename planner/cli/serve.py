"""`planner serve`: the HTTP service on this machine."""

from __future__ import annotations

import click


@click.command(short_help="Serve plans and offers over HTTP.")
@click.option(
    "--host", default="127.0.0.1", show_default=True, help="Address to listen on. There is no authentication."
)
@click.option(
    "--port",
    default=8000,
    show_default=True,
    type=click.IntRange(0, 65535),
    help="Port to listen on; 0 picks a free one.",
)
@click.option("--workers", type=click.IntRange(1, 256), help="Plans computed in parallel.  [default: one per CPU core]")
def command(host: str, port: int, workers: int | None) -> None:
    """Answer POST /plan, GET /offers, /accelerators, /catalog and /healthz until interrupted.

    The service stores nothing on disk. It holds the last 64 plans in memory, for ?compare_to= and for Terraform. It
    needs no network: it plans with the prices on this machine. It listens on the loopback interface unless --host is
    set; put an authenticating proxy in front of it before you expose it.

    \b
    Examples:
      planner serve
      planner serve --port 9000 --workers 4
      curl -s localhost:8000/plan -H 'content-type: application/json' -d @examples/request.json
      curl -s 'localhost:8000/offers?accelerator=H100&count=8&sort=price'
    """
    import uvicorn

    from planner.service import ServiceLimits, create
    from pricing.catalog.price_catalog import Catalog

    Catalog.current()  # unreadable tables fail here instead of at the first request
    app = create(ServiceLimits(workers=workers) if workers else ServiceLimits())
    uvicorn.run(app, host=host, port=port, log_level="info", timeout_graceful_shutdown=5)
