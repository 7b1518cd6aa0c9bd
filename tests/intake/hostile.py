"""Every hostile kind of file, each read in a process of its own: what it is told, and what it cost.

python tests/intake/hostile.py        prints one JSON object: kind -> told, notes, MiB, seconds
"""

from __future__ import annotations

import gzip
import io
import json
import os
import resource
import sys
import time
import zipfile
from collections.abc import Callable, Iterator
from typing import Any

SHEET = "xl/worksheets/sheet1.xml"
ROWS = [["Workload", "GPU", "GPU-hours / month"], ["A", "H100", 100], ["B", "H100", 7]]
INJECTED = (
    "=1+1", "+2+1", "-3+1", "@SUM(4,1)", "\t=5+1", "\r=6+1", "{=7+1}", "＝8+1", "=cmd|'/C calc'!A0",
    '=HYPERLINK("http://example.org","x")', "http://example.org",
)  # fmt: skip
"""Texts that a careless writer makes a formula or a link of."""
FOCUS = "BilledCost,EffectiveCost,ChargeCategory,BillingCurrency,ChargePeriodStart,ProviderName,ChargeDescription\n"
XXE = b'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><worksheet '
LAUGHS = (
    b'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "lol"><!ENTITY b "&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;">]><worksheet '
)
FAR = b'<row r="9"><c r="XFD1048576"><v>1</v></c></row></sheetData>'
LAST = b"</sheetData>"


def kinds() -> Iterator[tuple[str, str, Callable[[], bytes]]]:
    """Each kind by its name, the name of its file, and what makes its bytes."""
    book = _book(ROWS)
    head = book_part(book).partition(b"<worksheet ")[0] + b"<worksheet "
    yield "a cell at XFD1048576", "x.xlsx", lambda: _with(book, LAST, FAR)
    yield "a dimension tag to XFD1048576", "x.xlsx", lambda: _with(book, b'ref="A1:C3"', b'ref="A1:XFD1048576"')
    yield "a zip bomb of 300 MB", "x.xlsx", lambda: _with(book, LAST, b"<row/>" * 50_000_000 + LAST)
    yield "a zip bomb that lies of its size", "x.xlsx", lambda: _lying(book)
    yield "entity expansion", "x.xlsx", lambda: _with(book, head, LAUGHS)
    yield "an external entity", "x.xlsx", lambda: _with(book, head, XXE)
    yield "macros under .xlsx", "x.xlsx", lambda: _with(book, b"", b"", {"xl/vbaProject.bin": b"\xd0\xcf\x11\xe0"})
    yield (
        "links to another book",
        "x.xlsx",
        lambda: _with(book, b"", b"", {"xl/externalLinks/externalLink1.xml": b"<a/>"}),
    )
    for formula in ("'[book.xlsx]S'!A1", 'WEBSERVICE("http://example.org")', 'HYPERLINK("http://example.org")'):
        yield f"={formula}, a value stored", "x.xlsx", lambda f=formula: _formula(book, f, "5")
        yield f"={formula}, no value stored", "x.xlsx", lambda f=formula: _formula(book, f, "")
    yield "not a ZIP", "x.xlsx", lambda: b"Workload,GPU,GPU-hours\nA,H100,5\n"
    yield "an OLE header", "x.xlsx", lambda: b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(4000)
    yield "a ZIP cut in two", "x.xlsx", lambda: book[: len(book) // 2]
    yield "an ODS of repeated rows", "x.ods", lambda: _ods('table:number-rows-repeated="999999999"', "")
    yield "an ODS of repeated columns", "x.ods", lambda: _ods("", 'table:number-columns-repeated="16384"')
    thousand, wide = 'table:number-rows-repeated="1000"', 'table:number-columns-repeated="1999"'
    yield "an ODS of 2,000,000 repeated cells", "x.ods", lambda: _ods(thousand, wide)
    yield "a sheet of 2,000,000 claimed cells", "x.xlsx", lambda: _with(book, LAST, _corners(1000, "BXX") + LAST)
    yield "merged cells over all", "x.xlsx", lambda: _with(book, LAST, LAST + _merges())
    yield "10,000 columns", "x.csv", ("Workload,GPU,GPU-hours" + ",x" * 10_000 + "\nA,H100,5\n").encode
    yield "a field of 10 MB", "x.csv", lambda: b"Workload,GPU,GPU-hours\n" + b"A" * 10_000_000 + b",H100,5\n"
    yield "19 MB of separators", "x.csv", lambda: b"Workload,GPU,GPU-hours\n" + b"," * 19_000_000
    yield "19 lines just short enough", "x.csv", lambda: b"Workload,GPU,GPU-hours\n" + 19 * (b"A" * 999_999 + b"\n")
    yield "19 MB of quotes", "x.csv", lambda: b'"' * 19_000_000
    yield "21 MB", "x.csv", lambda: b"Workload,GPU,GPU-hours\n" + b"A,H100,5\n" * 2_400_000
    yield "aliases without end", "x.yaml", _aliases
    yield "brackets without end", "x.json", lambda: b"[" * 1_000_000
    yield "brackets without end in YAML", "x.yaml", lambda: b"a: " + b"[" * 100_000
    yield "dashes without end in YAML", "x.yaml", lambda: b"- " * 100_000 + b"x"
    yield "a number of 1,000,000 digits", "x.json", lambda: b'{"workloads": ' + b"9" * 1_000_000 + b"}"
    yield "a gzip bomb that is no bill", "x.gz", lambda: gzip.compress(bytes(300_000_000), mtime=0)
    yield "a gzip bomb that is a bill", "x.csv.gz", lambda: gzip.compress(FOCUS.encode() + bytes(100_000_000), mtime=0)
    yield "texts that would be formulas", "x.xlsx", lambda: _book([ROWS[0], *([text, "H100", 1] for text in INJECTED)])
    yield (
        "texts that would be formulas, CSV",
        "x.csv",
        lambda: _csv([ROWS[0], *([text, "H100", 1] for text in INJECTED)]),
    )


def _book(rows: list[list[Any]]) -> bytes:
    import xlsxwriter

    target = io.BytesIO()
    with xlsxwriter.Workbook(target, {"in_memory": True}) as book:
        sheet = book.add_worksheet("Plan")
        for number, row in enumerate(rows):
            for column, value in enumerate(row):
                write = sheet.write_string if isinstance(value, str) else sheet.write_number
                write(number, column, value)
    return target.getvalue()


def _csv(rows: list[list[Any]]) -> bytes:
    import csv

    text = io.StringIO()
    csv.writer(text).writerows(rows)
    return text.getvalue().encode()


def book_part(book: bytes, name: str = SHEET) -> bytes:
    with zipfile.ZipFile(io.BytesIO(book)) as archive:
        return archive.read(name)


def _with(book: bytes, old: bytes, new: bytes, extra: dict[str, bytes] | None = None) -> bytes:
    """The book with its sheet's XML changed in one place, and parts added."""
    target = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(book)) as source, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in source.namelist():
            body = source.read(name)
            assert name != SHEET or old in body
            archive.writestr(name, body.replace(old, new, 1) if name == SHEET else body)
        for name, body in (extra or {}).items():
            archive.writestr(name, body)
    return target.getvalue()


