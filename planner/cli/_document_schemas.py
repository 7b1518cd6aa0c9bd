"""Behind `planner schema`: prints or writes a schema."""

from __future__ import annotations

from pathlib import Path
from types import MappingProxyType

from planner.cli._exit_codes import DONE
from planner.cli._settings_schema import make_settings_schema
from planner.cli._tables import json_text, print_text
from planner.inputs.document_schemas import REQUEST_SCHEMAS, DocumentSchema
from planner.library.file_problems import unwritable_file
from planner.request.errors import InvalidRequest, unknown_name

SETTINGS = DocumentSchema("config.yaml, --config and PLANNER_CONFIG", make_settings_schema)
SCHEMAS = MappingProxyType({**REQUEST_SCHEMAS, "settings": SETTINGS})
"""Every kind of file by its name."""


def show_schema(name: str, path: str | None) -> int:
    """Print the schema of that name, or write it to a file; InvalidRequest if there is none or it cannot be written."""
    if name not in SCHEMAS:
        raise InvalidRequest((unknown_name("schema", name, SCHEMAS),))
    text = json_text(SCHEMAS[name].make())
    if path is None:
        print_text(text)
        return DONE
    from pricing.file_replacement import write_atomically

    try:
        write_atomically(Path(path), text.encode())
    except OSError as error:
        raise InvalidRequest((unwritable_file(f"-o {path}", error),)) from None
    return DONE
