"""A workbook computed a second time: here, by the rules of spreadsheets, and by LibreOffice where it is installed.

Nothing of the product is used, and no stored value is believed.
"""

from __future__ import annotations

import io
import math
import operator
import re
import shutil
import subprocess
import sys
import zipfile

import openpyxl
import pytest
from python_calamine import CalamineWorkbook

DEEP = 20_000
"""A running sum of months asks for the month before, and so on."""
TOKEN = re.compile(
    r"\s*(?:(?P<text>\"(?:[^\"]|\"\")*\")"
    r"|(?P<ref>(?:'[^']+'!)?\$?[A-Z]{1,3}\$?\d+(?::\$?[A-Z]{1,3}\$?\d+)?)(?![A-Za-z_0-9(])"
    r"|(?P<function>[A-Z]+)(?=\()|(?P<name>[a-z_][a-z_0-9]*)"
    r"|(?P<number>\d+\.?\d*(?:[eE][-+]?\d+)?)|(?P<sign><>|<=|>=|[-+*/^(),=<>&]))"
)
LEVELS = (("=", "<>", "<", ">", "<=", ">="), ("&",), ("+", "-"), ("*", "/"), ("^",))
"""Operators from the loosest to the tightest; a sign in front of an operand binds tighter than all of them."""
COMPARES = {
    "=": operator.eq, "<>": operator.ne, "<": operator.lt, ">": operator.gt, "<=": operator.le, ">=": operator.ge,
}  # fmt: skip
COUNTS = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "^": operator.pow}


class NoValue(ValueError):
    """What a spreadsheet shows as #VALUE!."""


class Formula:
    """A formula as a tree of tuples, by the precedence of spreadsheets: -2^2 is 4."""

    def __init__(self, text):
        self.text, self.at, self.tokens, end = text, 0, [], 0
        while end < len(text):
            found = TOKEN.match(text, end)
            assert found, f"{text} at {end}"
            self.tokens.append((found.lastgroup, found[found.lastgroup]))
            end = found.end()

    def tree(self):
        found = self._binary(0)
        assert self.at == len(self.tokens), self.text
        return found

    def _next(self):
        return self.tokens[self.at] if self.at < len(self.tokens) else (None, None)

    def _binary(self, level):
        if level == len(LEVELS):
            return self._unary()
        left = self._binary(level + 1)
        while self._next()[0] == "sign" and self._next()[1] in LEVELS[level]:
            sign = self._take()
            left = ("binary", sign, left, self._binary(level + 1))
        return left

    def _unary(self):
        if self._next() in (("sign", "-"), ("sign", "+")):
            return ("sign", self._take(), self._unary())
        kind, text = self._next()
        self.at += 1
        if kind == "function":
            return ("call", text, self._arguments())
        if (kind, text) == ("sign", "("):
            inner = self._binary(0)
            assert self._take() == ")", self.text
            return inner
        assert kind in ("text", "ref", "name", "number"), self.text
        return ("number", float(text)) if kind == "number" else (kind, text)

    def _take(self):
        self.at += 1
        return self.tokens[self.at - 1][1]

    def _arguments(self):
        assert self._take() == "("
        found = [self._binary(0)]
        while (sign := self._take()) == ",":
            found.append(self._binary(0))
        assert sign == ")", self.text
        return found


