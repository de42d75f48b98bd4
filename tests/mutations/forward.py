"""NAM701, NAM702: what a ``forward`` takes, and where it applies the head."""

from __future__ import annotations

from . import BASE, Edit, Fault, Place, model
from .casts import indented
from .policy import CEDAR, FIR, FIR_CLASS, LARCH

JUNIPER, SPRUCE = model("juniper"), model("spruce")
DOC = '        """Map token ids ``[B, S]`` to logits ``[B, S, V]``."""\n'
TAKEN = "        logits_to_keep: int = 0,\n        **kwargs: Any,\n"
HIDDEN = "        hidden = self.model(input_ids, attention_mask=attention_mask, position_ids=position_ids)\n"
PROJECTED = "        return project_to_vocabulary(self.lm_head, hidden, logits_to_keep)\n"
FORWARD = f"{TAKEN}    ) -> torch.Tensor:\n{DOC}{HIDDEN}{PROJECTED}"
MODEL = "self.model(input_ids, attention_mask=attention_mask, position_ids=position_ids)"
CUT = "hidden[:, -logits_to_keep:] if logits_to_keep else hidden"
DEF = "def forward("
EMBEDDINGS = "    def get_input_embeddings(self) -> nn.Module:\n"


def _forward(path: str, *lines: str, takes: str = "        **kwargs: Any,\n", more: tuple[Edit, ...] = ()) -> tuple:
    """Another end of the signature and other lines in the ``forward`` of a model."""
    text = f"{takes}    ) -> torch.Tensor:\n{DOC}{indented(*lines)}"
    return (Edit(path, FORWARD, text), *more)


def _method(path: str, *lines: str) -> Edit:
    """One more method of a class, before the one that gives its embedding."""
    return Edit(path, EMBEDDINGS, "".join(f"    {line}\n" if line else "\n" for line in (*lines, "")) + EMBEDDINGS)


def everywhere(name: str, *lines: str, path: str = FIR, at: str = DEF, more: tuple[Edit, ...] = (), **to: str) -> Fault:
    """A ``forward`` without the argument that applies the head in these ``lines``."""
    return Fault("NAM701", name, _forward(path, *lines, more=more, **to), at=at)


def multiplied(name: str, line: str) -> Fault:
    """The weight of the head is multiplied with, at every position."""
    also = (Place("NAM705", FIR, line),)
    return Fault("NAM701", name, _forward(FIR, HIDDEN.strip(), line), at=DEF, also=also)


