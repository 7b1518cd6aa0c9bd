"""Line ends of a CSV file: the engine reads a file with one kind of them and loses rows of another without a word.

So they are counted first, and a file in which they differ is written anew with one kind. Knows nothing else of a file.
"""

from __future__ import annotations

import csv
import gzip
import io
from collections.abc import Iterator
from pathlib import Path
from typing import IO

CHUNK_BYTES = 1 << 20
FIELD_CHARS_MAX = 10_000_000


def open_bytes(path: Path, *, compressed: bool) -> IO[bytes]:
    """The bytes of the file, unpacked."""
    return gzip.open(path) if compressed else path.open("rb")  # type: ignore[return-value]  # a GzipFile reads bytes


def has_mixed_line_ends(path: Path, *, compressed: bool) -> bool:
    """Whether a file has more than one kind of line end anywhere, in quotes or not. Reads all of it.

    Raises OSError, EOFError or zlib.error for a file that does not unpack.
    """
    feeds = returns = both = 0
    last = b""
    with open_bytes(path, compressed=compressed) as file:
        while chunk := file.read(CHUNK_BYTES):
            feeds += chunk.count(b"\n")
            if b"\r" in chunk or last == b"\r":
                returns += chunk.count(b"\r")
                both += chunk.count(b"\r\n") + (last == b"\r" and chunk.startswith(b"\n"))
            last = chunk[-1:]
    return bool(returns and feeds) and not returns == feeds == both


def rewrite_line_ends(path: Path, to: Path, *, compressed: bool, encoding: str, separator: str) -> None:
    """The same table in UTF-8 with one kind of line end; a row stays as short or as long as it is.

    Raises csv.Error where a field does not end, and what reading the file raises.
    """
    csv.field_size_limit(FIELD_CHARS_MAX)
    name = "utf-8-sig" if encoding == "utf-8" else encoding
    with open_bytes(path, compressed=compressed) as file, to.open("w", encoding="utf-8", newline="") as out:
        text = io.TextIOWrapper(file, name, "replace", newline="")
        csv.writer(out, delimiter=separator, lineterminator="\n").writerows(_read_rows(text, separator))


def _read_rows(text: IO[str], separator: str) -> Iterator[list[str]]:
    """Every record; line ends within a field become the one kind too."""
    for row in csv.reader(text, delimiter=separator):
        yield [field.replace("\r\n", "\n").replace("\r", "\n") for field in row]
