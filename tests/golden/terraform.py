"""Terraform as lines of tokens, without comments, spacing and descriptions."""

from __future__ import annotations

import hashlib
import re

from tests.golden.normalized import PLAN_ID, normal_text

TOKEN = re.compile(
    r"""(?P<comment>\#[^\n]*|//[^\n]*|/\*.*?\*/)
    |<<[-~]?(?P<mark>\w+)\n(?P<heredoc>.*?)\n[ \t]*(?P=mark)\b
    |(?P<string>"(?:\\.|\$\{[^}]*\}|[^"\\])*")
    |(?P<other>[\w.-]+|[^\s\w])
    |(?P<line>\n)
    |\s+""",
    re.DOTALL | re.VERBOSE,
)
WORDING = ("description =", "error_message =", "plan_id =")
"""Lines of these say what is meant, or hold the plan's id."""


def read_terraform(data: bytes) -> list[str]:
    """The lines of a file with something in them; sentences in quotes are left out."""
    lines, line = [], ""
    for found in TOKEN.finditer(data.decode("utf-8") + "\n"):
        if found["line"]:
            lines.append(line)
            line = ""
        elif not found["comment"] and found[0].strip():
            line += f" {_token(found)}"
    return [_shown(line.strip()) for line in lines if line.strip()]


def _token(found: re.Match[str]) -> str:
    if found["heredoc"] is not None:
        return " ".join(found["heredoc"].split())
    return f'"{normal_text(found["string"][1:-1])}"' if found["string"] else found[0]


def _shown(line: str) -> str:
    start = next((start for start in WORDING if line.startswith(start)), "")
    return f"{start} {PLAN_ID if start.startswith('plan') else ''}".strip() if start else line


def read_module(data: bytes) -> str:
    """A digest of a file that is copied as it stands; the repository's own history says what changed in it."""
    return hashlib.sha256("\n".join(read_terraform(data)).encode()).hexdigest()[:16]


def read_script(data: bytes) -> str:
    """A digest of the lines of a script that are no comment."""
    lines = (line.strip() for line in data.decode("utf-8").splitlines())
    kept = "\n".join(line for line in lines if line and not line.startswith("#"))
    return hashlib.sha256(kept.encode()).hexdigest()[:16]