class Sheets:
    """A workbook's formulas, computed from its inputs alone. `edit` changes a cell and forgets what was computed."""

    def __init__(self, data):
        self.book = openpyxl.load_workbook(io.BytesIO(data))
        self.names = {name: defined.attr_text for name, defined in self.book.defined_names.items()}
        self._forget()

    def _forget(self):
        self._values, self._areas, self._masks = {}, {}, {}

    def formulas(self):
        """Every formula cell as (sheet, address, text)."""
        for sheet in self.book:
            for row in sheet.iter_rows():
                for cell in row:
                    if cell.data_type == "f":
                        yield sheet.title, cell.coordinate, cell.value

    def value(self, sheet, address):
        key = sheet, address
        if key not in self._values:
            cell = self.book[sheet][address]
            self._values[key] = self.compute(cell.value[1:], sheet) if cell.data_type == "f" else cell.value
        return self._values[key]

    def edit(self, sheet, address, value):
        self.book[sheet][address].value = value
        self._forget()

    def named(self, name):
        """Sheet and address of a name."""
        sheet, cell = self.names[name].replace("$", "").rsplit("!", 1)
        return sheet.strip("'"), cell

    def compute(self, text, sheet=""):
        before = sys.getrecursionlimit()
        sys.setrecursionlimit(max(before, DEEP))
        try:
            found = self._of(Formula(text).tree(), sheet)
        finally:
            sys.setrecursionlimit(before)
        return 0 if found is None else found

    def _of(self, node, sheet):
        kind, *rest = node
        if kind == "number":
            return rest[0]
        if kind == "text":
            return rest[0][1:-1].replace('""', '"')
        if kind == "name":
            return self._area(self.names[rest[0]], sheet)
        if kind == "ref":
            return self._area(rest[0], sheet)
        if kind == "sign":
            value = self._of(rest[1], sheet)
            return value if rest[0] == "+" else _each(operator.neg, value)
        if kind == "binary":
            sign, left, right = rest
            return _binary(sign, self._of(left, sheet), self._of(right, sheet))
        return self._call(rest[0], rest[1], sheet)

    def _area(self, text, sheet):
        """One cell's value, or those of an area as a list."""
        where, _, cells = text.replace("$", "").rpartition("!")
        where = where.strip("'") or sheet
        if ":" not in cells:
            return self.value(where, cells)
        if (where, cells) not in self._areas:
            rows = self.book[where][cells]
            self._areas[where, cells] = [self.value(where, cell.coordinate) for row in rows for cell in row]
        return self._areas[where, cells]

    def _call(self, function, arguments, sheet):
        if function == "IF":
            chosen = arguments[1] if self._of(arguments[0], sheet) else arguments[2]
            return self._of(chosen, sheet)
        if function in ("SUMIFS", "COUNTIF"):
            values = self._of(arguments[0], sheet) if function == "SUMIFS" else None
            rows = self._matches(arguments[1:] if function == "SUMIFS" else arguments, sheet)
            return len(rows) if values is None else math.fsum(_numbers([[values[row] for row in rows]]))
        if function == "ISNUMBER":
            try:
                return _each(lambda a: isinstance(a, int | float), self._of(arguments[0], sheet))
            except NoValue:
                return False
        return FUNCTIONS[function](*(self._of(argument, sheet) for argument in arguments))

    def _matches(self, pairs, sheet):
        """Which rows meet all criteria."""
        found = None
        for area, criterion in zip(pairs[::2], pairs[1::2], strict=True):
            wanted = self._of(criterion, sheet)
            key = area, sheet, wanted
            if key not in self._masks:
                cells = self._of(area, sheet)
                self._masks[key] = {row for row, cell in enumerate(cells) if _meets(cell, wanted)}
            found = self._masks[key] if found is None else found & self._masks[key]
        return sorted(found)


def _meets(cell, wanted):
    """One criterion of SUMIFS: a value, or a comparison as text."""
    if isinstance(wanted, str):
        sign = next((sign for sign in ("<>", "<=", ">=", "<", ">", "=") if wanted.startswith(sign)), "")
        rest = wanted[len(sign) :]
        number = re.fullmatch(r"-?\d+\.?\d*(?:e[-+]?\d+)?", rest)
        if number:
            return isinstance(cell, int | float) and COMPARES[sign or "="](cell, float(rest))
        if not sign:
            if rest == "":
                return (cell or "") == ""
            pattern = "".join({"*": ".*", "?": "."}.get(letter, re.escape(letter)) for letter in rest)
            return isinstance(cell, str) and re.fullmatch(pattern, cell, re.IGNORECASE | re.DOTALL) is not None
    if wanted is None:  # an empty cell as a criterion stands for 0
        wanted = 0
    return type(cell) is not str and cell is not None and cell == wanted


def _each(do, *sides):
    """Element by element where a side is an area."""
    lengths = {len(side) for side in sides if isinstance(side, list)}
    if not lengths:
        return do(*sides)
    (length,) = lengths
    return [do(*row) for row in zip(*(side if isinstance(side, list) else [side] * length for side in sides))]  # noqa: B905 - as long as `length` all


def _binary(sign, left, right):
    if sign == "&":
        return _each(lambda a, b: _text(a) + _text(b), left, right)
    if sign in COMPARES:
        return _each(lambda a, b: COMPARES[sign](*_comparable(a, b)), left, right)
    return _each(lambda a, b: COUNTS[sign](_number(a), _number(b)), left, right)


def _text(value):
    return "" if value is None else str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _number(value):
    if isinstance(value, str):
        raise NoValue(value)
    return 0 if value is None else value


def _comparable(left, right):
    """Text in any case; an empty cell is as good as "" and 0."""
    if isinstance(left, str) or isinstance(right, str):
        left, right = ("" if side is None else side for side in (left, right))
        if isinstance(left, str) and isinstance(right, str):
            return left.lower(), right.lower()
        return isinstance(left, str), isinstance(right, str)  # any text is more than any number
    return _number(left), _number(right)


def _numbers(arguments):
    flat = [item for one in arguments for item in (one if isinstance(one, list) else [one])]
    return [item for item in flat if isinstance(item, int | float)]


def _round(value, digits):
    """Halves go away from 0."""
    scale = 10 ** int(digits)
    return math.copysign(math.floor(abs(value) * scale + 0.5) / scale, value) + 0.0


def _product(*areas):
    rows = zip(*(area if isinstance(area, list) else [area] for area in areas), strict=True)
    return math.fsum(math.prod(0 if isinstance(cell, str) else _number(cell) for cell in row) for row in rows)


