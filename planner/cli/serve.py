"""`planner serve`: the HTTP service on this machine."""

from __future__ import annotations

import ipaddress
from typing import Any

import click

from planner.cli._dask_option import require_dask
from planner.cli._default_settings import SettingOption
from planner.cli._service_options import (
    SECTION,
    chosen_settings,
    open_store_url,
    setting_options,
    store_option,
)
from planner.service import AccessSettings, GateSettings, ServiceLimits


@click.command()
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    help="Address to listen on. Others than loopback ones require keys: see --auth.",
)
@click.option(
    "--port",
    default=8000,
    show_default=True,
    type=click.IntRange(0, 65535),
    help="Port to listen on; 0 picks a free one.",
)
@store_option
@click.option(
    "--auth/--no-auth",
    "key_required",
    cls=SettingOption,
    section=SECTION,
    default=None,
    help="Require an API key or a token.  [default: unless --host is of this machine only]",
)
@click.option(
    "--log-format",
    type=click.Choice(["json", "text"]),
    cls=SettingOption,
    section=SECTION,
    help="Lines of the log.  [default: text in a terminal, json elsewhere]",
)
@setting_options(ServiceLimits, GateSettings, AccessSettings)
def command(
    host: str,
    port: int,
    store: str | None,
    key_required: bool | None,
    log_format: str | None,
    **stated: Any,
) -> None:
    """Serve the review page at / and answer POST /v1/plans, POST /plan, GET /v1/offers and /healthz until interrupted.

    Jobs and plans are in the store: a plan goes on after a restart, and ?compare_to= and Terraform find earlier plans.
    It needs no network: it plans with the prices on this machine. It listens on the loopback interface, where it needs
    no key. On any other --host each request needs an API key (planner key create) or a token of your identity provider
    (--oidc-issuer); put a proxy that speaks TLS in front of it. A variable (PLANNER_HEADER_SECONDS) or the settings
    file can state each option but --host and --port, too.

    \b
    Examples:
      planner serve
      planner serve --port 9000 --workers 4
      curl -s localhost:8000/plan -H 'content-type: application/json' -d @examples/request.json
      curl -s 'localhost:8000/offers?accelerator=H100&count=8&sort=price'
    """
    require_dask(stated["dask"])
    url = open_store_url(store)  # one that cannot be opened fails here
    import signal
    import sys

    from planner.service.app import create
    from planner.service.gate.connections import server_config
    from planner.service.gate.log_lines import log_settings
    from planner.service.server import PlanServer
    from pricing.catalog.price_catalog import Catalog

    Catalog.current()  # unreadable tables fail here instead of at the first request
    gate = chosen_settings(GateSettings, stated)
    needs_key = not is_loopback(host) if key_required is None else key_required
    access = chosen_settings(AccessSettings, stated, key_required=needs_key)
    try:
        app = create(chosen_settings(ServiceLimits, stated), url, gate, access)
    except ValueError as wrong:
        raise click.UsageError(str(wrong)) from None
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # uvicorn ends in order, and then as the signal would
    lines = log_settings(log_format or ("text" if sys.stderr.isatty() else "json"))
    PlanServer(app, server_config(app, gate, host=host, port=port, log_config=lines)).run()


def is_loopback(host: str) -> bool:
    """Whether only programs on this machine reach an address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
