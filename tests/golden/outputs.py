"""What a case gives, as values that can be compared, by the name of the output."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.golden import runner
from tests.golden.cases import Case
from tests.golden.normalized import read_csv, read_json
from tests.golden.prose import read_errors, read_markdown, read_text
from tests.golden.terraform import read_module, read_script, read_terraform
from tests.golden.workbook import read_xlsx

READERS: dict[str, Callable[[bytes], Any]] = {
    ".json": read_json,
    ".csv": read_csv,
    ".md": read_markdown,
    ".xlsx": read_xlsx,
    ".tf": read_terraform,
    ".tfvars": read_terraform,
    ".txt": read_text,
    ".yaml": read_script,
    ".tftpl": read_script,
    ".svg": read_script,
}
"""How a file is read, by the end of its name."""


def read_output(name: str, data: bytes) -> Any:
    """The value of an output. Modules beside a Terraform root are copies of the repository's: a digest is enough."""
    suffix = name[name.rindex(".") :] if "." in name else ".txt"
    if "/modules/" in name:
        return read_module(data) if suffix == ".tf" else read_script(data) if suffix != ".md" else None
    return READERS[suffix](data) if data else None


def outputs_of(case: Case) -> dict[str, Any]:
    """Run a case: exit codes, what is printed, what is told on standard error, and every file written."""
    found: dict[str, Any] = {}
    with runner.case_folder(dict(case.inputs)) as folder:
        for command in case.commands:
            before = runner.file_names(folder)
            answer = runner.run_command(command.arguments)
            found[f"{command.name}.exit"] = answer.code
            found[f"{command.name}.errors"] = read_errors(answer.errors)
            found[f"{command.name}{command.suffix}"] = read_output(command.suffix, answer.printed)
            for name, data in runner.written_files(folder, before).items():
                found[name] = read_output(name, data)
    return {name: value for name, value in found.items() if value not in (None, [])}
