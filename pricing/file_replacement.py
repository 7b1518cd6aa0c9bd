"""Writing files in one step: readers see the old or the new content, never a part.

A link stays a link: its target is replaced. A named pipe or a device is written through.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path

from pricing.frozen_values import dataclass

TEMPORARY_PREFIX = ".planner-"
TEMPORARY_SUFFIX = ".tmp"
"""Of a file while it is written, in the folder of the one that it replaces."""


@dataclass(frozen=True, slots=True)
class StagedFile:
    """Content under a temporary name in the folder of its target, or that waits to be written through to a device."""

    target: Path
    temporary: Path | None
    """None: the target is a device or a pipe."""
    content: bytes

    def write_through(self) -> None:
        """Write to a device or a pipe; a plain file is left to `replace_target`."""
        if self.temporary is None:
            with self.target.open("wb", buffering=0) as device:
                rest = memoryview(self.content)
                while rest:
                    rest = rest[device.write(rest) :]

    def replace_target(self) -> None:
        """Put the content of a plain file in the place of the old one."""
        if self.temporary is not None:
            self.temporary.replace(self.target)

    def discard(self) -> None:
        """Remove the temporary file, if it was not used."""
        if self.temporary is not None:
            self.temporary.unlink(missing_ok=True)


def stage_file(path: Path, content: bytes) -> StagedFile:
    """Write in the folder of the file that `path` names, links followed: within a file system a rename is atomic.
    Raises OSError, and leaves no file then."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):  # of a folder, the opening says why it cannot be written
            return StagedFile(path, None, content)
    except FileNotFoundError:
        pass
    target = Path(os.path.realpath(path))  # the target of a dangling link is made
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = target.with_name(f"{TEMPORARY_PREFIX}{os.getpid()}.{os.urandom(4).hex()}{TEMPORARY_SUFFIX}")
    try:
        temporary.write_bytes(content)
        with suppress(FileNotFoundError):
            temporary.chmod(stat.S_IMODE(target.stat().st_mode))  # the rights of the file that is replaced
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    return StagedFile(target, temporary, content)


def write_atomically(path: Path, content: bytes) -> None:
    """Replace the file in one step, or write through to a device."""
    staged = stage_file(path, content)
    try:
        staged.write_through()
        staged.replace_target()
    finally:
        staged.discard()
