"""What goes with a model package where the checkout is a repository: a page of documentation and an example recipe."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from automodel_lint.skeleton.design import Design
from automodel_lint.skeleton.rendering import rendered
from automodel_lint.source import decoded

_COVERAGE = "docs/model-coverage"
_TARGETS = {
    False: {
        "recipe": "TrainFinetuneRecipeForNextTokenPrediction",
        "model": "NeMoAutoModelForCausalLM",
        "dataset": "components.datasets.llm.hellaswag.HellaSwag",
        "collate": "components.datasets.utils.default_collater",
    },
    True: {
        "recipe": "FinetuneRecipeForVLM",
        "model": "NeMoAutoModelForImageTextToText",
        "dataset": "components.datasets.vlm.datasets.make_medpix_dataset",
        "collate": "components.datasets.vlm.collate_fns.default_collate_fn",
    },
}
_CELLS = (("architecture", "`{arch}`"), ("hf id", "`{hf_id}`"), ("model", "{title}"), ("family", "{title}"))


def repository_files(design: Design, header: str, hf_id: str) -> dict[str, tuple[bytes | None, str]]:
    """Return what is written beside the package: by path from the checkout's root, the old bytes and the new text.

    What the checkout has no place for is left out, and a remark says so.
    """
    files: dict[str, tuple[bytes | None, str]] = {}
    recipe = _recipe(design, header, hf_id)
    if recipe is not None:
        files[recipe[0]] = (None, recipe[1])
    files |= _documentation(design, hf_id, recipe[0] if recipe else "")
    return files


def _exists(design: Design, path: str) -> bool:
    return os.path.exists(os.path.join(design.project.checkout.root, path))


# -- recipe -----------------------------------------------------------------------------------------------------------


def _recipe(design: Design, header: str, hf_id: str) -> tuple[str, str] | None:
    kind = "vlm_finetune" if design.multimodal else "llm_finetune"
    if not _exists(design, f"examples/{kind}"):
        design.remarks.append(f"no example recipe: the checkout has no examples/{kind}")
        return None
    words, project = dict(_TARGETS[design.multimodal]), design.project
    package = project.checkout.package
    missing = [t for t in (words["dataset"], words["collate"]) if not _has(design, f"{package}.{t}")]
    if not project.tree.holds(os.path.join(project.checkout.package_dir, "__init__.py"), words["model"].encode()):
        missing.append(words["model"])
    if missing:
        design.remarks.append(f"no example recipe: {package} has no {missing[0]}")
        return None
    path = f"examples/{kind}/{design.name}/{design.name}_sft.yaml"
    words["model"] = f"{package}.{words['model']}.from_pretrained"
    words |= {name: f"{package}.{words[name]}" for name in ("dataset", "collate")}
    text = rendered("repository/recipe.yaml.jinja", design, path=path, package=package, hf_id=hf_id, **words)
    return path, header + text


def _has(design: Design, fqn: str) -> bool:
    module, _, name = fqn.rpartition(".")
    return bool(design.project.names.from_module(module, name)) and design.project.names.path_of(module) is not None


# -- documentation ----------------------------------------------------------------------------------------------------


def _documentation(design: Design, hf_id: str, recipe: str) -> dict[str, tuple[bytes | None, str]]:
    kind = "vlm" if design.multimodal else "llm"
    pages = [f"{_COVERAGE}/{inside}index.{ext}" for inside in (f"{kind}/", "") for ext in ("mdx", "md")]
    index = next((page for page in pages if _exists(design, page)), None)
    if index is None:
        design.remarks.append(f"no page of documentation: the checkout has no {_COVERAGE}/index.md")
        return {}
    old = _read(design, index)
    words = {"arch": design.arch, "hf_id": hf_id, "title": design.prefix}
    row = with_row(decoded(old), words)
    if row is not None:
        return {index: (old, row)}
    organization = re.sub(r"[^a-z0-9-]", "-", hf_id.partition("/")[0].lower())
    path = f"{_COVERAGE}/{kind}/{organization}/{design.name.replace('_', '-')}{os.path.splitext(index)[1]}"
    page = rendered(
        "repository/page.md.jinja",
        design,
        front_matter=decoded(old).startswith("---\n"),
        title=design.prefix,
        hf_id=hf_id,
        what=_what(design),
        task="Image-Text-to-Text" if design.multimodal else "Text Generation",
        recipe_path=recipe,
    )
    return {path: (None, page), **dict(_navigation(design, kind, path))}


def _what(design: Design) -> str:
    experts = "mixture-of-experts " if design.moe else "" if design.multimodal else "dense "
    return f"{experts}{'vision-language model' if design.multimodal else 'language model'}"


def _read(design: Design, path: str) -> bytes:
    project = design.project
    return project.tree.read(os.path.join(project.checkout.root, path)) or b""


def with_row(text: str, words: dict[str, str]) -> str | None:
    """Return a page with a row at the end of its first table of architectures; ``None`` if it has no such table.

    A table between marks that say that it is generated is none: whoever generates it would lose the row.
    """
    lines, generated = text.split("\n"), False
    for number, line in enumerate(lines):
        generated = (generated or "BEGIN GENERATED" in line) and "END GENERATED" not in line
        heads = [cell.strip().lower() for cell in line.strip().strip("|").split("|")]
        if generated or not line.lstrip().startswith("|") or "architecture" not in " ".join(heads):
            continue
        if number + 1 >= len(lines) or not re.fullmatch(r"\s*\|[\s:|-]+\|?\s*", lines[number + 1]):
            continue
        end = number + 2
        while end < len(lines) and lines[end].lstrip().startswith("|"):
            end += 1
        cells = [next((form for word, form in _CELLS if word in head), "").format(**words) for head in heads]
        return "\n".join([*lines[:end], f"| {' | '.join(cells)} |", *lines[end:]])
    return None


def _navigation(design: Design, kind: str, page: str) -> Iterator[tuple[str, tuple[bytes | None, str]]]:
    """The table of contents that lists the pages beside a new one by path, with an entry for it behind the last."""
    root = design.project.checkout.root
    for folder, _, names in sorted(os.walk(os.path.join(root, "docs"))):
        for name in sorted(names):
            if name.endswith((".yml", ".yaml")):
                path = os.path.relpath(os.path.join(folder, name), root).replace(os.sep, "/")
                old = _read(design, path)
                new = _with_entry(decoded(old), path, kind, page, design.prefix)
                if new is not None:
                    yield path, (old, new)


def _with_entry(text: str, path: str, kind: str, page: str, title: str) -> str | None:
    base = os.path.dirname(path)
    lines = text.split("\n")
    found = None
    for number, line in enumerate(lines[1:], 1):
        match = re.fullmatch(rf"(\s+)path: (\S*model-coverage/{kind}/[^/\s]+/\S+)", line)
        if match and os.path.normpath(os.path.join(base, match[2])).startswith(os.path.join(_COVERAGE, kind)):
            head = next((n for n in range(number - 1, -1, -1) if re.match(r"\s*- page:", lines[n])), None)
            found = (number, match[1], head) if head is not None else found
    if found is None or found[2] is None:
        return None
    number, indent, head = found
    end = number + 1
    while end < len(lines) and lines[end].startswith(indent) and not lines[end].lstrip().startswith("- "):
        end += 1
    relative = os.path.relpath(page, base).replace(os.sep, "/")
    entry = [f'{lines[head][: lines[head].index("-")]}- page: "{title}"', f"{indent}path: {relative}"]
    return "\n".join([*lines[:end], *entry, *lines[end:]])
