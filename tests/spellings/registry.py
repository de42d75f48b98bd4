"""The mappings of the registry, wherever their parts stand, and what their entries lead to (NAM101 to NAM108)."""

from __future__ import annotations

from . import (
    ACME,
    ACME_MODULE,
    MODEL,
    PACKAGE,
    Spelling,
    indented,
    klass,
    module,
    registry_file,
)

HERE = f'("{ACME_MODULE}", "AcmeForCausalLM")'
GONE = '("nemo_automodel.components.models.gone.model", "Gone")'
OTHER_MODULE = "nemo_automodel.components.models.acme.other"
CONFIG_MODULE = "nemo_automodel.components.models.acme.config"
TABLE = "nemo_automodel/_transformers/table.py"
OAK = "nemo_automodel/components/models/oak"
OAK_MODEL = '("nemo_automodel.components.models.oak.model", "OakForCausalLM")'
BARE = klass(profile="", found="NAM301")  # a model class without capabilities: a finding that shows that it is linted


def _mapping(code: str, name: str, mapping: str, **beside: str) -> Spelling:
    """A registry whose mapping is written so, with files beside the model's by the names of their modules."""
    files = {f"{ACME}/{stem}.py": text for stem, text in beside.items()}
    return Spelling(code, name, {**registry_file(mapping), **files})


def _target(name: str, found: str, target: str = "Oak", module: str = OTHER_MODULE, **beside: str) -> Spelling:
    """A second architecture with this target."""
    entry = f'    "Oak": ("{module}", "{target}"),' + (f"  # {found}" if found else "")
    return _mapping("NAM102", name, f'MODEL_ARCH_MAPPING = {{\n    "A": {HERE},\n{entry}\n}}', **beside)


MAPPINGS = [
    _mapping("NAM101", "setdefault", f"""
        MODEL_ARCH_MAPPING = {{"A": {HERE}}}
        MODEL_ARCH_MAPPING.setdefault("Gone", {GONE})  # NAM101
        """),
    _mapping("NAM101", "two-names-at-once", f"""
        MODEL_ARCH_MAPPING, LEGACY = {{
            "A": {HERE},
            "Gone": {GONE},  # NAM101
        }}, {{}}
        """),
    _mapping("NAM101", "bound-twice", f"""
        MODEL_ARCH_MAPPING = {{"Gone": {GONE}}}
        MODEL_ARCH_MAPPING = {{"A": {HERE}}}
        """),
    _mapping("NAM101", "united-with-itself", f"""
        BASE = {{"A": {HERE}}}
        MODEL_ARCH_MAPPING = {{**BASE}}
        MODEL_ARCH_MAPPING = MODEL_ARCH_MAPPING | {{
            "Gone": {GONE},  # NAM101
        }}
        """),
    Spelling("NAM101", "table-of-another-module", {
        TABLE: f'TABLE = {{\n    "A": {HERE},\n    "Gone": {GONE},  # NAM101\n}}\n',
        **registry_file(
            "from nemo_automodel._transformers.table import TABLE\n\nMODEL_ARCH_MAPPING = OrderedDict(TABLE)"
        ),
    }),
    Spelling("NAM101", "mapping-of-another-module", {
        TABLE: f'MODEL_ARCH_MAPPING = {{\n    "A": {HERE},\n    "Gone": {GONE},  # NAM101\n}}\n',
        **registry_file("from nemo_automodel._transformers.table import MODEL_ARCH_MAPPING"),
    }),
    _mapping("NAM103", "literal-within-a-try", f"""
        try:
            MODEL_ARCH_MAPPING = {{
                "A": {HERE},
                "A": {HERE},  # NAM103
            }}
        except ImportError:
            MODEL_ARCH_MAPPING = {{}}
        """),
    _mapping("NAM103", "target-not-decided", f"""
        MODEL_ARCH_MAPPING = {{
            "A": {HERE},
            "A": (os.environ["MODULE"], "Gone"),  # NAM103
        }}
        """),
    _mapping("NAM103", "bound-twice", f"""
        MODEL_ARCH_MAPPING = {{"A": {HERE}}}
        MODEL_ARCH_MAPPING = {{"A": {HERE}}}
        """),
    _mapping("NAM103", "spread-of-itself", f"""
        MODEL_ARCH_MAPPING = {{"A": {HERE}}}
        MODEL_ARCH_MAPPING = {{**MODEL_ARCH_MAPPING, "B": {HERE}}}
        """),
]  # fmt: skip

