"""`planner check`: whether files can be planned, without planning them."""

from __future__ import annotations

import click

from planner.cli._plan_options import BILL_OPTIONS, READING_OPTIONS, REQUEST_OPTIONS, with_options

FORMAT_HELP = "github also prints each problem as an annotation of a GitHub workflow."


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="FILES...")
@click.option("--format", "format_name", type=click.Choice(["text", "github"]), default="text", help=FORMAT_HELP)
@with_options(REQUEST_OPTIONS, READING_OPTIONS, BILL_OPTIONS)
def command(files: tuple[str, ...], format_name: str, **options: str | bool | tuple[str, ...] | None) -> int:
    """Read FILES as `planner estimate` would and print every problem with its place; no plan is made.

    It is quick enough for a hook before each commit (.pre-commit-hooks.yaml in the repository has one).
    `planner estimate --explain-input FILE` prints how one file is read.

    \b
    Examples:
      planner check capacity/*.yaml review.xlsx
      planner check --format github --setup company.yaml capacity/*.yaml

    \b
    Exit codes: 0 all can be planned; 2 invalid input (every problem of every file); 1 internal error; 130 interrupted.
    """
    from planner.cli._estimate_settings import InputFileOptions
    from planner.cli._file_checks import check_files

    return check_files(files, options, InputFileOptions.take_from(options), format_name)
