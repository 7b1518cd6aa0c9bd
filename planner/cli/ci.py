"""`planner ci`: plans of the files that a pull or merge request changes, as one comment, with gates."""

from __future__ import annotations

import click

FILE_HELP = "Files to plan, as a pattern of git such as 'capacity/*.yaml'; may be repeated."
BASE_HELP = "Revision to compare with.  [default: the base of the pull or merge request]"
COMMENT_HELP = (
    "Where to comment: github, gitlab, auto (where a request and a token are found) or none.  [default: auto]"
)
NAME_HELP = "Name of the comment: another one for each name.  [default: GPU capacity]"
ALSO_HELP = "Another planner command whose output and exit code count, too: 'audit plan.xlsx'; may be repeated."
SUMMARY_HELP = "Append the comment to a file.  [default: GITHUB_STEP_SUMMARY, if set]"


@click.command()
@click.option("--file", "patterns", metavar="PATTERN", multiple=True, required=True, help=FILE_HELP)
@click.option("--base", metavar="REVISION", help=BASE_HELP)
@click.option("--comment", type=click.Choice(["auto", "github", "gitlab", "none"]), default="auto", help=COMMENT_HELP)
@click.option("--name", metavar="TEXT", default="GPU capacity", help=NAME_HELP)
@click.option("--also", metavar="COMMAND", multiple=True, help=ALSO_HELP)
@click.option("--summary", metavar="FILE", help=SUMMARY_HELP)
@click.argument("options", nargs=-1, type=click.UNPROCESSED, metavar="[-- OPTIONS]")
def command(
    patterns: tuple[str, ...],
    base: str | None,
    comment: str,
    name: str,
    also: tuple[str, ...],
    summary: str | None,
    options: tuple[str, ...],
) -> int:
    """Plan each changed file before and now, print the difference as Markdown, and write it as one comment.

    OPTIONS are those of `planner estimate`, gates included. A later run updates the comment. All files that match are
    planned where a file of OPTIONS changed. The token is GITHUB_TOKEN or GITLAB_TOKEN of the environment. The
    repository has an action for GitHub and a template for GitLab that run this.

    \b
    Examples:
      planner ci --base origin/main --file 'capacity/*.yaml' --comment none
      planner ci --file capacity -- --setup company.yaml --fail-over-budget 250000 --max-price-age 90

    \b
    Exit codes: the most serious of all files: 2 invalid input, 3 no feasible plan, 5 a gate failed, 0 none of these;
    4 the comment could not be written (a token without the right to is only reported); 1 internal error.
    """
    from planner.cli._pull_request import ReviewTask, review_changes

    return review_changes(ReviewTask(patterns, options, base, comment, name, also, summary))
