"""Encodings of text files, and the kinds of files that are not text."""

from __future__ import annotations

import codecs

COMMON_SEPARATORS = (",", ";", "\t", "|")
"""Between the fields of a CSV file."""
MAGIC = (
    (b"PK\x03\x04", "a ZIP archive"),
    (b"PK\x05\x06", "an empty ZIP archive"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Excel workbook (.xls) or one with a password"),
    (b"\x89PNG", "a PNG picture"),
    (b"\xff\xd8\xff", "a JPEG picture"),
    (b"GIF8", "a GIF picture"),
    (b"%PDF", "a PDF document"),
    (b"{\\rtf", "an RTF document"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"PAR1", "a Parquet file"),
    (b"SQLite format 3\x00", "a SQLite database"),
    (b"\x7fELF", "a program"),
)
BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def binary_kind(data: bytes) -> str | None:
    """The kind of a file that is not text ("a PNG picture"); None for text."""
    for magic, kind in MAGIC:
        if data.startswith(magic):
            return kind
    if data[:1024].lstrip().lower().startswith((b"<!doctype html", b"<html")):
        return "a web page"
    if b"\x00" in data and not _detect_encoding(data).startswith(("utf-16", "utf-32")):
        return "a binary file"
    return None


def decode(data: bytes, fallback: str = "") -> tuple[str, str]:
    """The text and its encoding: by its byte order mark, UTF-16 by its zero bytes, else UTF-8, else `fallback`.

    Raises UnicodeDecodeError where none of them decodes it.
    """
    encoding = _detect_encoding(data)
    try:
        return data.decode(encoding), encoding
    except UnicodeDecodeError:
        if not fallback:
            raise
        return data.decode(fallback), fallback


def _detect_encoding(data: bytes) -> str:
    for mark, encoding in BYTE_ORDER_MARKS:
        if data.startswith(mark):
            return encoding
    head = data[:512]
    if len(head) > 3 and len(head) % 2 == 0:
        if head[1::2].count(0) > len(head) * 0.4 and 0 not in head[::2]:
            return "utf-16-le"
        if head[::2].count(0) > len(head) * 0.4 and 0 not in head[1::2]:
            return "utf-16-be"
    return "utf-8"
