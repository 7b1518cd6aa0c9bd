"""Reads a batch of damaged files in one process with a limit of memory, each within a limit of time, and tells of it.

    python tests/fuzz/child.py sheets SEED COUNT        prints one JSON object
    python tests/fuzz/child.py bills SEED COUNT

A fault is a file that was neither read nor refused in words: an exception, a hang, rows that do not add up, a
complaint without words or place. Its bytes are kept in the folder FUZZ_KEEP where that is set.
"""

from __future__ import annotations

import io
import json
import os
import resource
import signal
import sys
import traceback
import zipfile
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any
from xml.sax.saxutils import escape

from mutate import damaged

ROOT = Path(__file__).parents[2]
SECONDS = 120
"""Of the processor, for one file: a busy machine takes none of it away."""
MEMORY_BYTES = 3 * 2**30
ASK_EVERY = 8
FOLDERS = {
    "sheets": ("tests/intake/recorded", "examples", "tests/billing/testdata"),
    "bills": ("tests/billing/testdata", "examples"),
}
SUFFIXES = {
    "sheets": (".csv", ".xlsx", ".yaml", ".json", ".ods"),
    "bills": (".csv",),
}


class Slow(BaseException):
    """A file took longer than any may; no reader catches it."""


def sources(kind: str) -> list[tuple[str, bytes]]:
    """The real files that are damaged, by name."""
    paths = [path for folder in FOLDERS[kind] for path in sorted((ROOT / folder).iterdir())]
    found = [(path.name, path.read_bytes()) for path in paths if path.suffix in SUFFIXES[kind]]
    return found + (_open_documents() + _team_sheets() if kind == "sheets" else _other_bills(found))


def _team_sheets() -> list[tuple[str, bytes]]:
    """The workbooks as teams write them."""
    sys.path.insert(0, str(ROOT))
    from tests.intake.team_sheets import team_sheets

    return [(f"{sheet.name}.xlsx", sheet.workbook()) for sheet in team_sheets()]


def _open_documents() -> list[tuple[str, bytes]]:
    """The example sheet as an OpenDocument file, as offices write one."""
    import csv

    rows = csv.reader(io.StringIO((ROOT / "examples/capacity-review.csv").read_text(encoding="utf-8-sig")))

    def cell(text: str) -> str:
        kind = f'office:value-type="float" office:value="{text}"' if text.isdigit() else 'office:value-type="string"'
        return f"<table:table-cell {kind}><text:p>{escape(text)}</text:p></table:table-cell>"

    lines = "".join(f"<table:table-row>{''.join(map(cell, row))}</table:table-row>" for row in rows)
    names = " ".join(f'xmlns:{x}="urn:oasis:names:tc:opendocument:xmlns:{x}:1.0"' for x in ("office", "table", "text"))
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr("META-INF/manifest.xml", "<manifest/>")
        table = f'<table:table table:name="Plan">{lines}</table:table>'
        body = f"<office:body><office:spreadsheet>{table}</office:spreadsheet></office:body>"
        archive.writestr("content.xml", f"<office:document-content {names}>{body}</office:document-content>")
    return [("review.ods", target.getvalue())]


def _other_bills(found: list[tuple[str, bytes]]) -> list[tuple[str, bytes]]:
    """Bills in the other forms: packed, Parquet, JSON lines and a JSON array."""
    import csv
    import gzip
    import tempfile

    import duckdb

    more = []
    for name, data in found[:3]:
        rows = list(csv.DictReader(io.StringIO(data.decode("utf-8-sig"))))[:40]
        lines = [json.dumps(row) for row in rows]
        more += [(f"{name}.gz", gzip.compress(data, mtime=0)), (f"{name}.jsonl", "\n".join(lines).encode()),
                 (f"{name}.json", f"[{','.join(lines)}]".encode())]  # fmt: skip
        with tempfile.TemporaryDirectory() as folder, duckdb.connect() as engine:
            (Path(folder) / "a.csv").write_bytes(data)
            engine.execute(
                f"COPY (SELECT * FROM read_csv('{folder}/a.csv', all_varchar = true)) TO '{folder}/a.parquet'"
            )
            more.append((f"{name}.parquet", (Path(folder) / "a.parquet").read_bytes()))
    return more


