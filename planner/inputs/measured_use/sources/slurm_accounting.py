"""Slurm's accounting, as `sacct` prints it: slurm.schedmd.com/sacct.html, read 2026-11-23.

    sacct --allusers --allocations --duplicates --parsable2 --starttime 2026-09-01 --endtime 2026-10-01 \\
          --format JobID,JobName,User,Account,Partition,State,Submit,Eligible,Start,End,ElapsedRaw,NNodes,AllocTRES

Columns between separators (--parsable2, --parsable, --delimiter; commas where they can be told from those of a TRES)
or of fixed width. A job counts once: its steps
(1234.batch) give at most how busy its GPUs were (gres/gpuutil of TRESUsageInAve); each task of an array, each
component of a heterogeneous job and each start after a requeue (--duplicates) is a row of its own.
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from planner.inputs.measured_use.use_record import MeasuredUsage, MeasuredUse, RowCount, UnreadableUse
from planner.inputs.text_encoding import binary_kind, decode
from planner.inputs.workload_files.hardware_names import find_accelerator
from pricing.catalog.price_catalog import Catalog
from pricing.frozen_values import dataclass
from pricing.mig_slices import load_slices

TITLE = "Slurm accounting (sacct)"
GROUPS = ("account", "wckey", "user", "partition", "jobname")
"""Columns that name workloads, the first that is there."""
GPU_COLUMNS = frozenset({"alloctres", "reqtres", "allocgres", "reqgres"})
NEEDED = "JobID, Start, Elapsed or ElapsedRaw (or End), and AllocTRES or ReqTRES"
UNKNOWN_TIMES = ("", "unknown", "none", "(null)")
COMPLETED, GOES_ON = (
    "COMPLETED",
    frozenset({"RUNNING", "SUSPENDED", "COMPLETING", "CONFIGURING", "RESIZING", "STOPPED"}),
)
PENDING = frozenset({"PENDING", "REVOKED", "SPECIAL_EXIT", "REQUEUE_HOLD", "REQUEUE_FED"})
_SEPARATORS = "|;\t^~!:,"
_PAIR = re.compile(r"([\w/:.-]+)=")
"""The beginning of a part of a TRES: cpu=8."""
_HEADER = re.compile(rf"^\s*(?:JobID|JobIDRaw|[A-Za-z]+[{re.escape(_SEPARATORS)}, ].*\bJobID(?:Raw)?\b)", re.IGNORECASE)
_ELAPSED = re.compile(r"(?:(\d+)-)?(?:(\d+):)?(\d+):(\d+)(?:\.\d+)?")
_GPU = re.compile(r"gres/gpu(?::(?P<kind>[^=,]+))?=(?P<count>\d+)")
_BUSY = re.compile(r"gres/gpuutil=(\d+(?:\.\d+)?)")
_SLICE = re.compile(r"(?i)(?:(?P<of>.*)[_-])?(?:mig[-_.])?(?P<profile>\dg\.\d+gb)(?:\.\w+)?")


@dataclass(frozen=True, slots=True)
class AccountingRow:
    place: str
    fields: Mapping[str, str]

    def get(self, *names: str) -> str:
        return next((text for name in names if (text := self.fields.get(name, ""))), "")


def claims(data: bytes) -> bool:
    """Whether a first line has the names of sacct's columns."""
    if binary_kind(data) is not None:
        return False
    lines = data[:20_000].decode("utf-8", "replace").removeprefix("\ufeff").splitlines()
    first = next((line for line in lines if line.strip()), "")
    names = set(re.findall(r"[a-z]+", first.casefold()))
    is_timed = "state" in names and bool(names & {"elapsed", "elapsedraw"})
    return bool(_HEADER.match(first)) and (is_timed or bool(names & GPU_COLUMNS))


def read(data: bytes, name: str, catalog: Catalog, tag: str, answers: Mapping[str, str]) -> MeasuredUsage:  # noqa: ARG001  (it has no questions)
    """The jobs with GPUs. Raises UnreadableUse."""
    try:
        text = decode(data, "cp1252")[0].removeprefix("\ufeff")
    except UnicodeDecodeError:
        raise UnreadableUse("no text") from None
    rows = list(_list_rows(text))
    if not rows:
        raise UnreadableUse("no row below its header")
    columns = set(rows[0].fields)
    _check_columns(columns)
    group = tag.casefold() or next((each for each in GROUPS if each in columns), "")
    if group and group not in columns:
        raise UnreadableUse(f"no column {tag!r}; --tag names one of {', '.join(sorted(columns))}")
    busy = _measure_busy(rows)
    left, uses, queued = RowCount(), [], 0.0
    runs_read: set[tuple[str, str, str]] = set()
    for row in rows:
        identity = row.get("jobid", "jobidraw")
        key = (identity, row.get("start"), row.get("end"))
        gpus = _count_gpus(row)
        if "." in identity:
            left.add("a step of a job, counted with the job", row.place)
        elif key in runs_read:
            left.add("the same run of a job again", row.place)
        elif not gpus:
            left.add("no GPUs", row.place)
        elif _base_state(row) in PENDING or row.get("start").casefold() in UNKNOWN_TIMES:
            queued += sum(count for _, count in gpus) * _count_tasks(identity)
            left.add("not started", row.place)
        else:
            runs_read.add(key)
            matched = list(_build_uses(row, gpus, group, busy.get(identity), catalog))
            uses += matched
            if not matched:
                left.add("it ended as it started", row.place)
    notes = _describe_columns(rows, bool(busy))
    grouped = f"the column {group}" if group else "the whole cluster"
    used = len(rows) - left.total
    return MeasuredUsage(name, TITLE, len(rows), used, tuple(uses), left.listed(), grouped, notes, queued)