TARGETS = [
    _target("nested-in-the-model", "NAM102", "AcmeForCausalLM.Gone", ACME_MODULE),
    _target("imported-from-where-it-is-not", "NAM102", other="from .model import Oak\n"),
    _target("bound-through-globals", "", other='globals()["Oak"] = type("Oak", (), {})\n'),
    _target("not-in-the-star", "NAM102", "AcmeForCausalLM", other="from .model import *\n", model=(
        module(klass()) + '\n__all__ = ["ModelClass"]\n'
    )),
    _target("star-of-a-foreign-module", "", other="from oak import *\n"),
    Spelling("NAM301", "lazy-package", {
        MODEL: module(BARE),
        PACKAGE: """\
import importlib

_LAZY = {"AcmeForCausalLM": ".model"}


def __getattr__(name):
    if name in _LAZY:
        return getattr(importlib.import_module(_LAZY[name], __name__), name)
    raise AttributeError(name)
""",
        **registry_file('MODEL_ARCH_MAPPING = {"A": ("nemo_automodel.components.models.acme", "AcmeForCausalLM")}'),
    }),
]  # fmt: skip


def _stand_in(name: str, stand_in: str) -> Spelling:
    """The real class under a condition, and something else for when its dependencies are missing."""
    text = module("try:\n    import oak\n\n    _OK = True\nexcept ImportError:\n    _OK = False\n\nif _OK:\n")
    head, _, end = text.rpartition("\n\nModelClass")
    return Spelling(
        "NAM301", f"stand-in-{name}", {MODEL: f"{head}{indented(BARE)}\nelse:\n{indented(stand_in)}\n\nModelClass{end}"}
    )


RAISES = 'raise ImportError("oak is missing")'
STAND_INS = [
    _stand_in("by-a-helper", f"""
        def missing():
            {RAISES}

        class AcmeForCausalLM:
            def __init__(self, *args, **kwargs):
                missing()
        """),
    _stand_in("after-super", f"""
        class AcmeForCausalLM(nn.Module):
            def __init__(self, *args, **kwargs):
                super().__init__()
                {RAISES}
        """),
    _stand_in("in-new", f"""
        class AcmeForCausalLM:
            def __new__(cls, *args, **kwargs):
                {RAISES}
        """),
    _stand_in("inherited", f"""
        class Missing:
            def __init__(self, *args, **kwargs):
                {RAISES}

        class AcmeForCausalLM(Missing):
            pass
        """),
    _stand_in("by-its-metaclass", """
        class AcmeForCausalLM(metaclass=UnavailableMeta):
            pass
        """),
]  # fmt: skip


def _entries(code: str, name: str, table: str, files: dict[str, str]) -> Spelling:
    """A package of its own, with such a table in its project file."""
    return Spelling(code, name, {"pyproject.toml": f'[project]\nname = "oakwood"\n{table}', **files}, alone=True)


GROUP = '[project.entry-points."nemo_automodel.architectures"]\n'
OAK_CLASS = "class Oak:  # NAM301 NAM105\n    pass\n"
OAKWOOD = {"oakwood/__init__.py": "", "oakwood/model.py": OAK_CLASS}
NESTED = "class Outer:\n    class Oak:\n        pass\n"

PLUG_INS = [
    _entries("NAM101", "inline-table", (
        '[project.entry-points]\n'
        '"nemo_automodel.architectures" = { Oak = "oakwood.model:Oak", Elm = "oakwood.gone:Elm" }  # NAM101\n'
    ), OAKWOOD),
    _entries("NAM101", "name-of-a-script-too", (
        '[project.scripts]\nElm = "oakwood.cli:main"\n'
        f'{GROUP}Elm = "oakwood.gone:Elm"  # NAM101\nOak = "oakwood.model:Oak"\n'
    ), OAKWOOD),
    _entries("NAM102", "poetry", (
        '[tool.poetry.plugins."nemo_automodel.architectures"]\n'
        '"Oak" = "oakwood.model:Oak"\n"Elm" = "oakwood.model:Elm"  # NAM102\n'
    ), OAKWOOD),
    _entries("NAM102", "nested-class-missing", f'{GROUP}Oak = "oakwood.model:Outer.Elm"  # NAM102\n', {
        "oakwood/__init__.py": "", "oakwood/model.py": NESTED,
    }),
    _entries("NAM102", "entry-without-a-class", f'{GROUP}Oak = "oakwood.model"\n', {
        "oakwood/__init__.py": "", "oakwood/model.py": "X = 1\n",
    }),
    _entries("NAM301", "single-file-under-src", f'{GROUP}Oak = "oakwood:Oak"\n', {"src/oakwood.py": OAK_CLASS}),
    _entries("NAM301", "nested-class", f'{GROUP}Oak = "oakwood.model:Outer.Oak"\n', {
        "oakwood/__init__.py": "", "oakwood/model.py": NESTED.replace("Oak:", "Oak:  # NAM301 NAM105"),
    }),
    Spelling("NAM301", "entry-point-of-the-framework", {
        "pyproject.toml": f'[project]\nname = "us"\n{GROUP}Oak = "nemo_automodel.components.models.oak.model:Oak"\n',
        f"{OAK}/__init__.py": "from .model import Oak\n",
        f"{OAK}/model.py": OAK_CLASS,
    }),
]  # fmt: skip


