"""Markdown as GitHub reads it: links go by place in the repository, ``#12`` is no heading, a table's code has ``|``."""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from urllib.parse import unquote, urlsplit
from xml.etree.ElementTree import Element

from markdown import Markdown
from markdown.extensions import Extension
from markdown.treeprocessors import Treeprocessor
from markdown.util import AtomicString

# The pages that stand at another place in the repository; the rest of docs/ and rules/ is where it is there.
_PAGES = {"CONTRIBUTING.md": "contributing.md", "rules": "rules/index.md", "README.md": "index.md", "docs": "index.md"}
_HEADING = re.compile(r"(?:^|\n)(?P<level>#{1,6})(?=\s)(?P<header>(?:\\.|[^\\])*?)#*(?:\n|$)")
_UNBROKEN = 24  # letters of code that stay in one line
_visited = ""  # the page that is being rendered; MkDocs renders them one by one


def visit(source: str) -> None:
    """Say which page of the site is rendered next."""
    global _visited
    _visited = source


def rewritten(link: str, source: str, root: Path) -> str | None:
    """Return a link of the page ``source`` as it must be on the site; ``None`` if it has no page there.

    A link that leads nowhere is returned as it is or as a page that does not exist, and MkDocs reports it.
    """
    path = urlsplit(link).path
    if not path or ":" in link.partition("/")[0] or link.startswith("/"):
        return link
    place = "CONTRIBUTING.md" if source == "contributing.md" else source if _is_rule(source) else f"docs/{source}"
    target = posixpath.normpath(posixpath.join(posixpath.dirname(place), unquote(path)))
    page = _PAGES.get(target)
    if page is None and target.startswith("docs/"):
        page = target.removeprefix("docs/")
    elif page is None and _is_rule(target):
        page = target
    if page is None:
        return None if (root / target).exists() else link
    return posixpath.relpath(page, posixpath.dirname(source) or ".") + link[len(path) :]


def _is_rule(path: str) -> bool:
    return path.startswith("rules/")


class AsOnGitHub(Extension):
    """The extension of Markdown; ``root`` is the repository."""

    def __init__(self, root: Path):
        super().__init__()
        self.root = root

    def extendMarkdown(self, md: Markdown) -> None:
        """Run before MkDocs resolves and checks links (its priority is 0); a heading's ``#`` is followed by a space."""
        md.parser.blockprocessors["hashheader"].RE = _HEADING
        md.treeprocessors.register(_Pass(md, self.root), "as-on-github", 1)


class _Pass(Treeprocessor):
    def __init__(self, md: Markdown, root: Path):
        super().__init__(md)
        self.root = root

    def run(self, root: Element) -> None:
        for element in root.iter():
            if element.tag in ("a", "img"):
                self._relink(element, "href" if element.tag == "a" else "src")
            elif element.tag == "td":
                for code in element.iter("code"):
                    code.text = AtomicString((code.text or "").replace("\\|", "|"))
            elif element.tag == "code" and len(element.text or "") <= _UNBROKEN:
                element.set("class", "unbroken")

    def _relink(self, element: Element, key: str) -> None:
        link = rewritten(element.get(key, ""), _visited, self.root)
        if link is None:  # a folder of the repository: its text is still right, and names it
            element.tag = "span"
            del element.attrib[key]
        else:
            element.set(key, link)
