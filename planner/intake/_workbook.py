"""What a workbook's parts say beyond its values, read once with every guard on: no DTD, no bomb, no far cell.

Gives hidden rows, number formats, error cells and formulas without a stored value, sheet by sheet; reads no values. A
workbook that passes can be given to a reader that trusts sizes.
"""

from __future__ import annotations

import io
import posixpath
import re
import zipfile
import zlib
from dataclasses import dataclass, field
from typing import IO
from xml.parsers import expat

PARTS_MAX = 1_000
UNPACKED_MAX = 150_000_000
RATIO_MAX = 200
RATIO_FROM = 5_000_000
ROWS_MAX = 200_000
COLUMNS_MAX = 2_000
AREA_MAX = 2_000_000
_REFERENCE = re.compile(r"\$?([A-Z]{1,3})\$?(\d{1,7})")
_BUILT_IN_PERCENT = {9: "0%", 10: "0.00%"}

_DAMAGED = (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError, OSError, KeyError, ValueError)


class Refused(ValueError):
    """The bytes are no workbook that may be opened; the message says why."""


@dataclass(slots=True)
class Marks:
    """What one sheet's part says of its cells, by reference ("C5"); rows and columns count from 1."""

    hidden_rows: set[int] = field(default_factory=set)
    hidden_columns: list[tuple[int, int]] = field(default_factory=list)
    faults: dict[str, str] = field(default_factory=dict)
    styles: dict[str, int] = field(default_factory=dict)
    rows: int = 0
    columns: int = 0


@dataclass(frozen=True, slots=True)
class Parts:
    """All sheets by name in the workbook's order, with their marks; `formats` are number formats by style."""

    sheets: dict[str, Marks]
    formats: tuple[str, ...]
    has_macros: bool
    has_links: bool


