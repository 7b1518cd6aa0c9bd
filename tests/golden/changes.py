"""Changes made on purpose since the freeze: `changes.toml`, and what each of its entries lets pass."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from fnmatch import translate
from functools import cached_property
from pathlib import Path
from typing import Any

from tests.golden.comparison import MISSING, Difference

FILE = Path(__file__).parent / "changes.toml"
KINDS = ("added", "removed", "changed")


class BadChanges(Exception):
    """What is wrong with the file of changes."""


@dataclass
class Change:
    """An entry. Without `rename`, differences below `path` of the `kinds` are expected; with it, names below `path` are
    replaced in what was recorded, and nothing else may differ."""

    path: str
    reason: str
    kinds: tuple[str, ...] = KINDS
    rename: dict[str, str] = field(default_factory=dict)
    hits: int = 0

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        return re.compile(translate(self.path))

    def covers(self, path: str) -> bool:
        return self._pattern.match(path) is not None

    def expects(self, difference: Difference) -> bool:
        kind = "added" if difference.was is MISSING else "removed" if difference.now is MISSING else "changed"
        return not self.rename and kind in self.kinds and self.covers(difference.path)

    def renamed(self, text: str, path: str) -> str:
        """A name by its new one; in a formula each reference by its new one. As it was where this is another place."""
        if text in self.rename:
            new = self.rename[text]
        elif text.startswith("=") or "!$" in text:
            new = self._references.sub(lambda found: self.rename[found[0]], text)
        else:
            return text
        if new == text or not self.covers(path):
            return text
        self.hits += 1
        return new

    @cached_property
    def _references(self) -> re.Pattern[str]:
        names = "|".join(re.escape(name) for name in sorted(self.rename, key=len, reverse=True))
        return re.compile(rf"(?<![\w.])(?:{names})(?![\w.])")


def read_changes(file: Path = FILE) -> list[Change]:
    """The entries of the file; BadChanges where one is not as README.md says."""
    found = tomllib.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    if set(found) - {"change"}:
        raise BadChanges(f"{file.name}: only [[change]] entries are read, found {', '.join(sorted(found))}")
    return [_change(entry, f"{file.name}, entry {number}") for number, entry in enumerate(found.get("change", []), 1)]


def _change(entry: dict[str, Any], place: str) -> Change:
    if unknown := set(entry) - {"path", "reason", "kinds", "rename"}:
        raise BadChanges(f"{place}: unknown field {', '.join(sorted(unknown))}")
    for name in ("path", "reason"):
        if not isinstance(entry.get(name), str) or not entry[name].strip():
            raise BadChanges(f"{place}: {name} is missing")
    kinds, rename = entry.get("kinds", list(KINDS)), entry.get("rename", {})
    if not isinstance(kinds, list) or not kinds or set(kinds) - set(KINDS):
        raise BadChanges(f"{place}: kinds are some of {', '.join(KINDS)}")
    if not isinstance(rename, dict) or not all(isinstance(new, str) and new for new in rename.values()):
        raise BadChanges(f'{place}: rename is a table such as {{ old = "new" }}')
    return Change(entry["path"], entry["reason"], tuple(kinds), rename)


def with_new_names(recorded: Any, path: str, changes: Iterable[Change]) -> Any:
    """What was recorded, with the names that it has now."""
    renaming = [change for change in changes if change.rename]
    return _renamed(recorded, path, renaming) if renaming else recorded


def _renamed(value: Any, path: str, changes: list[Change]) -> Any:
    if isinstance(value, dict):
        return {
            _renamed(key, f"{path}/{key}", changes): _renamed(each, f"{path}/{key}", changes)
            for key, each in value.items()
        }
    if isinstance(value, list):
        return [_renamed(each, f"{path}/{index}", changes) for index, each in enumerate(value)]
    if isinstance(value, str):
        for change in changes:
            value = change.renamed(value, path)
    return value


def unexpected(found: Iterable[Difference], changes: Iterable[Change]) -> Iterator[Difference]:
    """The differences that no entry expects; those of all entries that match are counted."""
    changes = list(changes)
    for difference in found:
        matching = [change for change in changes if change.expects(difference)]
        for change in matching:
            change.hits += 1
        if not matching:
            yield difference


def unused(changes: Iterable[Change]) -> list[str]:
    """A line for each entry that matched nothing."""
    return [f"{change.path!r} ({change.reason}) matches nothing" for change in changes if not change.hits]
