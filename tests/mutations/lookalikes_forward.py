"""What looks like a fault of NAM701 or NAM702 and is none."""

from __future__ import annotations

from . import Edit, Harmless
from .forward import CUT, FORWARD, HIDDEN, LARCH, _forward, _method
from .policy import FIR, FIR_CLASS


def _head(name: str, why: str, *lines: str, more: tuple[Edit, ...] = (), **to: str) -> Harmless:
    return Harmless("NAM701", name, _forward(FIR, *lines, more=more, **to), why)


HARMLESS = [
    _head(
        "out-of-the-keyword-arguments",
        "it is taken by its name",
        'logits_to_keep = kwargs.pop("logits_to_keep", 0)',
        HIDDEN.strip(),
        f"return self.lm_head({CUT})",
    ),
    _head(
        "asked-for-by-its-name",
        "it is taken by its name",
        HIDDEN.strip(),
        'if kwargs.get("logits_to_keep"):',
        '    hidden = hidden[:, -kwargs["logits_to_keep"] :]',
        "return self.lm_head(hidden)",
    ),
    _head("last-token", "only one position is projected", HIDDEN.strip(), "return self.lm_head(hidden[:, -1])"),
    _head(
        "gathered",
        "only chosen positions are projected",
        HIDDEN.strip(),
        "last = attention_mask.sum(dim=1) - 1",
        "rows = torch.arange(hidden.shape[0], device=hidden.device)",
        "return self.lm_head(hidden[rows, last])",
    ),
    _head(
        "only-with-a-label",
        "only chosen positions are projected",
        "labels = kwargs.pop('labels')",
        HIDDEN.strip(),
        "kept = hidden.flatten(0, 1).index_select(0, (labels.flatten() >= 0).nonzero().flatten())",
        "return self.lm_head(kept)",
    ),
    _head("no-head", "the head is not applied", HIDDEN.strip().replace("hidden =", "return")),
    _head(
        "the-loss-has-the-head",
        "what is done with it is not known",
        "from acme_kernels import fused_cross_entropy",
        "",
        HIDDEN.strip(),
        "return fused_cross_entropy(hidden, self.lm_head.weight, kwargs.pop('labels'))",
    ),
    _head(
        "handed-on-to-a-method",
        "it arrives where it is taken",
        HIDDEN.strip(),
        "return self.logits(hidden, **kwargs)",
        more=(
            _method(FIR, "def logits(self, hidden, logits_to_keep=0, **kwargs):", f"    return self.lm_head({CUT})"),
        ),
    ),
    _head(
        "handed-on-as-a-dict",
        "it arrives where it is taken",
        HIDDEN.strip(),
        "options = dict(kwargs)",
        "return self.logits(hidden, options)",
        more=(
            _method(
                FIR,
                "def logits(self, hidden, options):",
                '    logits_to_keep = options.get("logits_to_keep", 0)',
                f"    return self.lm_head({CUT})",
            ),
        ),
    ),
    Harmless(
        "NAM701",
        "handed-on-to-the-base",
        (
            Edit(
                LARCH,
                "    def get_input_embeddings(self)",
                "    def forward(self, input_ids, attention_mask=None, **kwargs):\n"
                "        return super().forward(input_ids, attention_mask, **kwargs)\n\n"
                "    def get_input_embeddings(self)",
            ),
        ),
        "it arrives where it is taken",
    ),
    Harmless(
        "NAM701",
        "not-registered",
        (
            Edit(
                FIR,
                FIR_CLASS,
                "class FirDraft(FirModel):\n    def forward(self, input_ids):\n"
                f"        return self.lm_head(super().forward(input_ids))\n\n\n{FIR_CLASS}",
            ),
        ),
        "the contract is about registered classes",
    ),
    Harmless(
        "NAM702",
        "sorted-out-by-a-decorator",
        (
            Edit(FIR, FORWARD, FORWARD.replace("        **kwargs: Any,\n", "")),
            Edit(
                FIR,
                FIR_CLASS,
                "def _known(function):\n    def wrapper(self, input_ids, logits_to_keep=0, **kwargs):\n"
                "        return function(self, input_ids, logits_to_keep=logits_to_keep)\n\n"
                f"    return wrapper\n\n\n{FIR_CLASS}",
            ),
            Edit(
                FIR,
                "    def forward(\n        self,\n        input_ids: torch.Tensor,\n",
                "    @_known\n    def forward(\n        self,\n        input_ids: torch.Tensor,\n",
            ),
        ),
        "what stands around it takes them",
    ),
]
