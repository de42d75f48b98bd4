"""Ways to own a causal head: a class that has one needs a policy and a guard (NAM201, NAM203)."""

from __future__ import annotations

from . import SUPER, Spelling, acme, function, init, klass, module

TRUNK = "self.config = config\nself.model = AcmeModel(config)"
INNER = """
class Inner(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.lm_head = nn.Linear(2, 2)


def make(config):
    return Inner(config)
"""


def _owner(
    name: str,
    *lines: str,
    members: tuple[str, ...] = (),
    above: str = "",
    signature: str = "self, config",
) -> Spelling:
    """A class without policy and guard that builds its head so."""
    constructor = init(SUPER, *lines, signature=signature, build="", found="NAM203")
    text = module(above, klass(*members, policy="", constructor=constructor, found="NAM201"))
    return acme("NAM201", name, text)


def _headless(name: str, *lines: str, above: str = "") -> Spelling:
    """A class without policy and guard that owes neither."""
    return acme("NAM201", name, module(above, klass(policy="", constructor=init(SUPER, *lines, build=""))))


SPELLINGS = [
    _owner("given-to-the-constructor", "self.lm_head = lm_head", signature="self, config, lm_head"),
    _owner(
        "property-by-assignment",
        TRUNK,
        members=(function("_head", "self", "return self.model.head"), "lm_head = property(_head)"),
    ),
    _owner("set-on-its-child", TRUNK, "self.model.lm_head = nn.Linear(2, 2)"),
    _owner("auto-model-for-causal-lm", "self.language_model = AutoModelForCausalLM.from_config(config.text_config)"),
    _owner("foreign-model-from-config", "self.language_model = LlamaForCausalLM._from_config(config.text_config)"),
    _owner(
        "child-of-a-class-attribute",
        "self.language_model = self.lm_cls(config)",
        members=("lm_cls = Inner",),
        above=INNER,
    ),
    _owner("child-from-a-factory", "self.language_model = make(config)", above=INNER),
    _owner("child-on-a-condition", "self.language_model = Inner(config) if config.text else None", above=INNER),
    _owner("child-through-a-local", "lm = Inner(config)", "self.language_model = lm", above=INNER),
    _headless("head-of-a-vision-tower", "self.visual = Inner(config)", above=INNER),
]
