"""`planner serve`: the HTTP service on this machine."""

from __future__ import annotations

import click


@click.command(short_help="Serve plans and offers over HTTP.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on; there is no login.")
@click.option("--port", default=8000, show_default=True, type=click.IntRange(0, 65535), help="0 takes a free one.")
@click.option("--workers", type=click.IntRange(1, 256), help="Plans worked on at once.  [default: one for each core]")
def command(host: str, port: int, workers: int | None) -> None:
    """Answer POST /plan, GET /offers, /accelerators, /catalog and /healthz until interrupted.

    The service keeps nothing and needs no network: it plans on the catalogue that is shipped. It listens on this
    machine only unless --host says otherwise; put it behind something that knows your users before you open it.

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

    Catalog.current()  # tables that cannot be read are told now, not to whoever asks first
    app = create(ServiceLimits(workers=workers) if workers else ServiceLimits())
    uvicorn.run(app, host=host, port=port, log_level="info", timeout_graceful_shutdown=5)
