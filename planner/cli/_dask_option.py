"""The option --dask: a scheduler whose workers make plans again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import click

dask_option: Callable[[Any], Any] = click.option(
    "--dask",
    envvar="PLANNER_DASK",
    metavar="URL",
    help="Dask scheduler whose workers make plans again for --risk: tcp://host:8786, or PLANNER_DASK.",
)


def require_dask(url: str | None) -> None:
    """Raises UsageError where a scheduler is stated and the extra `dask` is not installed."""
    if not url:
        return
    from planner.application.dask_tasks import is_dask_installed

    if not is_dask_installed():
        raise click.UsageError("--dask needs an extra; install it with: pip install 'gpu-planner[dask]'")


@contextmanager
def share_over_dask(url: str | None) -> Iterator[None]:
    """Within it, plans are made again on the scheduler at a URL, if there is one. Raises UsageError where the extra is
    not installed."""
    require_dask(url)
    if not url:
        yield
        return
    from planner.application.dask_tasks import DaskTasks
    from planner.application.shared_tasks import share_tasks

    with share_tasks(DaskTasks(url)):
        yield