def _check_columns(columns: set[str]) -> None:
    has_length = columns & {"elapsed", "elapsedraw", "end"}
    has_gpus = columns & GPU_COLUMNS
    if not (columns & {"jobid", "jobidraw"} and "start" in columns and has_length and has_gpus):
        raise UnreadableUse(f"it has the columns {', '.join(sorted(columns))}; needed are {NEEDED}")


def _list_rows(text: str) -> Iterator[AccountingRow]:
    """Each row with its fields by column in lower case."""
    lines = [(number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    header = lines[0][1]
    spans: list[tuple[int, int]] = []
    if len(lines) > 1 and re.fullmatch(r"\s*-+(?:\s+-+)*\s*", lines[1][1]):
        spans = [match.span() for match in re.finditer(r"-+", lines[1][1])]
        lines = [lines[0], *lines[2:]]
    separator = next((each for each in _SEPARATORS if each in header), "")
    if not spans and not separator:
        raise UnreadableUse("its columns cannot be told apart: use --parsable2")

    def split(line: str, names: Sequence[str] = ()) -> list[str]:
        if spans:
            fields = [line[start:end] for start, end in spans]
        elif separator == ",":
            fields = _join_fields(next(csv.reader([line])), names) if names else line.split(",")
        else:
            fields = line.split(separator)
        return [field.strip() for field in fields]

    names = [name.casefold() for name in split(header)]
    for number, line in lines[1:]:
        fields = split(line, names)
        if len(fields) > len(names) and any(fields[len(names) :]):
            advice = ", which have commas: use --parsable2" if separator == "," else ""
            raise UnreadableUse(f"{len(fields)} fields under {len(names)} columns{advice}", f"line {number}")
        yield AccountingRow(f"line {number}", {name: field for name, field in zip(names, fields, strict=False) if name})


def _join_fields(pieces: Sequence[str], names: Sequence[str]) -> list[str]:
    """The fields of a line between commas, where no comma is quoted: those within brackets (tasks of an array) and
    between the parts of a TRES belong to their field. A part that comes again begins the next field of this kind.

    >>> _join_fields("1_[2-3,7],cpu=8,gres/gpu=1,cpu=4".split(","), ["jobid", "reqtres", "alloctres"])
    ['1_[2-3,7]', 'cpu=8,gres/gpu=1', 'cpu=4']
    """
    if len(pieces) <= len(names):
        return list(pieces)
    fields: list[str] = []
    parts: set[str] = set()
    for piece in pieces:
        pair = _PAIR.match(piece)
        is_open = bool(fields) and fields[-1].count("[") > fields[-1].count("]")
        is_tres = bool(fields) and len(fields) <= len(names) and "tres" in names[len(fields) - 1]
        if is_open or (is_tres and pair and parts and pair[1] not in parts):
            fields[-1] += f",{piece}"
        else:
            fields.append(piece)
            parts = set()
        if pair:
            parts.add(pair[1])
    return fields


def _base_state(row: AccountingRow) -> str:
    """CANCELLED of `CANCELLED by 1000`; names that a fixed width cuts end in +."""
    return row.get("state").partition(" ")[0].upper()


def _count_gpus(row: AccountingRow) -> list[tuple[str, float]]:
    """GPUs by type: those with a type, else their whole number. AllocTRES, and what was asked for before a start."""
    for name in ("alloctres", "reqtres"):
        text = row.get(name)
        if text.endswith("+"):
            raise UnreadableUse(f"{name} is cut: print it wider (AllocTRES%100), or use --parsable2", row.place)
        matched = [(match["kind"] or "", float(match["count"])) for match in _GPU.finditer(text)]
        if matched := [each for each in matched if each[1]]:
            return [each for each in matched if each[0]] or matched[:1]
    match = re.search(r"gpu(?::(?P<kind>[A-Za-z][\w.-]*))?(?::(?P<count>\d+))?", row.get("allocgres", "reqgres"))
    if match is None:
        return []
    if row.get("nnodes") not in ("", "1"):
        raise UnreadableUse("AllocGRES of several nodes does not say how many GPUs: print AllocTRES", row.place)
    return [(match["kind"] or "", float(match["count"] or 1))]


def _count_tasks(identity: str) -> int:
    """The tasks of an array that wait in one row (1234_[2-9,12%4]); 1 for a job.

    >>> _count_tasks("1234_[2-9,12%4]"), _count_tasks("1234_7")
    (9, 1)
    """
    match = re.search(r"_\[([0-9,-]+)(?:%\d+)?\]", identity)
    ranges = re.findall(r"(\d{1,7})(?:-(\d{1,7}))?", match[1]) if match else ()
    return sum(max(0, int(last or first) - int(first)) + 1 for first, last in ranges) or 1


def _measure_busy(rows: Sequence[AccountingRow]) -> dict[str, float]:
    """How busy the GPUs of each job were: of its steps that say it, the longest."""
    matched: dict[str, tuple[float, float]] = {}
    for row in rows:
        match = _BUSY.search(row.get("tresusageinave"))
        job, _, step = row.get("jobid", "jobidraw").partition(".")
        if match and step != "extern":
            hours = _read_hours(row) or 0.0
            if hours >= matched.get(job, (-1.0, 0.0))[0]:
                matched[job] = (hours, min(1.0, float(match[1]) / 100))
    return {job: busy for job, (_, busy) in matched.items()}


def _read_hours(row: AccountingRow) -> float | None:
    raw, text = row.get("elapsedraw"), row.get("elapsed")
    if raw.isdecimal():
        return int(raw) / 3600
    match = _ELAPSED.fullmatch(text)
    if match:
        days, hours, minutes, seconds = (int(each or 0) for each in match.groups())
        return days * 24 + hours + minutes / 60 + seconds / 3600
    return None


def _read_time(row: AccountingRow, name: str) -> datetime | None:
    text = row.get(name)
    if text.casefold() in UNKNOWN_TIMES:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise UnreadableUse(f"{name} is {text[:30]!r}, expected 2026-09-01T08:30:00", row.place) from None
    return moment.replace(tzinfo=None)


def _build_uses(
    row: AccountingRow, gpus: Sequence[tuple[str, float]], group: str, busy: float | None, catalog: Catalog
) -> Iterator[MeasuredUse]:
    start, hours = _read_time(row, "start"), _read_hours(row)
    if start is None:
        return
    if hours is None:
        end = _read_time(row, "end")
        if end is None:
            raise UnreadableUse(f"no length of the job: {NEEDED}", row.place)
        hours = (end - start) / timedelta(hours=1)
    if not 0 < hours < math.inf:
        return
    moments = [_read_time(row, name) for name in ("submit", "eligible")]
    queued = max((each for each in moments if each is not None), default=None)
    state = _base_state(row).rstrip("+")
    completed = None if not state or state in GOES_ON else COMPLETED.startswith(state)
    nodes = float(row.get("nnodes")) if row.get("nnodes").isdecimal() else None
    use = MeasuredUse(
        row.get(group) or f"(no {group})" if group else "(all jobs)", row.get("account"), "", "", start, hours, 0.0,
        nodes, busy, max(0.0, (start - queued) / timedelta(hours=1)) if queued else None, completed,
        is_run=True,
    )  # fmt: skip
    for kind, count in gpus:
        accelerator, share = _name_gpu(catalog, kind)
        yield replace(use, written=kind, accelerator=accelerator, accelerators=count * share)


def _name_gpu(catalog: Catalog, kind: str) -> tuple[str, float]:
    """The accelerator of a type, and the part of it that a slice is."""
    match = _SLICE.fullmatch(kind)
    if match is None:
        return find_accelerator(catalog, kind) if kind else "", 1.0
    of = find_accelerator(catalog, match["of"]) if match["of"] else ""
    forms = {form.name for form in catalog.names.match(of)} if of else set(load_slices())
    parts = {
        (name, 1 / each.instances)
        for name, slices in load_slices().items()
        for each in slices
        if name in forms and each.profile == match["profile"].casefold()
    }
    shares = {share for _, share in parts}
    return (of, shares.pop()) if len(shares) == 1 else ("", 1.0)


def _describe_columns(rows: Sequence[AccountingRow], has_busy: bool) -> tuple[str, ...]:
    columns = set(rows[0].fields)
    notes = ["times are those that sacct printed, without a time zone"]
    if not columns & {"submit", "eligible"}:
        notes.append("without the columns Submit and Eligible nothing is known of the queue")
    if "state" not in columns:
        notes.append("without the column State nothing is known of jobs that failed")
    if not has_busy:
        notes.append("no gres/gpuutil in TRESUsageInAve: how busy the GPUs were is not known")
    if "duplicates" not in columns and not any("REQUEUED" in row.get("state").upper() for row in rows):
        notes.append("runs before a requeue are in it only where sacct was asked for --duplicates")
    return tuple(notes)
