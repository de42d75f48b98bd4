"""The files of a model package, from their templates."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING

from automodel_lint.skeleton.design import Design
from automodel_lint.skeleton.expert_fields import expert_fields
from automodel_lint.skeleton.imports import with_imports
from automodel_lint.skeleton.layout import fitted
from automodel_lint.skeleton.tiny import EXPERTS, VOCABULARY, asking, sparse_layer, tiny_text, tiny_vision

if TYPE_CHECKING:
    import jinja2


def package_files(design: Design, header: str = "") -> dict[str, str]:
    """Return the files of the package folder by name; ``header`` is what every file of the checkout begins with."""
    writer = _Writer(design, header)
    files = dict(writer.files())
    return dict(sorted(files.items()))


def test_file(design: Design, header: str = "") -> str:
    """Return the tests of a package."""
    templates = ["tests/test_model.py.jinja", *(["tests/test_state_dict_adapter.py.jinja"] if design.adapter else [])]
    backend, written = design.shared.backend, {cls.name: cls for cls in design.configs}
    words = {
        "backend_arguments": ", ".join(f"{k}={v}" for k, v in _PLAIN_BACKEND.items() if k in backend.parameters),
        "tiny": tiny_text(design),
        "tiny_vision": tiny_vision(design) if design.multimodal else [],
        "tiny_vocab": VOCABULARY,
        "tiny_experts": EXPERTS,
        "pixels": "1, 3, 16, 16",
        "asking": asking(design),
        "registered": [(cls.model_type, cls.name) for cls in written.values()],
        "expert_prefix": f"{design.layers}.{sparse_layer(design)}.mlp",
    }
    body = fitted("\n\n".join(rendered(template, design, **words) for template in templates))
    writer = _Writer(design, header)
    module, registry = writer.module, f"{writer.package}._transformers.registry"
    sources = {
        **writer.sources,
        design.arch: f"{module}.model",
        "MODEL_ARCH_MAPPING": registry,
        "resolve_custom_config_cls": registry,
    }
    return f'{header}"""Tests of {design.prefix}, on configs that run in milliseconds on a CPU."""\n\n' + with_imports(
        body, sources, writer.package, future=False
    )


def rendered(name: str, design: Design, **more: object) -> str:
    """Return one template filled in."""
    if design.moe:
        more["fields"] = expert_fields(design)
    text = _environment().get_template(name).render(m=design, s=design.shared, **more)
    return re.sub(r"\n{4,}", "\n\n\n", text).strip("\n") + "\n"


@cache
def _environment() -> jinja2.Environment:
    import jinja2

    return jinja2.Environment(
        loader=jinja2.PackageLoader("automodel_lint.skeleton"),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


# What runs on a CPU without further libraries.
_PLAIN_BACKEND = {
    "attn": '"sdpa"',
    "linear": '"torch"',
    "rms_norm": '"torch"',
    "experts": '"torch"',
    "dispatcher": '"torch"',
    "gate_precision": "torch.float32",
}


class _Writer:
    """Puts templates together to modules."""

    def __init__(self, design: Design, header: str):
        self.design, self.header = design, header
        checkout = design.project.checkout
        self.package, self.module = checkout.package, f"{checkout.package}.components.models.{design.name}"
        self.sources = {**design.shared.sources(), **design.homes}
        self.sources.update({cls.name: f"{self.module}.config" for cls in design.configs})
        head = design.shared.head
        if head is not None:
            home, _, name = head.returns.rpartition(".")
            self.sources.setdefault(name, home)

    def files(self) -> Iterator[tuple[str, str]]:
        """Yield name and text of each file, first those that others import from."""
        d = self.design
        if d.configs:
            yield self._module("config", f"Configuration of {d.prefix}.", ["config.py.jinja"])
        rotary = ["rotary.py.jinja"]
        if (d.scaled_rope and d.transformers) or d.partial_rotary:
            yield self._module("rope_utils", f"Rotary positions of {d.prefix}.", rotary)
            rotary = []
        feed_forward = ["feed_forward.py.jinja"] if d.dense_layers or not d.moe else []
        blocks = [*rotary, "attention.py.jinja", *feed_forward, "decoder_layer.py.jinja"]
        backbone = [*(["unwritten.py.jinja"] if d.unwritten else []), "backbone.py.jinja"]
        if d.adapter:
            doc = f"From the names and layouts of published {d.prefix} checkpoints to those of the model, and back."
            yield self._module("state_dict_adapter", doc, ["state_dict_adapter.py.jinja"])
        if d.multimodal:
            yield self._module("layers", f"The language model of {d.prefix}.", [*blocks, *backbone])
            yield self._module("vision", f"The vision tower of {d.prefix}, and its projector.", ["vision.py.jinja"])
            yield self._module("model", f"{d.prefix}: images and text in, text out.", ["multimodal.py.jinja"])
        elif d.moe:
            yield self._module("layers", f"The layers of {d.prefix}.", blocks)
            doc = f"{d.prefix}: a decoder with experts."
            yield self._module("model", doc, [*backbone, "causal_lm.py.jinja"])
        else:
            doc = f"{d.prefix}: a dense decoder."
            yield self._module("model", doc, [*blocks, *backbone, "causal_lm.py.jinja"])
        yield self._init()

    def _module(self, name: str, doc: str, templates: list[str]) -> tuple[str, str]:
        body = fitted("\n\n".join(rendered(template, self.design) for template in templates))
        text = with_imports(body, self.sources, self.package)
        bound = re.findall(r"^(?:class|def) (\w+)", body, re.M)
        self.sources.update({word: f"{self.module}.{name}" for word in bound})
        return f"{name}.py", f'{self.header}"""{doc}"""\n\n{text}'

    def _init(self) -> tuple[str, str]:
        exports = sorted([self.design.arch, *(cls.name for cls in self.design.configs)])
        body = rendered("init.py.jinja", self.design, exports=exports)
        text = with_imports(body, self.sources, self.package, future=False)
        return "__init__.py", f'{self.header}"""{self.design.prefix}."""\n\n{text}'
