"""ZIP archives of XML parts, with limits against hostile files: no DTD, no zip bomb, no encoding but UTF-8."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from xml.parsers import expat

PARTS_MAX = 1_000
UNPACKED_MAX = 150_000_000
RATIO_MAX = 200
RATIO_FROM = 5_000_000
ROWS_MAX = 200_000
COLUMNS_MAX = 2_000
AREA_MAX = 2_000_000
_DAMAGED = (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError, OSError, KeyError, ValueError)


class RejectedWorkbook(ValueError):
    """The bytes are not a workbook that may be opened; the message is the reason."""


@contextmanager
def open_archive(data: bytes) -> Iterator[zipfile.ZipFile]:
    """The archive, once its directory is checked. Every defect raises RejectedWorkbook."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            _check_archive(archive)
            yield archive
    except RejectedWorkbook:
        raise
    except expat.ExpatError as error:
        raise RejectedWorkbook(f"a damaged workbook (part not well-formed: {error})") from None
    except _DAMAGED as error:
        raise RejectedWorkbook(f"a damaged workbook ({error})") from None


def _check_archive(archive: zipfile.ZipFile) -> None:
    infos = archive.infolist()
    names = [info.filename for info in infos]
    if len(names) > PARTS_MAX or len(names) != len({name.casefold() for name in names}):
        raise RejectedWorkbook("more parts than a workbook has, or two parts with the same name")
    if any(info.flag_bits & 1 for info in infos):
        raise RejectedWorkbook("it has a password: save it without one")
    unpacked = sum(info.file_size for info in infos)
    packed = sum(info.compress_size for info in infos) or 1
    if unpacked > UNPACKED_MAX or (unpacked > RATIO_FROM and unpacked / packed > RATIO_MAX):
        raise RejectedWorkbook(f"it unpacks to {unpacked:,} bytes")


def parse_part(
    archive: zipfile.ZipFile,
    info: zipfile.ZipInfo,
    start: Callable[[str, dict[str, str]], None],
    end: Callable[[str], None],
    text: Callable[[str], None],
) -> None:
    """Parses one part; names of elements and attributes keep their prefixes."""
    parser = expat.ParserCreate("utf-8")
    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = text
    parser.StartDoctypeDeclHandler = _reject_doctype
    parser.XmlDeclHandler = _reject_encoding
    parser.buffer_text = True
    with archive.open(info) as part:  # zipfile cuts a part that unpacks to more than its stated size
        head = part.read(4)
        if head[:2] in (b"\xff\xfe", b"\xfe\xff") or b"\x00" in head:
            raise RejectedWorkbook(f"part {info.filename} is not UTF-8")
        parser.Parse(head, False)
        while piece := part.read(1 << 16):
            parser.Parse(piece, False)
        parser.Parse(b"", True)


def check_size_limits(rows: int, columns: int) -> None:
    """Rejects a sheet that is larger than any plan."""
    if rows > ROWS_MAX or columns > COLUMNS_MAX or rows * columns > AREA_MAX:
        raise RejectedWorkbook(f"a cell in column {columns:,}, row {rows:,}")


def _reject_doctype(*_: object) -> None:
    raise RejectedWorkbook("a part declares a document type")


def _reject_encoding(_version: str, encoding: str | None, _standalone: int) -> None:
    """Rejects other encodings: the reader of values might apply them and see other cells than were checked here."""
    if encoding is not None and encoding.casefold() not in ("utf-8", "us-ascii"):
        raise RejectedWorkbook(f"a part in the encoding {encoding[:20]}")


def is_open_document(data: bytes) -> bool:
    """Whether an archive is an OpenDocument file, by the names of its parts, which are stored uncompressed."""
    return data.startswith(b"PK\x03\x04") and b"content.xml" in data and b"xl/workbook.xml" not in data
