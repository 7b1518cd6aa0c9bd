"""`planner init`: six answers -> a request."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from pricing.frozen_values import dataclass


@dataclass(frozen=True, slots=True)
class InitQuestion:
    """A question on a terminal, and an option where there is none. An empty answer is the default, if there is one."""

    option: str
    text: str
    example: str
    description: str
    default: str = ""
    of_model: str = ""
    """The question where a model is served."""
    model_example: str = ""

    def prompt(self, serves_model: bool) -> str:
        """The question with an example."""
        text, example = (
            (self.of_model, self.model_example) if serves_model and self.of_model else (self.text, self.example)
        )
        return f"{text} ({example})"


QUESTIONS = (
    InitQuestion("name", "Name of the work?", "finetune", "Name of the work.", "my-job"),
    InitQuestion(
        "work",
        "Which accelerators, and how many of them; or which model does it serve?",
        "8 H100, or llama-3-70b",
        "Accelerators with their number, or the model that it serves: 8 H100, or llama-3-70b.",
    ),
    InitQuestion(
        "demand",
        "How many hours a month do all of them work at once? 730 is always",
        "200",
        "Hours a month that all accelerators work; of a model: requests a month, tokens in and out of each.",
        of_model="How many requests a month, and how many tokens in and out of each?",
        model_example="1000000, 900, 300",
    ),
    InitQuestion("months", "For how many months?", "12", "How many months to plan.", "12"),
    InitQuestion(
        "where",
        "Where may it run? Providers, regions, codes of countries, blocs",
        "aws, DE or EU",
        "Providers, regions, codes of countries and blocs, by comma.",
        "anywhere",
    ),
    InitQuestion(
        "limit",
        "A budget a month in USD, or the month by whose end it is done?",
        "20000, or 2027-03",
        "A budget a month in USD, or the month by whose end it is done.",
        "none",
    ),
)


def question_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Gives a command an option for each question."""
    for question in reversed(QUESTIONS):
        default = f"  [default: {question.default}]" if question.default else ""
        described = f"{question.description}{default}"
        command = click.option(f"--{question.option}", metavar="ANSWER", help=described)(command)
    return command


@click.command()
@question_options
@click.option("-o", "--output", metavar="FILE", help="The file to write; - is standard output.  [default: NAME.yaml]")
@click.option("--force", is_flag=True, help="Overwrite an existing file.")
def command(output: str | None, *, force: bool, **options: str | None) -> int:
    """Write a request that `planner estimate` plans as it is, with comments on further fields.

    On a terminal there are six questions, except those that an option answers. Elsewhere the options must answer all
    that have no default.

    \b
    Examples:
      planner init
      planner init --name finetune --work "8 H100" --demand 200 --where EU --limit 20000
      planner init --name chat --work llama-3-70b --demand 1000000,900,300 --months 24 -o chat.yaml
      planner init --work "4 L4" --demand 730 -o - | planner estimate -

    \b
    Exit codes: 0 written; 2 invalid input (every problem, no file written); 1 internal error; 130 interrupted.
    """
    from planner.cli._request_writing import write_request

    return write_request(QUESTIONS, options, output, force=force)