FUNCTIONS = {
    "SUM": lambda *a: math.fsum(_numbers(a)),
    "MIN": lambda *a: min(_numbers(a), default=0),
    "MAX": lambda *a: max(_numbers(a), default=0),
    "COUNT": lambda *a: len(_numbers(a)),
    "COUNTA": lambda *a: sum(item is not None for one in a for item in (one if isinstance(one, list) else [one])),
    "ABS": lambda value: _each(lambda a: abs(_number(a)), value),
    "EXACT": lambda left, right: _each(lambda a, b: _text(a) == _text(b), left, right),
    "NOT": lambda value: not value,
    "LEFT": lambda text, count: _text(text)[: int(count)],
    "AND": lambda *a: all(a),
    "OR": lambda *a: any(a),
    "ROUND": _round,
    "SUMPRODUCT": _product,
    "FIXED": lambda amount, digits: f"{_round(amount, digits):,.{int(digits)}f}",
    "PV": lambda rate, periods, paid: -paid * (periods if not rate else (1 - (1 + rate) ** -periods) / rate),
}


def stored(data):
    """Values as a program that does not compute reads them, by sheet: a list of rows."""
    book = CalamineWorkbook.from_filelike(io.BytesIO(data))
    return {name: book.get_sheet_by_name(name).to_python(skip_empty_area=False) for name in book.sheet_names}


def cells(data):
    """The same by (sheet, row, column) from 0, without what is empty."""
    return {
        (name, row, column): value
        for name, rows in stored(data).items()
        for row, values in enumerate(rows)
        for column, value in enumerate(values)
        if value != ""
    }


def at(rows, address):
    """The value at an address in the rows of a sheet."""
    letters, row = re.fullmatch(r"([A-Z]+)(\d+)", address).groups()
    column = 0
    for letter in letters:
        column = column * 26 + ord(letter) - 64
    return rows[int(row) - 1][column - 1]


def spoiled(data):
    """The workbook with 999 as the stored value of every numeric formula; how many there are."""
    spoilt, count = io.BytesIO(), 0
    with zipfile.ZipFile(io.BytesIO(data)) as parts, zipfile.ZipFile(spoilt, "w") as out:
        for name in parts.namelist():
            text = parts.read(name)
            if name.startswith("xl/worksheets/"):
                text, found = re.subn(rb"(</f><v>)[-+.eE\d]+(</v>)", rb"\g<1>999\g<2>", text)
                count += found
            out.writestr(name, text)
    return spoilt.getvalue(), count


def edited(data, changes):
    """The workbook with other values in the input cells of `changes`: (sheet, address) -> number or text."""
    by_sheet, done = {}, io.BytesIO()
    for (sheet, address), value in changes.items():
        by_sheet.setdefault(sheet, {})[address] = value
    with zipfile.ZipFile(io.BytesIO(data)) as parts, zipfile.ZipFile(done, "w") as out:
        paths = _paths(parts)
        for name in parts.namelist():
            text = parts.read(name).decode() if name in paths.values() else parts.read(name)
            for sheet, values in by_sheet.items():
                if paths[sheet] == name:
                    for address, value in values.items():
                        text = _set(text, address, value)
            out.writestr(name, text)
    return done.getvalue()


def _paths(parts):
    """The part of each sheet by name: sheets are numbered in the order that they stand in."""
    names = re.findall(r'<sheet name="([^"]+)"', parts.read("xl/workbook.xml").decode())
    return {name: f"xl/worksheets/sheet{number}.xml" for number, name in enumerate(names, start=1)}


def _set(text, address, value):
    """An input cell with another value; a formula is none."""
    pattern = rf'<c r="{address}"( s="\d+")?( t="s")?>(<v>[^<]*</v>)</c>'
    found = re.search(pattern, text)
    assert found, f"{address} is no input"
    kept = f'<c r="{address}"{found[1] or ""}'
    new = f"{kept}><v>{value!r}</v></c>"
    if isinstance(value, str):
        new = f'{kept} t="inlineStr"><is><t>{value}</t></is></c>'
    return text.replace(found[0], new)


OFFICE = shutil.which("soffice")
SETTINGS = """<?xml version="1.0" encoding="UTF-8"?>
<oor:items xmlns:oor="http://openoffice.org/2001/registry">
<item oor:path="/org.openoffice.Office.Calc/Formula/Load">
<prop oor:name="OOXMLRecalcMode" oor:op="fuse"><value>0</value></prop></item>
</oor:items>
"""


def needs_office():
    if OFFICE is None:
        pytest.skip("LibreOffice (soffice) is not installed")


def recalculated(folder, *books):
    """The workbooks as the spreadsheet program saves them after it has computed everything."""
    profile, done = folder / "profile", folder / "done"
    (profile / "user").mkdir(parents=True, exist_ok=True)
    (profile / "user" / "registrymodifications.xcu").write_text(SETTINGS)
    paths = [folder / f"book{number}.xlsx" for number in range(len(books))]
    for path, data in zip(paths, books, strict=True):
        path.write_bytes(data)
    command = [
        OFFICE, f"-env:UserInstallation={profile.as_uri()}", "--headless", "--convert-to",
        "xlsx:Calc MS Excel 2007 XML", "--outdir", done, *paths,
    ]  # fmt: skip
    subprocess.run(command, check=True, capture_output=True, timeout=300)
    return [(done / path.name).read_bytes() for path in paths]
