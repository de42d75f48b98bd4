"""Repairs of the tie policy and of what backs it, in spellings that neither pages nor mutations have."""

from __future__ import annotations

from pathlib import Path

import pytest

from automodel_lint.fixes.repairing import repaired
from automodel_lint.request import Request

from .clean_example import clean, edited, lay
from .mutations import BASE, Edit, model
from .mutations.policy import CONFIG_SET, DEF, FIR_CLASS, GATED, KEYS, NN, POLICY, TIE

FIR, LARCH = model("fir"), model("larch")
ALIAS = "self.lm_head.weight = self.model.embed_tokens.weight"
GATE = 'if getattr(self.config, "tie_word_embeddings", False):'
PRETRAINED = (
    Edit(FIR, NN, NN + "from transformers import PreTrainedModel\n"),
    Edit(FIR, FIR_CLASS, "class FirForCausalLM(HFCheckpointingMixin, PreTrainedModel):\n"),
)
METHODS = "    def get_output_embeddings(self)"


def _lines(*lines: str) -> str:
    return "".join(f"        {line}\n" for line in lines)


def _body(*lines: str) -> Edit:
    """Another body for Fir's ``tie_weights``."""
    return Edit(FIR, GATED, _lines(*lines))


def _before(anchor: str, text: str) -> Edit:
    return Edit(FIR, anchor, text + anchor)


def _repaired(folder: Path, *edits: Edit, path: str = FIR) -> tuple[str, str, list[str]]:
    """Return a file before and after repairing everything, and the codes that are left."""
    files = edited(clean(), edits)
    root = lay(folder / "checkout", files)
    outcome = repaired(Request(paths=[str(root)], select=["NAM"], ignore=["NAM803"], cache=False), unsafe=True)
    new = outcome.files.get(str(root / path))
    text = new[1].decode() if new else files[path]
    return files[path], text, [f.code for f in outcome.report.findings]


# -- NAM201 ---------------------------------------------------------------------------------------------------------

WITHOUT = Edit(FIR, POLICY, "")
POLICIES = {
    "always": ((_body(ALIAS),), "TIED_ONLY"),
    "read-into-a-local": ((_body("tied = self.config.tie_word_embeddings", "if tied:", f"    {ALIAS}"),), "BOTH"),
    "never": ((_body("return"), Edit(FIR, KEYS, "")), "UNTIED_ONLY"),
    "another-condition": ((_body("if self.training:", f"    {ALIAS}"),), None),
    "early-exit-for-another-reason": ((_body("if self.training:", "    return", ALIAS),), None),
    "keys-but-no-tie": ((_body("return"),), None),
    "base-of-transformers": (
        (
            Edit(FIR, NN, NN + "from transformers import LlamaForCausalLM\n"),
            Edit(FIR, FIR_CLASS, "class FirForCausalLM(HFCheckpointingMixin, LlamaForCausalLM):\n"),
            Edit(FIR, TIE, ""),
            Edit(FIR, KEYS, ""),
        ),
        None,
    ),
}


@pytest.mark.parametrize(("edits", "policy"), POLICIES.values(), ids=POLICIES)
def test_the_policy_follows_the_code(edits: tuple[Edit, ...], policy: str | None, tmp_path: Path) -> None:
    _, new, left = _repaired(tmp_path, WITHOUT, *edits)
    assert ("NAM201" in left) is (policy is None)
    assert new.count("tie_word_embeddings_support") == (policy is not None)
    assert policy is None or f"tie_word_embeddings_support: TieSupport = TieSupport.{policy}\n" in new


# -- NAM208 ---------------------------------------------------------------------------------------------------------

PROPERTY = "    @property\n    def embedding(self):\n        return self.model.embed_tokens\n\n"
ASKED = "if self.config.tie_word_embeddings:"
HEAD, SOURCE = "self.lm_head.weight", "self.model.embed_tokens.weight"
NAMED = {
    "getters": (ASKED, "    self.get_output_embeddings().weight = self.get_input_embeddings().weight"),
    "property": (ASKED, f"    {HEAD} = self.embedding.weight"),
    "locals": ("head, source = self.lm_head, self.model", ASKED, "    head.weight = source.embed_tokens.weight"),
    "setattr": (ASKED, f'    setattr(self.lm_head, "weight", {SOURCE})'),
    "getattr": (ASKED, f'    {HEAD} = getattr(self.model, "embed_tokens").weight'),
    "dictionary": (ASKED, f'    self.lm_head._parameters["weight"] = {SOURCE}'),
    "choice": ("tied = self.config.tie_word_embeddings", f"{HEAD} = {SOURCE} if tied else {HEAD}"),
    "walrus": (f"{ASKED[:-1]} and (found := self.model.embed_tokens) is not None:", f"    {HEAD} = found.weight"),
    "swap": (ASKED, "    self.lm_head = self.model.embed_tokens"),
}


