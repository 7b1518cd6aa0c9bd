"""Behind `planner estimate`: options and a file become a document, a plan of it, and the outputs asked for."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from planner.answer import Plan
from planner.check import restated
from planner.cli._explain import AS_IT_IS, Reading
from planner.cli._files import STANDARD_INPUT, unreadable, written_out
from planner.cli._gates import LIMITS, asked, judged
from planner.cli._offers import catalogue
from planner.cli._outputs import choose, deliver, refuse_binary_to_terminal
from planner.cli._quota import rows_in
from planner.cli._run import DONE, INFEASIBLE, INTERRUPTED
from planner.cli._source import source_of
from planner.errors import Complaint
from planner.received import AS_TODAY, Onward, plan_of

Option = str | bool | tuple[str, ...] | None
Money = tuple[str | None, str | None]
Settings = tuple[dict[str, Any], dict[str, str], list[Complaint]]
FIELDS = {"discount_rate": "discount_rate_annual"}
"""Options whose field in the request has another name."""
SETUP = ("systems", "existing", "site", "finance", "limits")
"""The parts of a request that a setup file may hold."""
RISK = frozenset({"risk", "seed", "draws", "reoptimise"})
"""Options that ask how sure the plan is; each sets a part of the request's `risk`."""


def estimate(
    file: str,
    format_name: str | None,
    paths: Sequence[str],
    options: Mapping[str, Option],
    money: Money,
    reading: Reading = AS_IT_IS,
    bills: Onward = AS_TODAY,
    compare_to: str | None = None,
) -> int:
    """The exit code, once the plan of `file` is printed and written; InvalidRequest with every fault of all of it.

    `money` are the files of private prices and exchange rates, None for those of the data folder; `reading` is what is
    said of the file beside it, `bills` how a billing export is carried on, `compare_to` the file of the last review.
    """
    outputs, faults = choose(format_name, paths)
    gates, wrong = asked(options)
    settings, places, more = _settings({name: value for name, value in options.items() if name not in LIMITS})
    complaints = [*faults, *refuse_binary_to_terminal(outputs), *more, *wrong]
    compared = _since(compare_to, complaints)
    plan = compared(planned(file, settings, places, complaints, money, reading, bills))
    _progress("writing")
    for line in deliver(plan, outputs):
        click.echo(line, err=True)
    return INFEASIBLE if plan.status == "infeasible" else judged(plan, gates) or DONE


def _since(old: str | None, complaints: list[Complaint]) -> Callable[[Plan], Plan]:
    """Puts into a plan what changed since the last review in the file `old`; its faults are added to `complaints`."""
    if old is None:
        return lambda plan: plan
    from planner.cli._diff import last_review
    from planner.diff import changes

    last = last_review(old, complaints)
    return lambda plan: plan if last is None else replace(plan, changes=changes(last, plan))


def planned(
    file: str,
    settings: dict[str, Any],
    places: dict[str, str],
    complaints: Sequence[Complaint],
    money: Money,
    reading: Reading = AS_IT_IS,
    bills: Onward = AS_TODAY,
) -> Plan:
    """The plan of `file` with `settings`, the place of each, and what is wrong already; `money` as in `estimate`."""
    _progress(f"reading {'standard input' if file == STANDARD_INPUT else file}")
    catalog, faults = catalogue(*money)
    choices, said = reading.choices(catalog)
    source, unfit = source_of(file, catalog, choices, bills, complaints)
    complaints = [*complaints, *unfit]
    said += reading.save(source) if not source.complaints else ()
    document, unread = written_out(source.document, settings, file)
    stated = source.document.get("assumptions")
    if isinstance(stated, dict):
        document["assumptions"] = {**stated, **settings.get("assumptions", {})}
    if "risk" in settings and isinstance(asked := source.document.get("risk"), dict):
        document["risk"] = {**asked, **settings["risk"]}
    complaints = [*complaints, *restated(source.document, settings, "--currency")]
    if faults:
        document.pop("currency", None)  # whether it has a rate cannot be told
    workloads = document.get("workloads") or ()
    sure = ", and how sure the plan is" if document.get("risk") is not None else ""
    _progress(f"planning {len(workloads)} workload{'s' if len(workloads) != 1 else ''}{sure}")
    wrong = (*complaints, *said, *faults, *unread)
    return _interruptible(lambda: plan_of(source, document, catalog, wrong, places))


