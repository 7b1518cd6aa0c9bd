"""Options that several commands have: of the request that is planned, and of how its file is read."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import click

from planner.cli._default_settings import SettingOption
from planner.cli._terminal import verbosity_options

RATES_HELP = "CSV of dated exchange rates: date,from,to,rate,source."
MAP_HELP = "Meaning of a column by its title: a field, a month or ignore; may be repeated."
CARD_HELP = "CSV of your discounts and negotiated prices."
request_setting = partial(click.option, cls=SettingOption, beneath_request=True)
PRICE_FILE_OPTIONS = (
    click.option(
        "--exchange-rates", cls=SettingOption, metavar="FILE", help=f"{RATES_HELP}  [default: the data folder's]"
    ),
    click.option(
        "--private-prices", cls=SettingOption, metavar="FILE", help=f"{CARD_HELP}  [default: the data folder's]"
    ),
)
"""Prices and rates of exchange beside those of the catalogue."""
REQUEST_OPTIONS = (
    click.option("--months", metavar="N", help="Months to plan, 1 to 120.  [default: the file's, else 12]"),
    click.option(
        "--start", metavar="YYYY-MM", help="First month of the plan.  [default: the file's, else the next month]"
    ),
    click.option(
        "--as-of",
        metavar="YYYY-MM-DD",
        help="Date of the plan, from which the age of prices is counted.  [default: today]",
    ),
    request_setting(
        "--strategies",
        metavar="LIST",
        multiple=True,
        help="Strategies to plan: cloud, onprem, hybrid.  [default: all three]",
    ),
    request_setting(
        "--providers",
        metavar="LIST",
        multiple=True,
        help="The only providers to rent from.  [default: all but those on request]",
    ),
    request_setting("--regions", metavar="LIST", multiple=True, help="The only regions to rent in.  [default: all]"),
    request_setting(
        "--fiscal-year-starts",
        metavar="MONTH",
        help="Month in which your fiscal year starts, 1 to 12.  [default: the file's, else 1]",
    ),
    request_setting(
        "--currency", metavar="CODE", help="Currency of the plan and of all amounts in the request.  [default: USD]"
    ),
    *PRICE_FILE_OPTIONS,
    request_setting("--discount-rate", metavar="RATE", help="Yearly discount rate: 8% or 0.08.  [default: see plan]"),
    request_setting(
        "--assumptions", metavar="FILE", help="YAML or JSON of assumption names and values that replace defaults."
    ),
    request_setting(
        "--setup", metavar="FILE", help="YAML or JSON of existing hardware, quotes, site, finance and limits."
    ),
    request_setting("--quotas", metavar="FILE", help="CSV of your accounts' quotas, as `planner quota` writes it."),
    request_setting(
        "--effort",
        metavar="LEVEL",
        help="How long to search: quick, standard or proof.  [default: the file's, else standard]",
    ),
    request_setting("--measured-only", is_flag=True, help="Use measured throughput only, no predictions."),
    request_setting("--no-estimates", is_flag=True, help="Use listed prices only, no estimated discounts."),
    verbosity_options,
)
"""Settings of the request, over those of its file."""
READING_OPTIONS = (
    click.option("--map", "maps", multiple=True, metavar="COLUMN=FIELD", help=MAP_HELP),
    click.option("--mapping", metavar="FILE", help="YAML of the meaning of columns, as --save-mapping writes it."),
    click.option("--save-mapping", metavar="FILE", help="Write how the columns were read, for --mapping."),
    click.option("--sheet", "sheets", multiple=True, metavar="NAME", help="The only sheet to read; may be repeated."),
    click.option("--answers", metavar="FILE", help="YAML of answers about the file, as --save-answers writes it."),
    click.option("--save-answers", metavar="FILE", help="Write the questions about the file with their proposals."),
    click.option("--accept-proposals", is_flag=True, help="Plan with the proposed reading of everything in doubt."),
    click.option("--ask", is_flag=True, help="Ask on the terminal about everything in doubt."),
    click.option("--dates", metavar="dmy|mdy", help="Order of day and month in dates such as 3/4/2027."),
)
"""How a sheet is read, and the answers about it: the fields of FileReadingOptions."""
BILL_OPTIONS = (
    click.option("--growth", metavar="RATE", help="Monthly growth of the hours of a bill: 0.03 or 3%.  [default: 0]"),
    click.option(
        "--tag", metavar="KEY", help="Tag of a bill whose values name the workloads.  [default: see the plan]"
    ),
    click.option("--substitution", is_flag=True, help="Allow other accelerators for the workloads of a bill."),
)
"""How a bill continues: the fields of BillForecastOptions."""


Command = Callable[..., Any]


def with_options(*groups: tuple[Callable[[Command], Command], ...]) -> Callable[[Command], Command]:
    """A decorator that gives a command these options, in their order."""

    def decorate(command: Command) -> Command:
        for option in reversed([option for group in groups for option in group]):
            command = option(command)
        return command

    return decorate
