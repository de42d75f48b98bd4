"""MkDocs hook: brings into the site what does not lie in ``docs/``; links mean there what they mean on GitHub."""

from __future__ import annotations

import re
from pathlib import Path

import as_on_github
import flow_chart
import rule_index
import rule_page
import tree_picture
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from automodel_lint.pages import Page as Rule
from automodel_lint.pages import parse

EXAMPLE = "examples/acme_automodel"
_WITHOUT = {"index.md": {"hide": ["navigation"]}, "rules/index.md": {"hide": ["toc"]}}  # columns that would be empty
_PICTURE = re.compile(r"^<!-- picture: module tree of (\w+) -->$", re.M)


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Put the rules into the navigation, family by family, and add our extensions of Markdown."""
    root = _root(config)
    below = [{title: [_source(rule) for rule in rules]} for title, rules in rule_index.by_family(_rules(root)).items()]
    config.nav = [{"Rules": ["rules/index.md", *below]} if item == {"Rules": "rules/index.md"} else item
                  for item in config.nav or []]  # fmt: skip
    config.markdown_extensions.append(as_on_github.AsOnGitHub(root))
    config.mdx_configs["pymdownx.superfences"] = {
        "custom_fences": [{"name": "mermaid", "class": "mermaid", "format": flow_chart.fence}]
    }
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add a page a rule, their index, CONTRIBUTING.md, and the trees that docs/tree.md shows as pages of their own."""
    root = _root(config)
    rules = _rules(root)
    made = {_source(rule): rule_page.render(rule) for rule in rules}
    made["rules/index.md"] = rule_index.render(rules)
    made["contributing.md"] = (root / "CONTRIBUTING.md").read_text(encoding="utf-8")
    for architecture in _PICTURE.findall((root / "docs/tree.md").read_text(encoding="utf-8")):
        made[tree_picture.page_name(architecture)] = tree_picture.page(root / EXAMPLE, architecture)
    for source, content in made.items():
        files.append(File.generated(config, source, content=content))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Draw the module trees that a comment asks for (GitHub shows nothing there)."""
    as_on_github.visit(page.file.src_uri)
    page.meta.update(_WITHOUT.get(page.file.src_uri, {}))
    root = _root(config)
    return _PICTURE.sub(lambda match: tree_picture.figure(root / EXAMPLE, match[1]), markdown)


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Finish the pages of rules."""
    return rule_page.finished(html) if page.file.src_uri.startswith("rules/NAM") else html


def _root(config: MkDocsConfig) -> Path:
    return Path(config.config_file_path).resolve().parent


def _rules(root: Path) -> list[Rule]:
    """The pages of this checkout, whatever version of the package is installed."""
    return [parse(path.read_text(encoding="utf-8"), path.name) for path in sorted(root.glob("rules/NAM*.md"))]


def _source(rule: Rule) -> str:
    return f"rules/{rule.code}-{rule.name}.md"
