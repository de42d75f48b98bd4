"""The documentation site: it builds strictly, every link in it leads somewhere, and it loads nothing from elsewhere."""

from __future__ import annotations

import json
import posixpath
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from as_on_github import rewritten

from automodel_lint.pages import SITE

from . import built_site
from .built_site import Element, article, page, pages, site
from .conftest import ROOT

LINKS = {"a": "href", "area": "href", "img": "src", "script": "src", "link": "href", "iframe": "src", "source": "src"}
CODE = "\ufffc"  # stands before and behind code in a paragraph
LOADED = {"img", "script", "link", "iframe", "source", "video", "audio", "object", "embed"}


def links(path: str) -> Iterator[tuple[Element, str]]:
    for element in page(path).all():
        link = element.attributes.get(LINKS.get(element.tag, ""))
        if link is not None and not (element.tag == "link" and element.attributes["rel"] == "canonical"):
            yield element, link


def pages_of_text() -> list[str]:
    return [path for path in pages() if path.endswith("index.html")]


def is_elsewhere(link: str) -> bool:
    return bool(urlsplit(link).scheme or urlsplit(link).netloc)


def target(link: str, path: str) -> tuple[str, str]:
    """The file and the anchor that a link of the page ``path`` leads to."""
    parts = urlsplit(link)
    if not parts.path:
        return path, unquote(parts.fragment)
    # 404.html is shown at any address, so that its links start at the root
    file = posixpath.normpath(posixpath.join("/", posixpath.dirname(path), unquote(parts.path))).lstrip("/")
    if parts.path.endswith("/") or (site() / file).is_dir():
        file = posixpath.join(file, "index.html")
    return file, unquote(parts.fragment)


# -- links ----------------------------------------------------------------------------------------------------------


def test_every_link_and_anchor_leads_somewhere() -> None:
    broken, checked = [], 0
    for path in pages():
        for _, link in links(path):
            if is_elsewhere(link):
                continue
            checked += 1
            file, anchor = target(link, path)
            if not (site() / file).is_file():
                broken.append(f"{path}: {link}: no {file}")
            elif anchor and file.endswith(".html"):
                known = {element.attributes.get(key) for element in page(file).all() for key in ("id", "name")}
                if anchor not in known:
                    broken.append(f"{path}: {link}: no #{anchor} in {file}")
    assert not broken, "\n".join(broken)
    assert checked > 1000


FAULTS = {  # what is added to a page, and what must be said about it
    "[a](gone.md)": ("docs/usage.md", r"usage\.md.*gone\.md"),
    "[a](configuration.md#no-such-heading)": ("docs/usage.md", r"usage\.md.*#no-such-heading"),
    "[a](#here-neither)": ("docs/usage.md", r"usage\.md.*#here-neither"),
    "[a](../rules/NAM299-none.md)": ("docs/usage.md", r"usage\.md.*NAM299-none"),
    "[a](../nowhere)": ("docs/usage.md", r"usage\.md.*nowhere"),
    "[a](NAM298-none.md)": ("rules/NAM206-tie-guard-config.md", r"NAM206.*NAM298-none"),
    "[a](docs/gone-too.md)": ("CONTRIBUTING.md", r"contributing\.md.*gone-too"),
    "```mermaid\nsequenceDiagram\n```": ("docs/usage.md", r"flow chart: 'sequenceDiagram' is not understood"),
    "A page that nothing leads to.": ("docs/lost.md", r"not included in the \"nav\"[^:]*:\s+- lost\.md"),
}


def test_what_leads_nowhere_fails_the_build(tmp_path: Path) -> None:
    root = built_site.copy(tmp_path / "repository")
    for text, (path, _) in FAULTS.items():
        with (root / path).open("a", encoding="utf-8") as stream:
            stream.write(f"\n{text}\n")
    done = built_site.build(tmp_path / "site", root)
    assert done.returncode == 1
    unsaid = [text for text, (_, said) in FAULTS.items() if not re.search(f"WARNING -.*{said}", done.stderr)]
    assert not unsaid, done.stderr
    assert f"{len(FAULTS)} warnings in strict mode" in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("link", "source", "there"),
    [
        ("repairs.md#safe-and-unsafe", "usage.md", "repairs.md#safe-and-unsafe"),
        ("../rules/NAM001-unused-suppression.md", "suppressing.md", "rules/NAM001-unused-suppression.md"),
        ("../rules", "probe.md", "rules/index.md"),
        ("../CONTRIBUTING.md#principles", "architecture.md", "contributing.md#principles"),
        ("docs/tree.md", "contributing.md", "tree.md"),
        ("../docs/tree.md", "rules/NAM210-tied-keys-unknown.md", "../tree.md"),
        ("../docs/images/check.svg", "rules/index.md", "../images/check.svg"),
        ("https://example.org/a.md", "usage.md", "https://example.org/a.md"),
        ("#anchor", "usage.md", "#anchor"),
        ("../benchmarks", "usage.md", None),
        ("../benchmarks/none", "usage.md", "../benchmarks/none"),
    ],
)
def test_a_link_means_on_the_site_what_it_means_on_github(link: str, source: str, there: str | None) -> None:
    assert rewritten(link, source, ROOT) == there


