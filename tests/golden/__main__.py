"""`python -m tests.golden record` and `compare`; README.md tells what for."""

from __future__ import annotations

import argparse
import sys
import time
from collections import defaultdict
from fnmatch import fnmatchcase

from tests.golden import storage
from tests.golden.cases import Case, all_cases
from tests.golden.comparison import differences
from tests.golden.normalized import read_json
from tests.golden.runner import case_folder, file_names, run_command, written_files

SHOWN = 20


def outputs_of(case: Case) -> storage.Outputs:
    """What a case gives, as values that can be compared, by the name of the output."""
    found: storage.Outputs = {}
    with case_folder(case.inputs) as folder:
        before = file_names(folder)
        for name, arguments in case.commands:
            answer = run_command(arguments)
            found[f"{name}.exit"] = answer.code
        for name, data in written_files(folder, before).items():
            if name.endswith(".json"):
                found[name] = read_json(data)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.golden", description=__doc__)
    parser.add_argument("command", choices=["record", "compare"])
    parser.add_argument("--only", default="*", metavar="PATTERN", help="cases, as group/name")
    asked = parser.parse_args()
    cases = [case for case in all_cases() if fnmatchcase(f"{case.group}/{case.name}", asked.only)]
    begun = time.process_time()
    by_group: dict[str, dict[str, storage.Outputs]] = defaultdict(dict)
    for case in cases:
        by_group[case.group][case.name] = outputs_of(case)
    count = 0
    for group, found in by_group.items():
        recorded = storage.load(group)
        if asked.command == "record":
            storage.save(group, {**recorded, **found}.items())
            continue
        for name, outputs in found.items():
            for difference in differences(recorded.get(name, {}), outputs, f"{group}/{name}"):
                count += 1
                if count <= SHOWN:
                    sys.stdout.write(f"{difference.path}: was {difference.was!r}, is {difference.now!r}\n")
    sys.stdout.write(f"{len(cases)} cases, {count} differences, {time.process_time() - begun:.0f} s\n")
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
