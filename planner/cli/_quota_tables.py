"""Behind `planner quota`: reads the quotas of accounts and writes them as a table."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

import click

from planner.cli._exit_codes import DONE, NOT_REFRESHED
from planner.cli._tables import print_text
from planner.library.file_problems import unwritable_file
from planner.request.errors import InputProblem, InvalidRequest
from pricing.clock import today
from pricing.counted_nouns import format_count

if TYPE_CHECKING:
    from pricing.refresh.account_quotas import AccountQuotas

STANDARD_OUTPUT = "-"


def read_quotas(
    provider_names: Sequence[str],
    region_names: Sequence[str],
    endpoint: Sequence[str],
    time_limit_s: float,
    output: str,
) -> int:
    """Write the quotas of every readable provider and return the exit code."""
    from functools import partial

    from planner.cli._catalog_options import select_adapters
    from planner.cli._price_refresh import report_progress
    from planner.cli._terminal import chosen_verbosity
    from pricing import quota
    from pricing.adapters.retries import RetryBudget
    from pricing.catalog import data_folder
    from pricing.refresh import account_quotas

    # found before any cloud is called
    is_folder = output != STANDARD_OUTPUT and Path(output).is_dir()
    folder = [InputProblem("", f"-o {output}", "is a folder", output, "the name of a CSV file")] if is_folder else []
    providers, regions, endpoints = select_adapters(
        provider_names, region_names, endpoint, ("has no adapter that reads quotas", "a table by hand"), folder
    )
    results = [
        account_quotas.read_account_quotas(
            provider,
            data_folder.user_data_folder(),
            RetryBudget(time_limit_s),
            today(),
            partial(report_progress, chosen_verbosity()),
            regions=regions.get(provider, ()),
            endpoints=endpoints.get(provider, {}),
        )
        for provider in providers
    ]
    read = [row for each in results for row in each.quotas]
    if read or not any(each.troubles for each in results):
        _write_quotas(quota.format_quota_table(read), output)
    for each in results:
        _report_quotas(each, output)
    return NOT_REFRESHED if any(each.troubles for each in results) else DONE


def _write_quotas(table: bytes, output: str) -> None:
    from pricing.file_replacement import write_atomically

    if output == STANDARD_OUTPUT:
        print_text(table.decode())
        return
    try:
        write_atomically(Path(output), table)
    except OSError as error:
        raise InvalidRequest((unwritable_file(f"-o {output}", error),)) from None


def _report_quotas(result: AccountQuotas, output: str) -> None:
    """Print the result for one provider on standard error: the table may be on standard output."""
    from planner.cli._price_refresh import rejected_lines, report_failures

    echo = partial(click.echo, err=True)
    where = "" if output == STANDARD_OUTPUT else f", in {output}"
    if result.quotas:
        regions = [region for region, _ in groupby(result.quotas, lambda quota: quota.region)]
        counts = f"{format_count(len(result.quotas), 'quota')} in {format_count(len(regions), 'region')}"
        echo(f"{result.provider}: {counts}{where}")
    elif not result.troubles:
        echo(f"{result.provider}: no quota of types with accelerators")
    for reason, rows in sorted(result.left.items()):
        echo(f"  {rows:,} left out: {reason}")
    if result.refused:
        echo(f"  {len(result.refused):,} rejected:")
        for line in rejected_lines(result.refused):
            echo(line)
    report_failures(result.provider, result.troubles, " of its quotas")
