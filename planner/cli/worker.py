"""`planner worker`: makes plans of the queue on another machine than the service."""

from __future__ import annotations

from typing import Any

import click

from planner.cli._dask_option import require_dask
from planner.cli._service_options import (
    chosen_settings,
    open_store_url,
    require_server,
    setting_options,
    store_option,
)
from planner.service import ServiceLimits


@click.command()
@store_option
@setting_options(ServiceLimits)
def command(store: str | None, **limits: Any) -> None:
    """Make plans of the queue in a store until interrupted, beside those that its services make.

    All must have the same prices: a plan is made with those of the machine that makes it, and one made with others
    is no answer to later requests. SIGTERM and Ctrl-C hand back what runs here; after a crash, others take it once its
    lease has ended (--lease-seconds).

    \b
    Examples:
      planner worker --store postgresql://planner@db/planner --workers 16
    """
    require_server()
    require_dask(limits["dask"])
    from planner.service.queue.stand_alone import run_worker

    run_worker(open_store_url(store), chosen_settings(ServiceLimits, limits))