def _lying(book: bytes) -> bytes:
    """A part of 100 MB that the archive's lists say has 1,000 bytes."""
    size = 100_000_000
    bomb = bytearray(_with(book, b"", b"", {"xl/more.xml": b" " * size}))
    return bytes(bomb.replace(size.to_bytes(4, "little"), (1000).to_bytes(4, "little")))


def _formula(book: bytes, formula: str, value: str) -> bytes:
    from xml.sax.saxutils import escape

    stored = f"<v>{value}</v>" if value else ""
    return _with(book, b'<c r="C2"><v>100</v></c>', f'<c r="C2"><f>{escape(formula)}</f>{stored}</c>'.encode())


def _corners(rows: int, column: str) -> bytes:
    return b"".join(f'<row r="{row}"><c r="{column}{row}"><v>1</v></c></row>'.encode() for row in range(4, rows))


def _merges() -> bytes:
    refs = "".join(f'<mergeCell ref="A{row}:XFD1048576"/>' for row in range(1, 2000))
    return f'<mergeCells count="1999">{refs}</mergeCells>'.encode()


def _ods(row: str, cell: str) -> bytes:
    names = " ".join(f'xmlns:{x}="urn:oasis:names:tc:opendocument:xmlns:{x}:1.0"' for x in ("office", "table", "text"))
    body = f'<table:table-cell {cell} office:value-type="string"><text:p>x</text:p></table:table-cell>'
    body = f'<table:table table:name="Plan"><table:table-row {row}>{body}</table:table-row></table:table>'
    body = f"<office:body><office:spreadsheet>{body}</office:spreadsheet></office:body>"
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr("content.xml", f"<office:document-content {names}>{body}</office:document-content>")
    return target.getvalue()


def _aliases() -> bytes:
    lines = ["a0: &a0 [x]"] + [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    return ("\n".join([*lines, "workloads: *a11"]) + "\n").encode()


def read_apart(data: bytes, name: str) -> dict[str, Any]:
    """What reading says of it, with the most memory and the time that it took, in a child of this process."""
    out, into = os.pipe()
    if not (child := os.fork()):
        os.close(out)
        resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))
        with os.fdopen(into, "w", encoding="utf-8") as pipe:
            json.dump(_read(data, name), pipe)
        os._exit(0)
    os.close(into)
    with os.fdopen(out, encoding="utf-8") as pipe:
        text = pipe.read()
    _, status, used = os.wait4(child, 0)
    found: dict[str, Any] = json.loads(text) if text else {"told": [f"the reader ended with {status}"], "notes": []}
    return {**found, "mib": used.ru_maxrss // 1024}


def _read(data: bytes, name: str) -> dict[str, Any]:
    from planner.inputs.file_reader import read

    begun = time.perf_counter()
    found = read(data, name)
    seconds = time.perf_counter() - begun
    workloads = found.document.get("workloads") or []
    names = [each.get("name") for each in workloads if isinstance(each, dict)] if not found.complaints else []
    told = [str(complaint)[:400] for complaint in found.complaints[:3]]
    return {"told": told, "notes": list(found.inputs.notes)[:4], "names": names, "seconds": round(seconds, 2)}


def main() -> None:
    from planner.inputs.file_reader import formats

    formats()  # what all of them load is no one's own
    found = {}
    for kind, name, make in kinds():
        found[kind] = read_apart(make(), name)
    sys.stdout.write(json.dumps(found, indent=1, ensure_ascii=False))


if __name__ == "__main__":
    main()