NO_KEEP = [
    everywhere("dropped", HIDDEN.strip(), "return project_to_vocabulary(self.lm_head, hidden)"),
    everywhere("called", "return self.lm_head(" + MODEL + ")"),
    everywhere("second-name", "head = self.lm_head", HIDDEN.strip(), "return head(hidden)"),
    everywhere("through-its-getter", HIDDEN.strip(), "return self.get_output_embeddings()(hidden)"),
    everywhere("by-getattr", HIDDEN.strip(), 'return getattr(self, "lm_head")(hidden)'),
    multiplied("multiplied", "return hidden @ self.lm_head.weight.t()"),
    multiplied("linear", "return nn.functional.linear(hidden, self.lm_head.weight)"),
    everywhere(
        "through-operations",
        HIDDEN.strip(),
        "flat = hidden.float().flatten(0, 1)",
        "logits = self.lm_head(flat.to(hidden.dtype))",
        "return logits.unflatten(0, hidden.shape[:2])",
    ),
    everywhere("of-an-output", f"outputs = ({MODEL},)", "return self.lm_head(outputs[0])"),
    everywhere(
        "where-there-is-a-head",
        HIDDEN.strip(),
        "if self.lm_head is not None:",
        "    hidden = self.lm_head(hidden)",
        "return hidden",
    ),
    everywhere(
        "in-an-expression", HIDDEN.strip(), "return self.lm_head(hidden) if self.lm_head is not None else hidden"
    ),
    everywhere(
        "another-argument",
        HIDDEN.strip(),
        "return self.lm_head(hidden[:, -last:] if last else hidden)",
        takes="        last: int = 0,\n        **kwargs: Any,\n",
    ),
    everywhere(
        "in-a-method",
        HIDDEN.strip(),
        "return self.logits(hidden)",
        more=(_method(FIR, "def logits(self, hidden, logits_to_keep=0):", f"    return self.lm_head({CUT})"),),
    ),
    everywhere(
        "in-a-function",
        HIDDEN.strip(),
        "return _projected(hidden, self.lm_head)",
        more=(
            Edit(
                FIR, FIR_CLASS, f"def _projected(hidden, head):\n    return head(hidden.contiguous())\n\n\n{FIR_CLASS}"
            ),
        ),
    ),
    everywhere("in-the-base-of-another-file", HIDDEN.strip(), "return self.lm_head(hidden)", path=BASE),
    everywhere(
        "through-a-class-with-a-branch",
        HIDDEN.strip(),
        "return self.lm_head(hidden)",
        path=SPRUCE,
    ),
    Fault(
        "NAM701",
        "of-images",
        (
            Edit(CEDAR, "        logits_to_keep: int = 0,\n", ""),
            Edit(CEDAR, "self.lm_head, hidden, logits_to_keep)", "self.lm_head, hidden, 0)"),
        ),
        at=DEF,
    ),
    Fault(
        "NAM701",
        "swallowed-on-the-way-to-the-base",
        (
            Edit(
                LARCH,
                "    def get_input_embeddings(self)",
                "    def forward(self, input_ids, attention_mask=None, **kwargs):\n"
                "        return super().forward(input_ids, attention_mask)\n\n"
                "    def get_input_embeddings(self)",
            ),
        ),
        at=DEF,
    ),
]

NO_KWARGS = [
    Fault("NAM702", "dropped", (Edit(FIR, "        **kwargs: Any,\n", ""),), at=DEF),
    Fault("NAM702", "in-the-base-of-another-file", (Edit(BASE, "        **kwargs: Any,\n", ""),), at=DEF),
    Fault("NAM702", "in-a-branch-of-the-module", (Edit(JUNIPER, "            **kwargs: Any,\n", ""),), at=DEF),
    Fault("NAM702", "of-images", (Edit(CEDAR, "        **kwargs: Any,\n", ""),), at=DEF),
    Fault("NAM702", "only-positional", (Edit(SPRUCE, "        **kwargs: Any,\n", "        *args: Any,\n"),), at=DEF),
    Fault(
        "NAM702",
        "under-another-name-by-assignment",
        (
            Edit(
                FIR,
                f"    def forward(\n        self,\n        input_ids: torch.Tensor,\n        attention_mask: torch.Tensor | None = None,\n        position_ids: torch.Tensor | None = None,\n{FORWARD}",
                "    forward = _forward\n",
            ),
            Edit(
                FIR,
                FIR_CLASS,
                "def _forward(self, input_ids, logits_to_keep=0):\n    hidden = self.model(input_ids)\n"
                f"    return project_to_vocabulary(self.lm_head, hidden, logits_to_keep)\n\n\n{FIR_CLASS}",
            ),
        ),
        at="forward = _forward",
    ),
    Fault(
        "NAM702",
        "behind-a-decorator-that-hands-all-on",
        (
            Edit(FIR, "        **kwargs: Any,\n", ""),
            Edit(
                FIR,
                FIR_CLASS,
                "def _counted(function):\n    def wrapper(self, *args, **kwargs):\n"
                f"        return function(self, *args, **kwargs)\n\n    return wrapper\n\n\n{FIR_CLASS}",
            ),
            Edit(
                FIR,
                "    def forward(\n        self,\n        input_ids: torch.Tensor,\n",
                "    @_counted\n    def forward(\n        self,\n        input_ids: torch.Tensor,\n",
            ),
        ),
        at=DEF,
    ),
]

FAULTS = [*NO_KEEP, *NO_KWARGS]
