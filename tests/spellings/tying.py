"""What ``tie_weights`` does, and what it asks first (NAM212, NAM213)."""

from __future__ import annotations

from . import ALIAS, BOTH, BUILD, GUARD, KEYS, PLAIN, TIED, UNTIED, Spelling, acme, function, init, klass, module, ties

FOREIGN = "HFCheckpointingMixin, PreTrainedModel"
FLAG = "self.config.tie_word_embeddings"
BY_GETTERS = (
    "head = self.get_output_embeddings()",
    "embeddings = self.get_input_embeddings()",
    "if head is not None and embeddings is not None:",
    "    head.weight = embeddings.weight",
)
GETTERS = (
    function("get_input_embeddings", "self", "return self.model.embed_tokens"),
    function("get_output_embeddings", "self", "return self.lm_head"),
)
SETTER = function("set_output_embeddings", "self, new", "self.lm_head = new")
ALIAS_OF_MODEL = "model.lm_head.weight = model.model.embed_tokens.weight"


def _both(
    name: str,
    *lines: str,
    found: str = "",
    members: tuple[str, ...] = (),
    above: str = "",
    bases: str = PLAIN,
    library: bool = True,
) -> Spelling:
    """A class of both kinds that ties so."""
    text = module(above, klass(KEYS, ties(*lines, found=found), *members, policy=BOTH, bases=bases))
    return acme("NAM213", name, text, library=library)


def _always(name: str, *lines: str, **how) -> Spelling:
    """A class of both kinds that ties whatever the flag says."""
    return _both(name, *lines, found="NAM213", **how)


def _tied(
    name: str,
    *lines: str,
    members: tuple[str, ...] = (),
    above: str = "",
    imports: str = "",
    bases: str = PLAIN,
    build: str = BUILD,
    found: str = "",
) -> Spelling:
    """A class that is always tied, and ties so."""
    constructor = init(GUARD, build=build)
    parts = klass(KEYS, ties(*lines), *members, policy=TIED, bases=bases, constructor=constructor, found=found)
    return acme("NAM212", name, module(above, parts, imports=imports))


def _untied(name: str, *lines: str, found: str = "") -> Spelling:
    """A class that is never tied, and whose ``tie_weights`` does this."""
    return acme("NAM212", name, module(klass(ties(*lines, found=found), policy=UNTIED)))


UNASKED = [
    _always("getters-of-a-foreign-base", *BY_GETTERS, bases=FOREIGN),
    _always("getters-not-at-hand", *BY_GETTERS, bases=FOREIGN, library=False),
    _always("head-swapped", "self.lm_head = self.get_input_embeddings()", members=GETTERS),
    _always("head-swapped-by-its-setter", "self.set_output_embeddings(self.get_input_embeddings())", members=(SETTER,)),
    _always("table-of-parameters", 'self.lm_head._parameters["weight"] = self.model.embed_tokens.weight'),
    _always(
        "asks-for-the-kind-of-head",
        "if isinstance(self.get_output_embeddings(), nn.Linear):",
        f"    {ALIAS}",
        bases=FOREIGN,
    ),
    _always(
        "asks-for-the-shape",
        "if tuple(self.lm_head.weight.shape) == tuple(self.model.embed_tokens.weight.shape):",
        f"    {ALIAS}",
    ),
    _always("asks-for-a-missing-head", "if any(part is None for part in (self.lm_head,)):", "    return", ALIAS),
]  # fmt: skip

ASKED = [
    _both("method-gets-the-flag", f"self._tie({FLAG})", members=(
        function("_tie", "self, tie", "if tie:", f"    {ALIAS}"),
    )),
    _both("function-gets-the-flag", f"tie(self, {FLAG})", above=f"""
        def tie(model, flag):
            if flag:
                {ALIAS_OF_MODEL}
        """),
    _both("function-asks-another", "tie(self)", above=f"""
        def asked(model):
            return model.config.tie_word_embeddings


        def tie(model):
            if asked(model):
                {ALIAS_OF_MODEL}
        """),
    _both("in-an-expression", f'{FLAG} and setattr(self.lm_head, "weight", self.model.embed_tokens.weight)'),
    _both("continue-in-a-loop", "for _ in (1,):", f"    if not {FLAG}:", "        continue", f"    {ALIAS}"),
    _both("break-out-of-a-loop", "for _ in (1,):", f"    if not {FLAG}:", "        break", f"    {ALIAS}"),
    _both("ties-no-head", "self.mtp.weight = self.model.embed_tokens.weight"),
]  # fmt: skip

TIED_HEAD = """
class TiedHead(nn.Module):
    def __init__(self, weight):
        super().__init__()
        self.weight = weight
"""

METADATA = [
    _tied("by-the-constructor-of-the-head", "pass", above=TIED_HEAD, build=(
        f"{BUILD}self.lm_head = TiedHead(self.model.embed_tokens.weight)\n"
    )),
    _tied("in-the-table-of-parameters", 'self.lm_head._parameters["weight"] = self.model.embed_tokens.weight'),
    _tied("by-the-setter", "self.set_output_embeddings(self.get_input_embeddings())", members=(SETTER,)),
    _tied(
        "by-a-function-not-at-hand",
        "share(self.lm_head, self.model.embed_tokens)",
        imports="from oak import share\n",
    ),
    _tied("by-its-child", "self.language_model.tie_weights()"),
    _tied("by-a-foreign-base", "super().tie_weights(*args, **kwargs)", bases="HFCheckpointingMixin, LlamaForCausalLM"),
    _tied(
        "whatever-the-keys-say",
        "for target, source in self._tied_weights_keys.items():",
        '    owner, name = target.rsplit(".", 1)',
        "    setattr(self.get_submodule(owner), name, self.get_parameter(source))",
    ),
    _untied("tower-shares-the-embedding", "self.mtp.embed.weight = self.model.embed_tokens.weight"),
    _untied("head-with-itself", "self.lm_head.weight = self.lm_head.weight"),
]  # fmt: skip

SPELLINGS = [*UNASKED, *ASKED, *METADATA]