def _interruptible(work: Callable[[], Plan]) -> Plan:
    """What `work` gives. Ctrl-C ends the program at once, though the solver would not hear of it before it is done."""
    with ThreadPoolExecutor(1) as threads:
        future = threads.submit(work)
        try:
            return future.result()
        except KeyboardInterrupt:
            # Nothing is written yet. The solver cannot be stopped, so the usual way out would wait for it.
            click.echo("planner: interrupted; nothing was written", err=True)
            os._exit(INTERRUPTED)


def _settings(options: Mapping[str, Option]) -> Settings:
    """What the options put into the request, the place of each, and faults. Texts are judged with the request."""
    settings: dict[str, Any] = {}
    places: dict[str, str] = {}
    complaints: list[Complaint] = []
    for option, value in options.items():
        if not value:
            continue
        field, place = FIELDS.get(option, option), f"--{option.replace('_', '-')}"
        if option == "assumptions":
            settings[field], more, faults = _assumptions(str(value))
            places |= more
            complaints += faults
        elif option == "setup":
            found, more, faults = _setup(str(value))
            settings |= found
            places |= more
            complaints += faults
            continue
        elif option == "quotas":
            settings[field], faults = rows_in(Path(str(value)))
            complaints += faults
        elif option in RISK:
            settings.setdefault("risk", {}).update({} if value is True else {option: value})
            field = "risk" if value is True else f"risk.{option}"
        elif option == "no_estimates":
            field = "allow_estimates"
            settings[field] = False
        elif isinstance(value, tuple):
            settings[field] = [part.strip() for text in value for part in text.split(",") if part.strip()]
        else:
            settings[field] = _rate(str(value)) if option == "discount_rate" else value
        places[field] = place
    return settings, places, complaints


def _rate(text: str) -> float | str:
    """8% as 0.08; a text that is no percentage stays as it is, for the request to judge."""
    number = text.strip().removesuffix("%")
    try:
        return float(number) / 100 if number != text.strip() else text
    except ValueError:
        return text


def _assumptions(path: str) -> Settings:
    """The names and values of an assumptions file, with the place of each."""
    return _mapping(path, "assumptions", "assumptions.", "one `name: value` a line")


def _setup(path: str) -> Settings:
    """What is owned, what could be bought, where and how, and limits: parts of a request for a sheet without them."""
    expected = f"some of {', '.join(SETUP)}"
    document, places, faults = _mapping(path, "setup", "", expected)
    for name in sorted(set(document) - set(SETUP)):
        faults.append(Complaint(name, places.get(name, path), "not a part of a setup", name, expected))
        del document[name]
    return document, places, faults


def _mapping(path: str, option: str, prefix: str, expected: str) -> Settings:
    """Names and values of a file, read as a request in YAML (or JSON) is."""
    from planner.intake import yaml

    try:
        source = yaml.read(Path(path).read_bytes(), path)
    except OSError as error:
        return {}, {}, [unreadable(f"--{option} {path}", error)]
    faults = [
        replace(fault, place=fault.place if fault.place.startswith(path) else f"{path} {fault.place}")
        for fault in source.complaints
    ]
    if "workloads" in source.document:  # nothing could be read, or it is a request or a list
        faults = faults or [Complaint("", path, f"no list of {option}" if prefix else f"no {option}")]
        return {}, {}, [replace(fault, path=option, expected=expected) for fault in faults]
    places = {f"{prefix}{name}": f"{path} {place}" for name, place in source.places.items()}
    return dict(source.document), places, faults


def _progress(text: str) -> None:
    if sys.stderr.isatty():
        click.echo(f"{text} ...", err=True)
