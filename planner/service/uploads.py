"""The body of POST /plan: its bytes within their limit, its file name, and whether it is a file or JSON.

The contents of a file are read in a worker.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping
from email.message import Message
from functools import partial
from pathlib import PureWindowsPath
from typing import TYPE_CHECKING, Literal

from fastapi import Request, Response

from planner.request.errors import InputProblem, InvalidRequest
from planner.service import problems
from planner.service.limits import ServiceLimits
from planner.service.problems import ProblemResponseError
from pricing.counted_nouns import format_count
from pricing.frozen_values import dataclass
from pricing.plain_text import plain_line

if TYPE_CHECKING:
    from starlette.datastructures import FormData

JSON = "application/json"
FORM = "multipart/form-data"
FIELD, ANSWERS = "file", "answers"
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
"""Media types of files, with their suffixes; without one, the name or the content decides.

Browsers on Windows declare CSV as application/vnd.ms-excel.
"""
NAME_MAX = 200
FORM_BYTES = 1 << 16
"""Allowance for the parts of a form around its file."""
PARTS_MAX = 16
EXPECTED = (
    f"one file in the field {FIELD!r}, as curl -F {FIELD}=@review.xlsx sends it; "
    f"answers belong in the field {ANSWERS!r}, settings in the query"
)


UploadKind = Literal["json", "file", "any"]


@dataclass(frozen=True, slots=True)
class Upload:
    """The bytes of a file or of a JSON request, its name, and the answers file sent with it."""

    data: bytes
    name: str = "request"
    is_file: bool = False
    answers: bytes = b""


async def read_upload(request: Request, limits: ServiceLimits, name: str = "", kind: UploadKind = "any") -> Upload:
    """The body of a request; ProblemResponseError if it is too large or of an unsupported type. `name` overrides its
    own; `kind` is what the operation takes."""
    declared = request.headers.get("content-type", JSON).partition(";")[0].strip().lower()
    if kind != "file" and (declared == JSON or declared.endswith("+json")):
        return Upload(await read_bytes(request, limits.body_bytes, "request"), name or "request")
    if kind == "json":
        detail = f"The body is declared as {declared[:NAME_MAX]}. Send {JSON} here, and a file to /v1/plans/file."
        raise ProblemResponseError(problems.problem_response(415, "media-type", "Unsupported media type", detail))
    if declared == FORM:
        return await _read_form(request, limits.file_bytes, name)
    if declared in SUFFIXES:
        own = _clean_filename(name or _disposition_filename(request.headers.get("content-disposition", "")))
        data = await read_bytes(request, limits.file_bytes, "file")
        return Upload(data, own or f"request{SUFFIXES[declared]}", is_file=True)
    detail = (
        f"The body is declared as {declared[:NAME_MAX]}. Send a request as {JSON}, "
        f"a file as {', '.join(SUFFIXES)} or in a form: {EXPECTED}."
    )
    raise ProblemResponseError(problems.problem_response(415, "media-type", "Unsupported media type", detail))


async def read_bytes(request: Request, limit: int, kind: str) -> bytes:
    """The body; ProblemResponseError if it is larger than `limit`."""
    return b"".join([part async for part in _stream_within_limit(request, limit, partial(_too_large, kind, limit))])


async def _stream_within_limit(
    request: Request, limit: int, refuse: Callable[[], Response]
) -> AsyncGenerator[bytes, None]:
    """The body in chunks; ProblemResponseError as soon as it exceeds `limit`, by its header or its size."""
    announced = request.headers.get("content-length", "")
    if announced.isdecimal() and int(announced[:20]) > limit:
        raise ProblemResponseError(refuse())
    size = 0
    async for part in request.stream():
        size += len(part)
        if size > limit:
            raise ProblemResponseError(refuse())
        yield part


async def _read_form(request: Request, limit: int, name: str) -> Upload:
    """The one file of a form. InvalidRequest with every part that should not be in it."""
    from starlette.formparsers import MultiPartException, MultiPartParser

    stream = _stream_within_limit(request, limit + FORM_BYTES, partial(_too_large, "file", limit))
    try:
        form = await MultiPartParser(request.headers, stream, max_files=PARTS_MAX, max_fields=PARTS_MAX).parse()
    except MultiPartException as error:
        fault = InputProblem("", "form", f"not readable: {error.message}", "", EXPECTED)
        raise ProblemResponseError(problems.invalid_request_response((fault,), readable=False)) from None
    try:
        return await _select_form_file(form, limit, name)
    finally:
        await form.close()


async def _select_form_file(form: FormData, limit: int, name: str) -> Upload:
    from starlette.datastructures import UploadFile

    files = [value for key, value in form.multi_items() if key == FIELD and isinstance(value, UploadFile)]
    faults = [
        InputProblem(
            "",
            f"form field {key[:NAME_MAX]}",
            "not a file: it has no filename" if key == FIELD else "unknown part",
            "",
            EXPECTED,
        )
        for key, value in form.multi_items()
        if (key != FIELD or not isinstance(value, UploadFile)) and key != ANSWERS
    ]
    if not form:
        fault = InputProblem("", "form", "empty or truncated", "", EXPECTED)
        raise ProblemResponseError(problems.invalid_request_response((fault,), readable=False))
    if not files and not faults:
        faults.append(InputProblem("", f"form field {FIELD}", "missing", "", EXPECTED))
    if len(files) > 1:
        faults.append(InputProblem("", "form", format_count(len(files), "file"), "", EXPECTED))
    if faults:
        raise InvalidRequest(tuple(faults))
    (file,) = files
    if (file.size or 0) > limit:
        raise ProblemResponseError(_too_large("file", limit))
    own = _clean_filename(name or file.filename or "")
    stated = form.get(ANSWERS)
    answers = await stated.read() if isinstance(stated, UploadFile) else (stated or "").encode()
    return Upload(await file.read(), own or "request", is_file=True, answers=answers)


def _too_large(kind: str, limit: int) -> Response:
    return problems.problem_response(413, "too-large", "Too large", f"The limit for a {kind} is {limit:,} bytes.")


def _disposition_filename(disposition: str) -> str:
    """The file name in a Content-Disposition header, in either of its two notations."""
    header = Message()
    header["content-disposition"] = disposition
    return header.get_filename() or ""


def _clean_filename(name: str) -> str:
    """The last part of a path of any system, without control characters."""
    last = PureWindowsPath(name).name  # which takes both slashes for separators
    return plain_line(last)[:NAME_MAX]
