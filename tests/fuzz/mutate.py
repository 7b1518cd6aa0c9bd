"""Real files damaged: bytes, texts, cells, the parts of an archive and the XML in them. Equal seeds give equal files.

Knows nothing of readers; a workbook is damaged with its archive whole again, so that its readers are reached.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
import warnings
import zipfile
from collections.abc import Callable, Sequence
from random import Random

ODD_CELLS = (
    "", " ", "0", "-1", "-0.0", "1e308", "1e400", "-1e400", "NaN", "nan", "inf", "9" * 400, "9" * 5000,
    "0." + "0" * 400 + "1", "1.234,5", "1,234.5", "1.234", "45%", "-45%", "½", "²", "٣", "１２３", "0x10", "1_000",
    "1e", "--5", "(300)", "$", "€3", "kr 5", "5 kr", "true", "#REF!", "Err:502", "=1+1", "=A1", "={1}",
    "=cmd|'/C calc'!A0", "@SUM(1)", "+1", '=HYPERLINK("http://x")', "http://x",
    "\x00", "\x1b[31m", "\u202e", "\ufeff", "\ufffd", "\t",
    "\n", "\r\n", '"', "'", "3/4/2027", "31/31/2026", "2026-13-45", "0000-00-00", "9999-12-31", "Dec-26", "month 999",
    "Month 0", "Q4",
    "Q1 FY27", "FY26/27", "FY27 demand", "Apr", "Last year", "Fiscal year starts", "Last year's cost", "Total",
    "Grand total", "(example) x", "Workload", "GPU", "Hours", "GPU-hours", "H100",
    "8x H100", "H100:0", "0x H100", "9999999999x H100", "a, b; c/d|e", "24/7", "24 x 7", "H" * 40_000, "/", ".", "[",
    "]", "{}", "{", "%s", "\\", "None",
)  # fmt: skip
ODD_VALUES = (
    b"", b"0", b"-1", b"1e400", b"NaN", b"9" * 20, b"9" * 5000, b"e", b"d", b"s", b"str", b"b", b"n", b"inlineStr",
    b"A1", b"A1:XFD1048576", b"XFD1048576", b"AAAA1", b"A0", b"a1", b"A", b"1", b"rId1", b"../x", b"/xl/workbook.xml",
    b"[h]:mm", b"true", b"false", b"hidden", b"veryHidden", b"SUM(A1:A9)", b"1/0", b"A1+1", b"1^999", b"-(" * 300,
    b"''!A1", b"\xc2\xb2", b"2026-02-30", b"0000-00-00T99:00", b"float", b"percentage", b"collapse", b"&#0;", b"&lt;",
    b"&x;", b"&amp;",
)  # fmt: skip
ODD_NODES = ("[1]", "{}", "&a [*a]", "!!x", "|", "null", '"\\ud800"')
HEADS = (
    b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff", b"\xff\xfe\x00\x00", b"PK\x03\x04", b"\x1f\x8b", b"PAR1", b"{", b"[",
    b"\x00", b"sep=;\n", b"sep=\x00\n", b"---\n", b"<!DOCTYPE html>",
)  # fmt: skip
ODD_TAGS = (
    b"<a>", b"</row>", b"<c><v>", b"<f/>", b"<row/>", b"<!--", b"<!DOCTYPE a>",
    b"<table:table-row table:number-rows-repeated='99999'>",
)  # fmt: skip
ENCODINGS = (
    "utf-16",
    "utf-16-le",
    "utf-16-be",
    "utf-32",
    "utf-8-sig",
    "cp1252",
    "latin-1",
    "cp037",
    "shift_jis",
    "utf-7",
)
SEPARATORS = (",", ";", "\t", "|", "^", "~", "\x1f", "\x01", " ", ":")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_XML_VALUE = re.compile(rb'(?<==")[^"]*(?=")|(?<=>)[^<>]+(?=<)')
_XML_TAG = re.compile(rb"<[^<>]+>")
Change = Callable[[bytes, Random, Sequence[bytes]], bytes]


def damaged(data: bytes, name: str, random: Random, others: Sequence[bytes]) -> tuple[bytes, str]:
    """The file with one to three things wrong, and its name, which may be wrong too. `others` lend pieces."""
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        data = random.choice(_fitting(data))(data, random, others)
    if random.random() < 0.1:
        name = random.choice(
            ("-", "x.csv", "x.xlsx", "x.ods", "x.json", "x.yaml", "x.gz", "x.parquet", "x.jsonl", "x.tsv", "x")
        )
    return data, name


def _fitting(data: bytes) -> tuple[Change, ...]:
    """What can be done to it: to an archive mostly in its parts, to a text mostly in its cells."""
    if data.startswith(b"PK\x03\x04") and zipfile.is_zipfile(io.BytesIO(data)):
        return (*ARCHIVE, *ARCHIVE, bytes_changed)
    return (*BYTES, *TEXT, *TEXT) if b"\x00" not in data[:1000] else BYTES


def bytes_changed(data: bytes, random: Random, others: Sequence[bytes]) -> bytes:
    return random.choice(BYTES)(data, random, others)


def _flipped(data: bytes, random: Random, _: Sequence[bytes]) -> bytes:
    found = bytearray(data)
    for _ in range(random.randint(1, 8)):
        if found:
            found[random.randrange(len(found))] ^= 1 << random.randrange(8)
    return bytes(found)


def _cut(data: bytes, random: Random, _: Sequence[bytes]) -> bytes:
    at, end = sorted((random.randint(0, len(data)), random.randint(0, len(data))))
    return random.choice((data[:at], data[end:], data[:at] + data[end:]))


def _spliced(data: bytes, random: Random, others: Sequence[bytes]) -> bytes:
    other = random.choice(others)
    at, start = random.randint(0, len(data)), random.randint(0, len(other))
    return data[:at] + other[start : start + random.choice((10, 300, 20_000))] + data[at:]


def _repeated(data: bytes, random: Random, _: Sequence[bytes]) -> bytes:
    at = random.randint(0, len(data))
    return data[:at] + data[at : at + 200] * random.choice((2, 30)) + data[at:]


def _noised(data: bytes, random: Random, _: Sequence[bytes]) -> bytes:
    at = random.randint(0, len(data))
    piece = random.choice(
        (b"\x00", b"\x00" * 50, b'"', b"\r", b"\n\r\n", b"\xff", b"\xed\xa0\x80", random.randbytes(20))
    )
    return data[:at] + piece + data[at:]


def _headed(data: bytes, random: Random, _: Sequence[bytes]) -> bytes:
    return random.choice(HEADS) + data


BYTES: tuple[Change, ...] = (_flipped, _cut, _spliced, _repeated, _noised, _headed)


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _recoded(data: bytes, random: Random, _: Sequence[bytes]) -> bytes:
    return codecs.encode(_text(data), random.choice(ENCODINGS), "replace")


def _line_ends(data: bytes, random: Random, _: Sequence[bytes]) -> bytes:
    lines = _text(data).splitlines()
    return "".join(line + random.choice(("\n", "\r\n", "\r", "\n\n", "\u2028")) for line in lines).encode(
        "utf-8", "replace"
    )


def _numbers(data: bytes, random: Random, _: Sequence[bytes]) -> bytes:
    share = random.choice((0.02, 0.2, 1.0))
    return _NUMBER.sub(
        lambda found: random.choice(ODD_CELLS) if random.random() < share else found[0], _text(data)
    ).encode()


def _words(data: bytes, random: Random, _: Sequence[bytes]) -> bytes:
    """Texts after a colon replaced, as documents have them."""

    def other(found: re.Match[str]) -> str:
        return random.choice((*ODD_CELLS, *ODD_NODES)) if random.random() < 0.2 else found[0]

    return re.sub(r"(?<=: )\S[^\n,}]*", other, _text(data)).encode()


def _cells(data: bytes, random: Random, _: Sequence[bytes]) -> bytes:
    """The file as rows of fields, with fields, rows or columns changed, and written with any separator."""
    text = _text(data)
    was = max(",;\t", key=text[:2000].count)
    try:
        grid = list(csv.reader(io.StringIO(text), delimiter=was))
    except csv.Error:
        return data
    random.choice(GRID)(grid, random)
    out = io.StringIO()
    separator = was if random.random() < 0.7 else random.choice(SEPARATORS)
    try:
        csv.writer(out, delimiter=separator, lineterminator=random.choice(("\n", "\r\n")), escapechar="\\").writerows(
            grid
        )
    except csv.Error:
        return data
    return out.getvalue().encode(random.choice(("utf-8", "utf-8", "utf-8-sig", "utf-16")), "replace")


def _any_cell(grid: list[list[str]], random: Random) -> tuple[list[str], int] | None:
    rows = [row for row in grid if row]
    row = random.choice(rows) if rows else []
    return (row, random.randrange(len(row))) if row else None


def _odd_cells(grid: list[list[str]], random: Random) -> None:
    for _ in range(random.choice((1, 5, 40))):
        if at := _any_cell(grid, random):
            at[0][at[1]] = random.choice(ODD_CELLS)


def _swapped_cells(grid: list[list[str]], random: Random) -> None:
    for _ in range(random.choice((1, 20))):
        one, two = _any_cell(grid, random), _any_cell(grid, random)
        if one and two:
            one[0][one[1]], two[0][two[1]] = two[0][two[1]], one[0][one[1]]


def _odd_column(grid: list[list[str]], random: Random) -> None:
    at = random.randrange(max(map(len, grid), default=1) or 1)
    value = random.choice(ODD_CELLS)
    for row in grid[random.choice((0, 1, 3)) :]:
        if at < len(row):
            row[at] = value


def _shuffled_words(grid: list[list[str]], random: Random) -> None:
    """The words of the header exchanged among its fields."""
    row = max(grid[:12], key=len, default=[])
    words = [word for field in row for word in field.split()]
    random.shuffle(words)
    for index in range(len(row)):
        row[index] = " ".join(words[index :: len(row)])


def _shuffled_rows(grid: list[list[str]], random: Random) -> None:
    random.shuffle(grid)


def _shuffled_row(grid: list[list[str]], random: Random) -> None:
    if at := _any_cell(grid, random):
        random.shuffle(at[0])


def _wide(grid: list[list[str]], random: Random) -> None:
    """Ten thousand columns, in one row or in a few."""
    for row in random.sample(grid, min(len(grid), random.choice((1, 3)))):
        row.extend([random.choice(("", "x", "7", "GPU-hours", "Dec-26"))] * 10_000)


def _long_cell(grid: list[list[str]], random: Random) -> None:
    if at := _any_cell(grid, random):
        at[0][at[1]] = random.choice(("x", "9", " ", "H100 ", "1,", "(", "\n", "-")) * 100_000


def _transposed(grid: list[list[str]], _: Random) -> None:
    width = max(map(len, grid), default=0)
    grid[:] = [[row[index] if index < len(row) else "" for row in grid] for index in range(width)]


def _many_rows(grid: list[list[str]], random: Random) -> None:
    grid += [list(row) for row in grid[-3:] for _ in range(random.choice((3, 400)))]


GRID = (
    _odd_cells, _odd_cells, _odd_cells, _swapped_cells, _odd_column, _shuffled_words, _shuffled_rows, _shuffled_row,
    _wide, _long_cell, _transposed, _many_rows,
)  # fmt: skip
TEXT: tuple[Change, ...] = (_recoded, _line_ends, _numbers, _words, _cells, _cells, _cells)


def _parts(data: bytes) -> dict[str, bytes]:
    """What an archive holds; empty where that cannot be told."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return {name: archive.read(name) for name in archive.namelist()}
    except Exception:  # noqa: BLE001  (damaged already: it is left as it is)
        return {}


