"""What POST /plan is sent: bytes within their limit, the name they go by, and whether they are a file or JSON.

Reads HTTP, no file: what is in one is found out in a worker.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass
from email.message import Message
from pathlib import PureWindowsPath
from typing import TYPE_CHECKING

from fastapi import Request, Response

from planner.errors import Complaint, InvalidRequest
from planner.service import problems
from planner.service.pool import Limits
from planner.service.problems import Stop

if TYPE_CHECKING:
    from starlette.datastructures import FormData

JSON = "application/json"
FORM = "multipart/form-data"
FIELD = "file"
SUFFIXES: Mapping[str, str] = {
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": ".xlsx",
    "application/vnd.ms-excel.sheet.macroenabled.12": ".xlsm",
    "application/vnd.oasis.opendocument.spreadsheet": ".ods",
    "text/csv": ".csv",
    "text/tab-separated-values": ".tsv",
    "application/yaml": ".yaml",
    "application/x-yaml": ".yaml",
    "text/yaml": ".yaml",
    "application/vnd.apache.parquet": ".parquet",
    "application/x-ndjson": ".ndjson",
    "application/jsonl": ".jsonl",
    "application/gzip": ".gz",
    "application/vnd.ms-excel": "",
    "text/plain": "",
    "application/octet-stream": "",
}
"""Media types of files, with the suffix that each stands for; of those without one the name or the content tells.

Browsers on Windows declare CSV as application/vnd.ms-excel.
"""
NAME_MAX = 200
FORM_BYTES = 1 << 16
"""What a form has around its file."""
PARTS_MAX = 16
EXPECTED = f"one file in the field {FIELD!r}, as curl -F {FIELD}=@review.xlsx sends it; settings stand in the query"


@dataclass(frozen=True, slots=True)
class Sent:
    """The bytes, and the name of the file that they are, or of the request in JSON."""

    data: bytes
    name: str = "request"
    is_file: bool = False


async def sent(request: Request, limits: Limits, name: str = "") -> Sent:
    """The body of a request; Stop where it is too large or of a kind that is not taken. `name` wins over its own."""
    declared = request.headers.get("content-type", JSON).partition(";")[0].strip().lower()
    if declared == JSON or declared.endswith("+json"):
        return Sent(await _whole(request, limits.body_bytes, "request"), name or "request")
    if declared == FORM:
        return await _of_form(request, limits.file_bytes, name)
    if declared in SUFFIXES:
        own = _plain(name or _named(request.headers.get("content-disposition", "")))
        data = await _whole(request, limits.file_bytes, "file")
        return Sent(data, own or f"request{SUFFIXES[declared]}", is_file=True)
    detail = (
        f"The body is declared as {declared[:NAME_MAX]}. Send a request as {JSON}, "
        f"a file as {', '.join(SUFFIXES)} or in a form: {EXPECTED}."
    )
    raise Stop(problems.problem(415, "media-type", "Not taken", detail))


async def _whole(request: Request, limit: int, what: str) -> bytes:
    return b"".join([part async for part in _within(request, limit, _too_large(what, limit))])


async def _within(request: Request, limit: int, refusal: Response) -> AsyncGenerator[bytes, None]:
    """The body piece by piece; Stop as soon as it is known to be larger than `limit`, announced or not."""
    announced = request.headers.get("content-length", "")
    if announced.isdecimal() and int(announced[:20]) > limit:
        raise Stop(refusal)
    size = 0
    async for part in request.stream():
        size += len(part)
        if size > limit:
            raise Stop(refusal)
        yield part


async def _of_form(request: Request, limit: int, name: str) -> Sent:
    """The one file of a form. InvalidRequest with every part that should not be in it."""
    from starlette.formparsers import MultiPartException, MultiPartParser

    stream = _within(request, limit + FORM_BYTES, _too_large("file", limit))
    try:
        form = await MultiPartParser(request.headers, stream, max_files=PARTS_MAX, max_fields=PARTS_MAX).parse()
    except MultiPartException as error:
        fault = Complaint("", "form", f"not readable: {error.message}", "", EXPECTED)
        raise Stop(problems.refused((fault,), readable=False)) from None
    try:
        return await _file_of(form, limit, name)
    finally:
        await form.close()


async def _file_of(form: FormData, limit: int, name: str) -> Sent:
    from starlette.datastructures import UploadFile

    files = [value for key, value in form.multi_items() if key == FIELD and isinstance(value, UploadFile)]
    faults = [
        Complaint(
            "",
            f"form field {key[:NAME_MAX]}",
            "no file: it has no filename" if key == FIELD else "not a part that is taken",
            "",
            EXPECTED,
        )
        for key, value in form.multi_items()
        if key != FIELD or not isinstance(value, UploadFile)
    ]
    if not form:
        fault = Complaint("", "form", "no whole part in it: it is empty, or cut off", "", EXPECTED)
        raise Stop(problems.refused((fault,), readable=False))
    if len(files) > 1:
        faults.append(Complaint("", "form", f"{len(files)} files", "", EXPECTED))
    if faults:
        raise InvalidRequest(tuple(faults))
    (file,) = files
    if (file.size or 0) > limit:
        raise Stop(_too_large("file", limit))
    own = _plain(name or file.filename or "")
    return Sent(await file.read(), own or "request", is_file=True)


def _too_large(what: str, limit: int) -> Response:
    return problems.problem(413, "too-large", "Too large", f"A {what} may have {limit:,} bytes.")


def _named(disposition: str) -> str:
    """The file name in a Content-Disposition header, in either of its two ways to write one."""
    header = Message()
    header["content-disposition"] = disposition
    return header.get_filename() or ""


def _plain(name: str) -> str:
    """The last part of a path of any system, without signs that cannot be shown."""
    last = PureWindowsPath(name).name  # which takes both slashes for separators
    return "".join(sign for sign in last if sign.isprintable())[:NAME_MAX]