@pytest.mark.parametrize("body", NAMED.values(), ids=NAMED)
def test_the_names_are_read_from_the_code(body: tuple[str, ...], tmp_path: Path) -> None:
    old, new, left = _repaired(tmp_path, Edit(FIR, KEYS, ""), _body(*body), _before(METHODS, PROPERTY))
    assert not left
    assert new == old.replace(POLICY, POLICY + KEYS)


SHARE = "def share(head, source):\n    head.weight = source.weight"


def test_the_names_are_read_through_a_helper_of_another_file(tmp_path: Path) -> None:
    old, new, left = _repaired(
        tmp_path,
        Edit(FIR, KEYS, ""),
        _body(ASKED, "    share(source=self.model.embed_tokens, head=self.lm_head)"),
        Edit(BASE, "class CausalLMBase(", f"{SHARE}\n\n\nclass CausalLMBase("),
        Edit(FIR, NN, NN + "from acme_automodel.components.models.common.causal_lm import share\n"),
    )  # fmt: skip
    assert not left and new == old.replace(POLICY, POLICY + KEYS)


UNNAMED = {
    "another-name": _body(ASKED, f"    {HEAD} = self.model.embed.weight"),
    "a-new-parameter": _body(ASKED, f"    {HEAD} = nn.Parameter({SOURCE})"),
    "turned-round": _body(ASKED, f"    {SOURCE} = {HEAD}"),
    "contradicted": Edit(FIR, POLICY, POLICY + KEYS.replace("_tied", "_nemo_tied").replace("embed_tokens", "norm")),
}


@pytest.mark.parametrize("edit", UNNAMED.values(), ids=UNNAMED)
def test_no_names_where_the_code_does_not_tell(edit: Edit, tmp_path: Path) -> None:
    old, new, left = _repaired(tmp_path, Edit(FIR, KEYS, ""), edit)
    assert "NAM208" in left and new == old


# -- NAM209 ---------------------------------------------------------------------------------------------------------


def test_the_method_has_the_default_of_the_file(tmp_path: Path) -> None:
    read = '        self.tied = getattr(config, "tie_word_embeddings", True)\n'
    tied = Edit("acme_automodel/shared/configuration.py", "embeddings: bool = False", "embeddings: bool = True")
    _, new, left = _repaired(tmp_path, tied, Edit(FIR, TIE + "\n", ""), Edit(FIR, CONFIG_SET, CONFIG_SET + read))
    assert "NAM209" not in left
    assert f'        if getattr(self.config, "tie_word_embeddings", True):\n            {ALIAS}\n' in new


def test_keys_and_method_come_from_the_constructor(tmp_path: Path) -> None:
    """Each round uses what the one before has written."""
    _, new, left = _repaired(
        tmp_path,
        Edit(FIR, TIE + "\n", ""),
        Edit(FIR, KEYS, ""),
        WITHOUT,
        Edit(FIR, "        self.tie_weights()\n\n    def", _lines(GATE, f"    {ALIAS}") + "\n    def"),
    )
    assert not left
    assert POLICY + KEYS in new and f"(self, *args, **kwargs):\n        {GATE}\n            {ALIAS}\n" in new


REFUSED = {
    "no-config": ((Edit(FIR, CONFIG_SET, "        self.settings = config\n"),), ()),
    "a-pattern": ((Edit(FIR, KEYS, KEYS.replace("model.embed", "model.[a-z]+.embed")),), ()),
    "an-index": ((Edit(FIR, KEYS, KEYS.replace("model.embed_tokens", "model.layers.0")),), ("NAM210",)),
}


