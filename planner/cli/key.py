"""`planner key`: API keys of the service."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from planner.cli._service_options import current_operator, open_service_store, store_option

if TYPE_CHECKING:
    from planner.service.store.api_keys import ApiKey

DAY_SECONDS = 24 * 3600


@click.group()
def command() -> None:
    """API keys by which programs call `planner serve`.

    A key belongs to a project: whatever is asked for with it belongs to that project and is invisible to others. Its
    scopes are plan (make and delete plans), read (plans, prices and offers) and admin (figures of the service).

    \b
    Examples:
      planner key create nightly --project research --scope plan --scope read --days 365
      planner key list
      planner key revoke 3f9c1a20b7de
    """


@command.command()
@click.argument("name")
@click.option("--project", default="default", show_default=True, help="Project of the key.")
@click.option(
    "--scope",
    "scopes",
    multiple=True,
    default=("plan", "read"),
    show_default=True,
    type=click.Choice(["plan", "read", "admin"]),
    help="What the key may do; may be repeated.",
)
@click.option(
    "--days", type=click.FloatRange(min=0, min_open=True), default=365, show_default=True, help="Days until it expires."
)
@click.option("--no-expiry", is_flag=True, help="The key does not expire.")
@store_option
def create(name: str, project: str, scopes: tuple[str, ...], days: float, no_expiry: bool, store: str | None) -> None:
    """Print a new key for NAME. It is shown this once; the store has only its SHA-256."""
    opened = open_service_store(store)
    from planner.service.callers import NAME_LENGTH, PROJECT_LENGTH, Caller, parse_scopes

    too_long = [
        f"{text[:20]!r}... has {len(text)} characters; at most {most} are allowed"
        for text, most in ((name, NAME_LENGTH), (project, PROJECT_LENGTH))
        if not 0 < len(text) <= most
    ]
    if too_long:
        raise click.UsageError("; ".join(too_long))
    expires = None if no_expiry else time.time() + days * DAY_SECONDS
    text, key = opened.keys.create(project, name, parse_scopes(scopes), expires)
    opened.audit.add(Caller(project, current_operator()), "key-create", key.id)
    click.echo(text)
    until = "does not expire" if expires is None else f"expires {_day_text(expires)}"
    click.echo(f"{key.id}: {name} of {project}, {_scope_text(key)}, {until}", err=True)


@command.command("list")
@store_option
def list_keys(store: str | None) -> None:
    """List all keys, without their secrets."""
    from planner.cli._tables import print_text
    from pricing.text_tables import align_columns

    keys = open_service_store(store).keys.list()
    rows = [
        (
            key.id,
            key.project,
            key.name,
            " ".join(sorted(key.scopes)),
            _day_text(key.created),
            _state_text(key.expires, key.revoked),
        )
        for key in keys
    ]
    print_text("\n".join(align_columns(("id", "project", "name", "scopes", "created", "state"), rows)) + "\n")


@command.command()
@click.argument("identity", metavar="ID")
@store_option
def revoke(identity: str, store: str | None) -> None:
    """End the key ID; services take it for five seconds more at most."""
    opened = open_service_store(store)
    from planner.service.callers import Caller

    key = opened.keys.revoke(identity)
    if key is None:
        raise click.UsageError(f"no valid key has the id {identity}; see planner key list")
    opened.audit.add(Caller(key.project, current_operator()), "key-revoke", key.id)
    click.echo(f"{key.id} revoked", err=True)


def _scope_text(key: ApiKey) -> str:
    return " ".join(sorted(key.scopes))


def _state_text(expires: float | None, revoked: float | None) -> str:
    if revoked is not None:
        return f"revoked {_day_text(revoked)}"
    if expires is None:
        return "does not expire"
    return f"{'expired' if expires <= time.time() else 'expires'} {_day_text(expires)}"


def _day_text(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d")
