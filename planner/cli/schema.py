"""`planner schema`: JSON Schemas of the files that people write."""

from __future__ import annotations

import click


@click.command()
@click.argument("name", default="request", metavar="[request|setup|assumptions|answers|settings]")
@click.option("-o", "--output", "path", metavar="FILE", help="Write it to a file instead of printing it.")
def command(name: str, path: str | None) -> int:
    """Print the JSON Schema (draft 7) of a file that the planner reads, so that an editor completes and checks it.

    request is for `planner estimate FILE`, setup for --setup, assumptions for --assumptions, answers for --answers and
    --mapping, settings for --config. A schema finds names, types and ranges; `planner check` finds everything.

    \b
    Examples:
      planner schema -o request.schema.json
      planner schema setup

    \b
    The first line of a request in YAML then names the schema:
      # yaml-language-server: $schema=request.schema.json
    """
    from planner.cli._document_schemas import show_schema

    return show_schema(name, path)
