"""`python -m tests.validation FILE.json`: published cost studies from their own inputs."""

from __future__ import annotations

import sys

from tests.validation.study_command import command

if __name__ == "__main__":
    sys.exit(command(standalone_mode=False))
