"""Ways in which ``from_pretrained`` lets the caller change the config (NAM211)."""

from __future__ import annotations

from . import Spelling, acme, function, klass, module

LOADED = "c = AcmeConfig.from_pretrained(path)"


def _loads(
    name: str, signature: str, *lines: str, found: str = "", members: tuple[str, ...] = (), above: str = ""
) -> Spelling:
    """A class that is loaded so."""
    method = function("from_pretrained", f"cls, path, {signature}", *lines, found=found, above="@classmethod\n")
    return acme("NAM211", name, module(above, klass(method, *members)))


def _open(name: str, signature: str, *lines: str, **how) -> Spelling:
    """A class whose config the caller can change on the way."""
    return _loads(name, signature, *lines, found="NAM211", **how)


CHANGED = [
    _open("config-class-by-a-local", "**kw", "kind = cls.config_class", "return cls(kind.from_pretrained(path, **kw))"),
    _open("hf-config", "hf_config=None", "return cls(hf_config or AcmeConfig.from_pretrained(path))"),
    _open("cfg", "cfg=None", "c = cfg if cfg is not None else AcmeConfig.from_pretrained(path)", "return cls(c)"),
    _open("flag-of-its-own", "tie=False", LOADED, "c.tie_word_embeddings = tie", "return cls(c)"),
    _open("setattr-in-a-loop", "**kw", LOADED, "for k, v in kw.items():", "    setattr(c, k, v)", "return cls(c)"),
    _open("update-by-another-name", "**kw", LOADED, "c.update(kw)", "return cls(c)"),
    _open("overrides", "overrides=None", "return cls(AutoConfig.from_pretrained(path, **(overrides or {})))"),
    _open("dict-to-a-method", "**kw", "return cls(cls._load(path, kw))", members=(
        function("_load", "path, kw", "return AutoConfig.from_pretrained(path, **kw)", above="@staticmethod\n"),
    )),
    _open("keywords-to-a-function", "**kw", "return cls(load(path, **kw))", above="""
        def load(path, **options):
            return AutoConfig.from_pretrained(path, **options)
        """),
]  # fmt: skip

LEFT_ALONE = [
    _loads("refused", "config=None", "if config is not None:", "    raise ValueError", LOADED, "return cls(c)"),
    _loads("dropped", "**kw", '_ = kw.pop("config", None)', LOADED, "return cls(c)"),
    _loads("emptied-before", "**kw", "kw = {}", "return cls(AutoConfig.from_pretrained(path, **kw))"),
    _loads("checked-in-a-function", "config=None", LOADED, "check(c, config)", "return cls(config or c)", above="""
        def check(found, asked):
            reject_tie_word_embeddings_flip(found, asked, "Acme")
        """),
]  # fmt: skip

SPELLINGS = [*CHANGED, *LEFT_ALONE]
