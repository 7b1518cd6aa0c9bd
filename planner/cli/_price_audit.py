"""Records changes of prices in the audit of a service on this machine, where there is one."""

from __future__ import annotations

import os
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import PurePath

import click

from planner.cli._service_options import NEEDED, current_operator


def record_price_change(action: str, subjects: Iterable[str]) -> None:
    """Record an import or a refresh with the names of files or providers; a store that cannot be opened is told and
    changes nothing."""
    if not all(find_spec(name) for name in NEEDED):
        return
    from sqlalchemy.exc import SQLAlchemyError

    from planner.service.callers import DEFAULT_PROJECT, Caller
    from planner.service.store import open_store
    from planner.service.store.engine import STORE_FILE, sqlite_url
    from pricing.catalog.data_folder import user_data_folder

    file = user_data_folder() / STORE_FILE
    url = os.environ.get("PLANNER_STORE") or (sqlite_url(file) if file.is_file() else "")
    if not url:
        return
    subject = " ".join((action, *(PurePath(name).name for name in subjects)))
    try:
        store = open_store(url)
        store.audit.add(Caller(DEFAULT_PROJECT, current_operator()), "prices", subject)
        store.close()
    except (SQLAlchemyError, OSError) as error:
        click.echo(f"the change of prices could not be recorded in the audit ({type(error).__name__})", err=True)