@pytest.mark.parametrize(("edits", "others"), REFUSED.values(), ids=REFUSED)
def test_no_method_where_it_could_not_run(edits: tuple[Edit, ...], others: tuple[str, ...], tmp_path: Path) -> None:
    old, new, left = _repaired(tmp_path, Edit(FIR, TIE + "\n", ""), *edits)
    assert set(left) >= {"NAM209", *others} and new == old


def test_no_method_where_the_base_does_more(tmp_path: Path) -> None:
    more = "        self.lm_head.bias = None\n"
    only = '        """Nothing to alias here: only the subclass knows where its embedding is."""\n'
    old, new, left = _repaired(tmp_path, Edit(LARCH, TIE, ""), Edit(BASE, only, only + more), path=LARCH)
    assert left == ["NAM209"] and new == old


# -- NAM213 ---------------------------------------------------------------------------------------------------------

UNGATED = {
    "comments": (
        ("# why", ALIAS + "  # how", "# afterwards"),
        ("# why", GATE, f"    {ALIAS}  # how", "# afterwards"),
    ),
    "two-in-a-row": (
        (ALIAS, "# and", "self.model.head.weight = self.model.embed_tokens.weight", "return"),
        (GATE, f"    {ALIAS}", "    # and", "    self.model.head.weight = self.model.embed_tokens.weight", "return"),
    ),
    "in-both-branches": (
        ("if self.training:", f"    {ALIAS}", "else:", "    self.lm_head.weight = self.model.embed_tokens.weight"),
        ("if self.training:", f"    {GATE}", f"        {ALIAS}", "else:", f"    {GATE}", f"        {ALIAS}"),
    ),
    "in-one-line": (
        (f"head = self.lm_head; {ALIAS}; source = None",),
        ("head = self.lm_head", GATE, f"    {ALIAS}", "source = None"),
    ),
}


@pytest.mark.parametrize(("before", "after"), UNGATED.values(), ids=UNGATED)
def test_all_that_ties_is_put_under_the_flag(before: tuple[str, ...], after: tuple[str, ...], tmp_path: Path) -> None:
    old, new, left = _repaired(tmp_path, _body(*before))
    assert not left and new == old.replace(_lines(*before), _lines(*after))


KEPT = {
    "a-return": ("return self._share()",),
    "both-sides-of-the-flag": ("if self.config.tie_word_embeddings:", f"    {ALIAS}", "else:", f"    {ALIAS}"),
    "a-value-that-is-read": (ALIAS.replace(" = ", " = shared = ", 1), "assert shared is not None"),
    "a-helper-that-does-more": ("self._set_up()",),
}
HELPERS = (
    f"    def _share(self):\n        {ALIAS}\n\n"
    f"    def _set_up(self):\n        {ALIAS}\n        self.ready = True\n\n"
)  # fmt: skip


@pytest.mark.parametrize("body", KEPT.values(), ids=KEPT)
def test_nothing_else_is_put_under_the_flag(body: tuple[str, ...], tmp_path: Path) -> None:
    old, new, left = _repaired(tmp_path, _body(*body), _before(METHODS, HELPERS))
    assert left == ["NAM213"] and new == old


SIGNATURES = {
    "(self, *_args: object)": "(self, *_args: object, **_kwargs: object)",
    "(self, *, missing_keys=None)": "(self, *, missing_keys=None, **kwargs)",
    "(self, args=None)": "(self, args=None, *extra_args, **kwargs)",
    "(self, /)": "(self, /, *args, **kwargs)",
    "(self, recompute_mapping)": None,
}


@pytest.mark.parametrize(("signature", "wanted"), SIGNATURES.items(), ids=SIGNATURES)
def test_the_signature_gets_what_it_lacks(signature: str, wanted: str | None, tmp_path: Path) -> None:
    old, new, left = _repaired(tmp_path, *PRETRAINED, Edit(FIR, DEF, f"    def tie_weights{signature}:\n"))
    assert left == ([] if wanted else ["NAM213"])
    assert new == old.replace(signature, wanted or signature)


def test_gate_and_signature_are_one_repair(tmp_path: Path) -> None:
    method = f"    def tie_weights(self):\n        {ALIAS}\n"
    old, new, left = _repaired(tmp_path, *PRETRAINED, Edit(FIR, TIE, method))
    assert not left
    body = f"        {GATE}\n            {ALIAS}\n"
    assert new == old.replace(method, f"    def tie_weights(self, *args, **kwargs):\n{body}")