def examine(data: bytes) -> Parts:
    """The marks of every sheet. Raises Refused for what must not be opened."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return _examine(archive)
    except Refused:
        raise
    except expat.ExpatError as error:
        raise Refused(f"a damaged workbook (part not well-formed: {error})") from None
    except _DAMAGED as error:
        raise Refused(f"a damaged workbook ({error})") from None


def _examine(archive: zipfile.ZipFile) -> Parts:
    infos = archive.infolist()
    names = [info.filename for info in infos]
    if len(names) > PARTS_MAX or len(names) != len({name.casefold() for name in names}):
        raise Refused("more parts than a workbook has, or two of one name")
    if "xl/workbook.xml" not in names:
        raise Refused(
            "a ZIP archive that is no Excel workbook" + (": save it as .xlsx" if "content.xml" in names else "")
        )
    unpacked = sum(info.file_size for info in infos)
    packed = sum(info.compress_size for info in infos) or 1
    if unpacked > UNPACKED_MAX or (unpacked > RATIO_FROM and unpacked / packed > RATIO_MAX):
        raise Refused(f"it unpacks to {unpacked:,} bytes")
    scans = {info.filename: _scan(archive, info) for info in infos if info.filename.endswith((".xml", ".rels"))}
    book = scans["xl/workbook.xml"]
    targets = scans["xl/_rels/workbook.xml.rels"].targets if "xl/_rels/workbook.xml.rels" in scans else {}
    sheets = {}
    for name, link in book.sheets:
        part = _part(targets.get(link, ""))
        if part not in scans:
            raise Refused(f"the sheet {name[:40]!r} is in no part of it")
        sheets[name] = scans[part].marks
    styles = scans.get("xl/styles.xml")
    return Parts(
        sheets,
        tuple(styles.formats()) if styles else (),
        any(name.casefold().endswith("vbaproject.bin") for name in names),
        any(name.startswith("xl/externalLinks/") for name in names),
    )


def _part(target: str) -> str:
    """The part that a relationship of the workbook points to."""
    if target.startswith("/"):
        return target[1:]
    return target if target.startswith("xl/") else posixpath.normpath(posixpath.join("xl", target))


class _Scan:
    """One pass over one part. Expat calls it for every element; it keeps only what Marks and Parts need."""

    def __init__(self) -> None:
        self.marks = Marks()
        self.sheets: list[tuple[str, str]] = []
        self.targets: dict[str, str] = {}
        self.custom: dict[int, str] = {}
        self.style_formats: list[int] = []
        self._in_cell_styles = False
        self._cell = ""
        self._error = self._formula = self._valued = self._text = self._in_value = False
        self._row = self._column = 0

    def formats(self) -> list[str]:
        return [self.custom.get(number, _BUILT_IN_PERCENT.get(number, "")) for number in self.style_formats]

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        name = tag.rpartition(":")[2]
        handler = getattr(self, f"_start_{name}", None) if name in _HANDLED else None
        if handler:
            handler(attributes)

    def end(self, tag: str) -> None:
        name = tag.rpartition(":")[2]
        if name == "v":
            self._in_value = False
        elif name == "c":
            if self._error:
                self.marks.faults[self._cell] = "an error value"
            elif self._formula and not self._valued and not self._text:
                self.marks.faults[self._cell] = "a formula without a stored value"
        elif name == "cellXfs":
            self._in_cell_styles = False

    def text(self, text: str) -> None:
        self._valued = self._valued or (self._in_value and not text.isspace())

    def _start_col(self, attributes: dict[str, str]) -> None:
        first, last = attributes.get("min", ""), attributes.get("max", "")
        if attributes.get("hidden") in ("1", "true") and first.isdigit() and last.isdigit():
            self.marks.hidden_columns.append((int(first), int(last)))

    def _start_row(self, attributes: dict[str, str]) -> None:
        self._row = int(attributes["r"]) if attributes.get("r", "").isdigit() else self._row + 1
        self._column = 0
        if attributes.get("hidden") in ("1", "true"):
            self.marks.hidden_rows.add(self._row)
        self._within_limits()

    def _start_c(self, attributes: dict[str, str]) -> None:
        reference = _REFERENCE.fullmatch(attributes.get("r", ""))
        if reference:
            self._column = _column_number(reference[1])
            self._row = int(reference[2])
        elif "r" in attributes:
            raise Refused(f"a cell with no place ({attributes['r'][:20]})")
        else:
            self._column += 1
        self._within_limits()
        self._cell = f"{_letters(self._column)}{self._row}"
        self._error = attributes.get("t") == "e"
        self._text = attributes.get("t") in ("str", "s", "inlineStr")
        self._formula = self._valued = False
        if attributes.get("s", "").isdigit():
            self.marks.styles[self._cell] = int(attributes["s"])

    def _start_f(self, _: dict[str, str]) -> None:
        self._formula = True

    def _start_v(self, _: dict[str, str]) -> None:
        self._in_value = True

    def _start_sheet(self, attributes: dict[str, str]) -> None:
        link = next((value for key, value in attributes.items() if key.rpartition(":")[2] == "id"), "")
        self.sheets.append((attributes.get("name", ""), link))

    def _start_Relationship(self, attributes: dict[str, str]) -> None:  # noqa: N802  (the element's own name)
        self.targets[attributes.get("Id", "")] = attributes.get("Target", "")

    def _start_numFmt(self, attributes: dict[str, str]) -> None:  # noqa: N802  (the element's own name)
        if attributes.get("numFmtId", "").isdigit():
            self.custom[int(attributes["numFmtId"])] = attributes.get("formatCode", "")

    def _start_cellXfs(self, _: dict[str, str]) -> None:  # noqa: N802  (the element's own name)
        self._in_cell_styles = True

    def _start_xf(self, attributes: dict[str, str]) -> None:
        if self._in_cell_styles:
            number = attributes.get("numFmtId", "0")
            self.style_formats.append(int(number) if number.isdigit() else 0)

    def _within_limits(self) -> None:
        marks = self.marks
        marks.rows, marks.columns = max(marks.rows, self._row), max(marks.columns, self._column)
        if marks.rows > ROWS_MAX or marks.columns > COLUMNS_MAX or marks.rows * marks.columns > AREA_MAX:
            raise Refused(f"a cell as far out as column {marks.columns:,}, row {marks.rows:,}")


_HANDLED = frozenset({"row", "col", "c", "f", "v", "sheet", "Relationship", "numFmt", "cellXfs", "xf"})


def _scan(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> _Scan:
    scan = _Scan()
    parser = expat.ParserCreate("utf-8")
    parser.StartElementHandler = scan.start
    parser.EndElementHandler = scan.end
    parser.CharacterDataHandler = scan.text
    parser.StartDoctypeDeclHandler = _refuse_doctype
    parser.XmlDeclHandler = _refuse_encoding
    parser.buffer_text = True
    with archive.open(info) as part:
        _feed(parser, part, info.filename)
    return scan


def _feed(parser: expat.XMLParserType, part: IO[bytes], name: str) -> None:
    """Feeds a part piece by piece; zipfile cuts one that unpacks to more than it says, a wide encoding is refused."""
    head = part.read(4)
    if head[:2] in (b"\xff\xfe", b"\xfe\xff") or b"\x00" in head:
        raise Refused(f"part {name} is not UTF-8")
    parser.Parse(head, False)
    while piece := part.read(1 << 16):
        parser.Parse(piece, False)
    parser.Parse(b"", True)


def _refuse_doctype(*_: object) -> None:
    raise Refused("a part declares a document type, as no workbook does")


def _refuse_encoding(_version: str, encoding: str | None, _standalone: int) -> None:
    """Another reader might believe a declared encoding and see other cells than were examined here."""
    if encoding is not None and encoding.casefold() not in ("utf-8", "us-ascii"):
        raise Refused(f"a part in the encoding {encoding[:20]}")


def _column_number(letters: str) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - 64
    return number


def _letters(number: int) -> str:
    letters = ""
    while number:
        number, rest = divmod(number - 1, 26)
        letters = chr(65 + rest) + letters
    return letters
