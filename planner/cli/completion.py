"""`planner completion`: the shell completes commands, options and their values."""

from __future__ import annotations

import os
from pathlib import Path

import click

SHELLS = ("bash", "zsh", "fish")
VARIABLE = "_PLANNER_COMPLETE"
STARTED_BY = {"bash": ".bashrc", "zsh": ".zshrc"}
"""The file in the home folder that a shell reads when it starts; fish reads a folder of completions."""
FISH_SCRIPT = "fish/completions/planner.fish"


@click.command()
@click.argument("shell", required=False, type=click.Choice(SHELLS))
@click.option("--install", is_flag=True, help="Install it for this user; a second time changes nothing.")
def command(shell: str | None, *, install: bool) -> int:
    """Print the completion script of a shell, or install it: bash and zsh source it from .bashrc or .zshrc, fish finds
    it in its folder. Without SHELL it is that of $SHELL.

    \b
    Examples:
      planner completion --install
      planner completion zsh > _planner
    """
    chosen = shell or Path(os.environ.get("SHELL", "")).name
    if chosen not in SHELLS:
        raise click.UsageError(f"name a shell: {', '.join(SHELLS)} ($SHELL is {chosen or 'not set'})")
    script = _completion_script(chosen)
    if not install:
        click.echo(script)
        return 0
    from planner.library.file_problems import unwritable_file
    from planner.request.errors import InvalidRequest

    try:
        path = _install_script(chosen, script)
    except OSError as error:
        raise InvalidRequest((unwritable_file(error.filename or "home folder", error),)) from None
    click.echo(f"installed in {path}; a new {chosen} completes planner")
    return 0


def _completion_script(shell: str) -> str:
    from click.shell_completion import get_completion_class

    from planner.cli import commands

    script_maker = get_completion_class(shell)
    assert script_maker is not None, shell
    maker = script_maker(commands, {}, "planner", VARIABLE)
    return maker.source_template % maker.source_vars()


def _install_script(shell: str, script: str) -> Path:
    """Writes the script, and the line that sources it; gives the file that the shell reads."""
    from pricing.file_replacement import write_atomically

    settings = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
    if shell not in STARTED_BY:
        write_atomically(settings / FISH_SCRIPT, script.encode())
        return settings / FISH_SCRIPT
    place = settings / "gpu-planner" / f"completion.{shell}"
    write_atomically(place, script.encode())
    started = Path.home() / STARTED_BY[shell]
    text = started.read_text(encoding="utf-8") if started.exists() else ""
    line = f'[ ! -f "{place}" ] || . "{place}"  # completion of planner'
    if line not in text.splitlines():
        joint = "\n" if text and not text.endswith("\n") else ""
        write_atomically(started, f"{text}{joint}{line}\n".encode())
    return started
