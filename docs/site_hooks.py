"""What the site needs beyond the pages as they lie in the repository: links out of docs/, names of files, the rest of
the navigation.

Called by MkDocs, as mkdocs.yml says: https://www.mkdocs.org/user-guide/configuration/#hooks.
"""

from __future__ import annotations

import logging
import re
from pathlib import Path
from typing import Any

log = logging.getLogger("mkdocs.hooks")  # a warning of it fails a strict build
ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
OTHERS = "Other guides"
FENCE = re.compile(r"^```(?P<language>\w+) (?P<file>[^\s=]+)$", re.MULTILINE)
LINK = re.compile(r"(?<=\]\()(?P<target>[^)#\s:]+)(?P<anchor>#[^)\s]*)?(?=\))")
CODE = re.compile(r"^```.*?^```|`[^`\n]+`", re.MULTILINE | re.DOTALL)


def on_config(config: Any) -> Any:
    """Adds to the navigation what folders hold: reference pages, decisions, and guides that are not listed."""
    sections = {title: pages for section in config.nav for title, pages in section.items()}
    sections["Reference"] += _list_pages("reference")
    sections["Explanation"].append({"Decisions": _list_pages("decisions")})
    listed = re.findall(r"guides/[\w-]+\.md", str(config.nav))
    if others := [page for page in _list_pages("guides") if page not in listed]:
        sections["How-to guides"].append({OTHERS: others})
    return config


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """The page with links to the repository where they lead out of docs/, and files named above their blocks."""
    folder = (DOCS / page.file.src_uri).parent
    source = page_source(markdown, folder)
    return FENCE.sub(r'```\g<language> title="\g<file>"', source)


def page_source(markdown: str, folder: Path) -> str:
    """The text of a page in `folder` with its links outside of code mended."""
    parts, end = [], 0
    for code in CODE.finditer(markdown):
        parts += [_mend_links(markdown[end : code.start()], folder), code[0]]
        end = code.end()
    return "".join([*parts, _mend_links(markdown[end:], folder)])


def _mend_links(text: str, folder: Path) -> str:
    return LINK.sub(lambda match: _mend_link(match["target"], folder) + (match["anchor"] or ""), text)


def _mend_link(target: str, folder: Path) -> str:
    path = (folder / target).resolve()
    is_page = path.is_relative_to(DOCS) and path.is_file() and path.suffix != ".py"
    if is_page or not path.is_relative_to(ROOT):
        return target
    if not path.exists():
        log.warning("a link leads nowhere: %s in %s", target, folder)
        return target
    kind = "tree" if path.is_dir() else "blob"
    return f"https://github.com/gpu-planner/gpu-planner/{kind}/main/{path.relative_to(ROOT).as_posix()}"


def _list_pages(folder: str) -> list[str]:
    return sorted(f"{folder}/{path.name}" for path in (DOCS / folder).glob("*.md"))