def _configs(name: str, configs: str) -> Spelling:
    """A registry that cannot be read to its end: nobody can say that Acme's config is missing from it."""
    return Spelling("NAM108", f"configs-{name}", registry_file(f'MODEL_ARCH_MAPPING = {{"A": {HERE}}}', configs))


def _oak(name: str, mapping: str, text: str = "") -> Spelling:
    """A second package with a model class that the registry names, or may name."""
    text = text or module(klass(name="OakForCausalLM"), end="ModelClass = OakForCausalLM")
    return Spelling("NAM107", name, {f"{OAK}/__init__.py": "", f"{OAK}/model.py": text, **registry_file(mapping)})


CONFIGS = "_CUSTOM_CONFIG_REGISTRATIONS"
UNREAD = [
    _configs("key-not-decided", f'{CONFIGS} = {{os.environ["KEY"]: ("{CONFIG_MODULE}", "AcmeConfig")}}'),
    _configs("module-not-decided", f'{CONFIGS} = {{"acme": (os.environ["MODULE"], "AcmeConfig")}}'),
    _configs("by-comprehension", f'{CONFIGS} = {{m: ("{CONFIG_MODULE}", c) for m, c in [("acme", "AcmeConfig")]}}'),
    _configs("in-a-loop", f"""
        {CONFIGS} = {{}}
        for m, c in [("acme", "AcmeConfig")]:
            {CONFIGS}[m] = ("{CONFIG_MODULE}", c)
        """),
    _oak("key-not-decided", f'MODEL_ARCH_MAPPING = {{"A": {HERE}, os.environ["KEY"]: {OAK_MODEL}}}'),
    _oak("in-a-loop", f"""
        MODEL_ARCH_MAPPING = {{"A": {HERE}}}
        for name in ("Oak",):
            MODEL_ARCH_MAPPING[name] = {OAK_MODEL}
        """),
    _oak("by-comprehension", f'MODEL_ARCH_MAPPING = {{"A": {HERE}, **{{n: {OAK_MODEL} for n in ["Oak"]}}}}'),
    _oak("named-nowhere", f'MODEL_ARCH_MAPPING = {{"A": {HERE}}}', module(
        klass(name="OakForCausalLM", found="NAM107"), end="ModelClass = OakForCausalLM"
    )),
    _oak("not-its-stand-in", f'MODEL_ARCH_MAPPING = {{"A": {HERE}}}', f"""\
from nemo_automodel.components.models.common.hf_checkpointing_mixin import HFCheckpointingMixin

try:
    import oak

    class OakForCausalLM(HFCheckpointingMixin):  # NAM107
        pass
except ImportError:

    class OakForCausalLM(HFCheckpointingMixin):
        def __init__(self):
            {RAISES}

ModelClass = OakForCausalLM
"""),
]  # fmt: skip

FROM_MODEL = "from nemo_automodel.components.models.acme.model import AcmeForCausalLM\n"


def _exports(name: str, package: str, **beside: str) -> Spelling:
    """A package that exports its model so."""
    files = {f"{ACME}/{stem}.py": text for stem, text in beside.items()}
    return Spelling("NAM106", name, {PACKAGE: package, **files})


EXPORTS = [
    Spelling("NAM105", "appended", {MODEL: module(klass(), end="ModelClass = []\nModelClass.append(AcmeForCausalLM)")}),
    _exports("all-that-grows", f'{FROM_MODEL}__all__ = []  # NAM106\n__all__ += ["Other"]\n'),
    _exports("all-that-grows-by-it", f'{FROM_MODEL}__all__ = []\n__all__ += ["AcmeForCausalLM"]\n'),
    _exports("all-bound-twice", f'{FROM_MODEL}__all__ = ["AcmeForCausalLM"]\n__all__ = []  # NAM106\n'),
    _exports("star-that-leaves-it-out", "from .model import *  # NAM106\n", model=(
        module(klass()) + '\n__all__ = ["ModelClass"]\n'
    )),
    _exports("another-class-of-its-name", "from .other import AcmeForCausalLM  # NAM106\n", other=(
        "class AcmeForCausalLM:\n    pass\n"
    )),
]  # fmt: skip

SPELLINGS = [*MAPPINGS, *TARGETS, *STAND_INS, *PLUG_INS, *UNREAD, *EXPORTS]