def _archive(parts: Sequence[tuple[str, bytes]]) -> bytes:
    target = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # two parts of one name are meant
        with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, body in parts:
                archive.writestr(name or "-", body)
    return target.getvalue()


def _parts_changed(data: bytes, random: Random, others: Sequence[bytes]) -> bytes:
    """A part lost, renamed, doubled, cut, exchanged, or put in: the archive itself is sound."""
    parts = list(_parts(data).items())
    if not parts:
        return data
    at = random.randrange(len(parts))
    name, body = parts[at]
    other = random.choice(parts)
    cut, wide = body[: random.randint(0, len(body))], body.decode("utf-8", "replace").encode("utf-16")
    new = random.choice((
        [], [(name.upper(), body)], [(f"{name}x", body)], [(name, body), (name, other[1])], [(name, cut)],
        [(name, other[1])], [(name, b"")], [(name, random.choice(others)[:5000])], [(name, wide)],
        [(name, body), ("xl/vbaProject.bin", b"x")], [(name, body), ("../../x.xml", body)],
        [(name, body), ("Basic/x.xml", b"")], [(name, bytes(6_000_000))],
    ))  # fmt: skip
    return _archive([*parts[:at], *new, *parts[at + 1 :]])


def _xml_changed(data: bytes, random: Random, _: Sequence[bytes]) -> bytes:
    """Values, tags or bytes of one part changed: mostly one with cells in it."""
    parts = _parts(data)
    if not parts:
        return data
    names = [name for name in parts if "sheet" in name or "content" in name] if random.random() < 0.6 else list(parts)
    name = random.choice(names or list(parts))
    body = parts[name]
    for _ in range(random.choice((1, 3, 10))):
        values = (random.choice(ODD_VALUES), random.choice(ODD_CELLS)[:9000].encode())
        tags = (b"", None, random.choice(ODD_TAGS))
        pattern, new = random.choice([*((_XML_VALUE, each) for each in values), *((_XML_TAG, each) for each in tags)])
        spans = [found.span() for found in pattern.finditer(body)]
        if spans:
            start, end = random.choice(spans)
            body = body[:start] + (body[start:end] * 2 if new is None else new) + body[end:]
    return _archive([*{**parts, name: body}.items()])


ARCHIVE: tuple[Change, ...] = (_parts_changed, _xml_changed, _xml_changed, _xml_changed)