def main(kind: str, seed: int, count: int) -> dict[str, Any]:
    """What became of `count` files from `seed` on."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    signal.signal(signal.SIGPROF, _too_slow)
    files = sources(kind)
    judge = Judge()
    keep = os.environ.get("FUZZ_KEEP", "")
    faults, peak, most = [], 0, ""
    for number in range(seed, seed + count):
        random = Random(number)
        base, data = files[number % len(files)]
        data, name = damaged(data, base, random, [body for _, body in files])
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        try:
            (judge.sheet if kind == "sheets" else judge.bill)(data, name)
        except (Exception, Slow) as error:  # noqa: BLE001  (whatever it is: it is what is looked for)
            where = traceback.extract_tb(error.__traceback__)[-1]
            at = f"{Path(where.filename).name}:{where.lineno}"
            faults.append(f"{number} {base} as {name}: {type(error).__name__} {str(error)[:300]} ({at})")
            if keep:
                (Path(keep) / f"{kind}-{number}-{name}").write_bytes(data)
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
        if (now := peak_mib()) > peak:
            peak, most = now, f"{number} {base}"
    return {"files": count, "peak_mib": peak, "most": most, "became": dict(judge.became), "faults": faults}


def peak_mib() -> int:
    """The most memory that this process held since it started; ru_maxrss counts what its parent held before, too."""
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM:"))
    return int(line.split()[1]) // 1024


def _too_slow(*_: object) -> None:
    raise Slow(f"longer than {SECONDS} seconds")


class Judge:
    """Reads files as the doors do, in this process, and holds what came of it against the law."""

    def __init__(self) -> None:
        from planner.inputs import bills
        from pricing.catalog.price_catalog import Catalog

        self.catalog = Catalog.embedded()
        self.became: Counter[str] = Counter()
        self.sound = 0
        bills.run_isolated = lambda work, *a, progress=None, **_: work(*a, progress=progress)  # in this process

    def sheet(self, data: bytes, name: str) -> None:
        """A Read with complaints in words; or a request that is planned, or refused in words."""
        from planner import application as doors
        from planner.inputs.file_reader import read
        from planner.inputs.spend_comparison import add_savings_note
        from planner.request.errors import InvalidRequest
        from planner.supply.validation import validate_request

        found = read(data, name)
        inputs = found.inputs
        assert inputs.rows_used + len(inputs.rows_refused) == inputs.rows_in, "rows do not add up"
        assert found.complaints or found.document.get("workloads") is not None or inputs.format in ("json", "yaml")
        self._words(found.complaints)
        json.dumps(list(inputs.notes) + [reading.read for reading in inputs.readings], ensure_ascii=False).encode()
        document = {"as_of": "2026-11-21", **found.document}
        more = {"complaints": found.complaints, "places": found.places}
        try:
            self.sound += not found.complaints
            if not found.complaints and self.sound % ASK_EVERY == 1 and len(document.get("workloads") or ()) <= 30:
                plan = doors.plan_document(
                    {**document, "months": 2, "strategies": ["cloud"]}, self.catalog, inputs=inputs, places=found.places
                )
                add_savings_note(plan, found)
                self.became["planned"] += 1
                return
            wrong = doors.process_document(
                document, self.catalog, lambda request: validate_request(request, self.catalog), **more
            )
        except InvalidRequest as refused:
            self._words(refused.complaints)
            self.became["refused" if not found.complaints else "complained of"] += 1
            return
        self._words(wrong)
        self.became["refused" if wrong else "read"] += 1

    def bill(self, data: bytes, name: str) -> None:
        """A bill that adds up and is carried on as a request, or is refused in words."""
        import tempfile

        from planner.inputs.bills import _read_bill
        from planner.inputs.bills.export_detection import NotABill
        from planner.inputs.bills.usage_projection import build_request_from_bills
        from planner.request.errors import InputProblem

        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / Path(name).name
            path.write_bytes(data)
            try:
                bill = _read_bill(path, self.catalog, name, progress=None)
            except NotABill as refused:
                self._words([InputProblem("", name, str(refused))])
                self.became["refused"] += 1
                return
            assert bill.differences() == (), bill.differences()
            assert bill.rows_in == bill.rows_used + bill.rows_apart + bill.rows_refused
            self.sound += 1
            if self.sound % ASK_EVERY == 1:
                self._words(build_request_from_bills([path], self.catalog, names=[name]).complaints)
            self.became["read" if bill.rows_used else "read, no accelerator"] += 1

    @staticmethod
    def _words(complaints: Any) -> None:
        for each in complaints:
            assert each.message, f"no words: {each}"
            assert each.place or each.path, f"no place: {each}"
            str(each).encode()


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])), indent=1))  # noqa: T201  (the answer)
