"""What looks like a fault of NAM714 and is none."""

from __future__ import annotations

from . import Edit, Harmless
from .methods import BODY, EMBEDDING, HORNBEAM, MOE, UPDATE
from .policy import FIR, NN, SPRUCE
from .tree_ties import HEAD, before_fir

_MODEL_BUILT = "        self.model = FirModel(config)\n"


def _prepared(name: str, why: str, *lines: str, more: tuple[Edit, ...] = (), path: str = FIR) -> Harmless:
    """More statements in a model's ``initialize_weights``."""
    text = "".join(f"        {line}\n" for line in lines)
    return Harmless("NAM714", name, (Edit(path, BODY, text + BODY), *more), why)


_FIR_MODEL = '    """Embedding, layers and final norm."""\n'
_FREEZE = "    def freeze(self) -> None:\n        self.requires_grad_(False)\n"


def _in_backbone(text: str) -> Edit:
    """More at the head of ``FirModel``."""
    return Edit(FIR, _FIR_MODEL, f"{_FIR_MODEL}\n{text}")


HARMLESS = [
    _prepared("of-every-module", "every torch module has it", "self.model.apply(print)", "self.model.train()"),
    _prepared("of-this-torch-module", "nn.Linear has it", "self.lm_head.reset_parameters()"),
    _prepared("its-own", "the class has it", "self.model.rotary_emb.init_weights()"),
    _prepared("added", "the class has it", "self.model.freeze()", more=(_in_backbone(_FREEZE),)),
    _prepared(
        "of-a-base",
        "a base has it",
        "self.model.freeze()",
        more=(
            Edit(
                FIR,
                "class FirModel(nn.Module):\n",
                f"class _Frozen:\n{_FREEZE}\n\nclass FirModel(_Frozen, nn.Module):\n",
            ),
        ),
    ),
    _prepared(
        "by-assignment",
        "the class has it",
        "self.model.freeze()",
        more=(_in_backbone("    freeze = nn.Module.eval\n"),),
    ),
    _prepared(
        "put-on-the-class",
        "somebody puts it there",
        "self.model.freeze()",
        more=(before_fir("def _freeze(model):\n    model.requires_grad_(False)\n\n\nFirModel.freeze = _freeze"),),
    ),
    _prepared(
        "put-on-the-object",
        "somebody puts it there",
        "self.model.freeze()",
        more=(Edit(FIR, HEAD, "        self.model.freeze = self.model.eval\n" + HEAD),),
    ),
    _prepared(
        "served-by-getattr",
        "nobody knows what it serves",
        "self.model.freeze()",
        more=(_in_backbone("    def __getattr__(self, name):\n        return super().__getattr__(name)\n"),),
    ),
    _prepared("asked-by-hasattr", "the author asks", 'if hasattr(self.model, "freeze"):', "    self.model.freeze()"),
    _prepared(
        "asked-by-isinstance",
        "the author asks",
        "for layer in self.model.layers:",
        "    if isinstance(layer, nn.Linear):",
        "        layer.freeze()",
    ),
    _prepared(
        "caught", "the author catches it", "try:", "    self.model.freeze()", "except AttributeError:", "    pass"
    ),
    _prepared(
        "asked-with-a-default",
        "the author asks",
        'freeze = getattr(self.model, "freeze", None)',
        "if freeze is not None:",
        "    freeze()",
    ),
    _prepared(
        "callable-on-the-object",
        "it is kept there",
        "self.model.act_fn(torch.zeros(1))",
        more=(
            Edit(
                FIR,
                "        self.layers = nn.ModuleList([FirDecoderLayer(",
                "        self.act_fn = torch.sigmoid\n        self.layers = nn.ModuleList([FirDecoderLayer(",
            ),
        ),
    ),
    _prepared("of-a-parameter", "a tensor is no module", "self.model.embed_tokens.weight.zero_()"),
    _prepared("of-the-config", "no module either", "self.config.validate()"),
    _prepared("of-a-list", "lists of modules have it", "self.model.layers.append(self.lm_head)"),
    _prepared(
        "one-variant-has-it",
        "who calls it may know",
        "self.model.norm.freeze()",
        more=(
            before_fir("class _FrozenNorm(nn.RMSNorm):\n" + _FREEZE),
            Edit(
                FIR,
                HEAD,
                "        if config.attention_bias:\n"
                "            self.model.norm = _FrozenNorm(config.hidden_size)\n" + HEAD,
            ),
        ),
    ),
    _prepared(
        "depends-on-what-was-built",
        "gates of other models have it",
        "if self.config.num_hidden_layers > 99:",
        "    self.lm_head.update_bias()",
    ),
    _prepared(
        "another-object-of-that-name",
        "the name was given to something else",
        "model = self.model",
        "model = self.config",
        "model.validate()",
    ),
    _prepared(
        "class-without-source",
        "the source is not at hand",
        "self.model.freeze()",
        more=(
            Edit(FIR, NN, NN + "from acme_kernels import FusedDecoder\n"),
            Edit(FIR, _MODEL_BUILT, "        self.model = FusedDecoder(config)\n"),
        ),
    ),
    Harmless(
        "NAM714",
        "handed-on-to-one-that-has-it",
        (
            Edit(FIR, EMBEDDING, "        return self.model.get_input_embeddings()\n"),
            _in_backbone("    def get_input_embeddings(self) -> nn.Module:\n        return self.embed_tokens\n"),
        ),
        "the class has it",
    ),
    Harmless(
        "NAM714",
        "one-kind-of-layer-has-it",
        (
            Edit(
                SPRUCE,
                UPDATE,
                "        for layer in self.model.layers:\n"
                "            for part in (layer.mlp.gate, layer.self_attn):\n"
                "                if part is layer.mlp.gate:\n                    part.update_bias()\n",
            ),
        ),
        "it is only called on one of them",
    ),
    Harmless(
        "NAM714",
        "renamed-with-its-callers",
        (
            Edit(MOE, "    def update_bias(self)", "    def update_correction_bias(self)"),
            *(
                Edit(path, "layer.mlp.gate.update_bias()", "layer.mlp.gate.update_correction_bias()")
                for path in (SPRUCE, HORNBEAM)
            ),
        ),
        "the class has it",
    ),
    Harmless(
        "NAM714",
        "property",
        (
            Edit(
                SPRUCE,
                UPDATE,
                "        for gate in self.gates:\n            gate.update_bias()\n\n"
                "    @property\n    def gates(self) -> list:\n"
                "        return [layer.mlp.gate for layer in self.model.layers]\n",
            ),
        ),
        "the gates have it",
    ),
]