# -- nothing from elsewhere -----------------------------------------------------------------------------------------


def test_no_page_loads_anything_from_elsewhere() -> None:
    loaded = [(path, link) for path in pages() for element, link in links(path) if element.tag in LOADED]
    assert len(loaded) > len(pages())
    assert not [(path, link) for path, link in loaded if is_elsewhere(link)]
    styles = "".join(path.read_text(encoding="utf-8") for path in site().rglob("*.css"))
    assert styles and not re.search(r"(url\(|@import)\s*['\"]?(https?:)?//", styles)


def test_no_diagram_waits_for_a_library_from_elsewhere() -> None:
    """The theme would fetch mermaid for such an element."""
    assert not [path for path in pages() if page(path).all(style="mermaid")]


# -- pages ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", [path for path in sorted((ROOT / "docs").rglob("*")) if path.is_file()], ids=str)
def test_what_lies_in_docs_is_on_the_site(path: Path) -> None:
    place = path.relative_to(ROOT / "docs")
    if place.suffix == ".md":
        place = place.with_suffix("") / "index.html" if place.stem != "index" else Path("index.html")
    assert (site() / place).is_file()


@pytest.mark.parametrize("path", sorted((ROOT / "docs").glob("*.schema.json")), ids=lambda path: path.name)
def test_a_schema_is_served_where_it_says(path: Path) -> None:
    address = json.loads(path.read_text(encoding="utf-8"))["$id"]
    assert (site() / address.removeprefix(f"{SITE}/")).read_bytes() == path.read_bytes()


def _said(element: Element) -> str:
    return f"{CODE}{element.text}{CODE}" if element.tag == "code" else ""


def test_no_markup_is_left_in_the_text() -> None:
    """Where GitHub's Markdown and that of the site differ, such as a list right below a line of text."""
    left = []
    for path in pages_of_text():
        for paragraph in page(path).all("p") + page(path).all("td") + page(path).all("li"):
            text = "".join(c if isinstance(c, str) else _said(c) for c in paragraph.children)
            prose = re.sub(f"{CODE}.*?{CODE}", "", text, flags=re.S)
            if re.search(r"^\s*([-*]|\d+\.) |\*\*|```|\]\(|\\\|", prose, re.M) or "\\|" in text:
                left.append(f"{path}: {text[:200]}")
    assert not left, "\n".join(left)


def test_the_search_knows_every_page_of_text() -> None:
    index = json.loads((site() / "search" / "search_index.json").read_text(encoding="utf-8"))
    found = {entry["location"].partition("#")[0] for entry in index["docs"]}
    written = {path.removesuffix("index.html") for path in pages_of_text()}
    assert found == written
    prose = " ".join(entry["text"] for entry in index["docs"] if entry["location"].startswith("rules/NAM206"))
    assert "outermost flag" in prose
    assert "AcmeForCausalLM(" not in prose  # the examples have the same words everywhere


def test_a_page_stands_once_in_the_navigation() -> None:
    listed = re.findall(r": ([\w./-]+\.md)", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    assert len(listed) == len(set(listed)) > 10


def test_the_start_page_leads_to_every_guide() -> None:
    led = {target(link, "index.html")[0] for link in (a.attributes["href"] for a in article("index.html").all("a"))}
    guides = {
        "usage",
        "pull-requests",
        "repairs",
        "suppressing",
        "editors",
        "pre-commit",
        "tree",
        "probe",
        "output-formats",
        "rules",
    }
    assert {f"{guide}/index.html" for guide in guides} <= led


def test_read_the_docs_can_read_its_settings() -> None:
    command = ["-m", "check_jsonschema", "--builtin-schema", "vendor.readthedocs", str(ROOT / ".readthedocs.yaml")]
    done = subprocess.run([sys.executable, *command], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout
