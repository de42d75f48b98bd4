"""NAM501-NAM513: adapters that lose, misname or make up tensors. Spruce's adapter is written anew for each."""

from __future__ import annotations

import textwrap

from . import PACKAGE, Edit, Fault, Harmless, Place, write

SPRUCE = f"{PACKAGE}/components/models/spruce/state_dict_adapter.py"
HAWTHORN = f"{PACKAGE}/components/models/hawthorn/state_dict_adapter.py"
TEST = "tests/unit_tests/models/spruce/test_spruce_state_dict_adapter.py"

IMPORTS = "import re\n\nimport torch\n"
TO_HF = """
def to_hf(self, state_dict, **kwargs):
    return dict(pair for item in state_dict.items() for pair in self.convert_single_tensor_to_hf(*item, **kwargs))
"""
FROM_HF = """
def from_hf(self, hf_state_dict, device_mesh=None, **kwargs):
    return {key.replace(".wte.", ".embed_tokens."): value for key, value in hf_state_dict.items()}
"""
SINGLE = """
def convert_single_tensor_to_hf(self, fqn, tensor, **kwargs):
    return [(fqn.replace(".embed_tokens.", ".wte."), tensor)]
"""
AS_IT_IS = """
def convert_single_tensor_to_hf(self, fqn, tensor, **kwargs):
    return [(fqn, tensor)]
"""


def adapter(*methods: str, before: str = "", bases: str = "", flag: str = "", imports: str = IMPORTS) -> Edit:
    """An adapter of Spruce: the good methods, but for those that are given."""
    given = {method.split("(")[0].split()[-1]: method for method in methods}
    good = {"to_hf": TO_HF, "from_hf": FROM_HF, "convert_single_tensor_to_hf": SINGLE}
    chosen = [text for text in {**good, **given}.values() if text.strip()]
    body = "\n\n".join(textwrap.indent(textwrap.dedent(text).strip("\n"), "    ") for text in chosen)
    flag = f"    {flag}\n\n" if flag else ""
    return write(SPRUCE, f"{imports}{before}\n\nclass SpruceStateDictAdapter{bases}:\n{flag}{body}\n")


def without(name: str, edit: Edit) -> Edit:
    """The same without one of the good methods."""
    text = (edit.new or "").replace(f"def {name}(", f"def other_{name}(")
    return Edit(edit.path, None, text.replace(f"self.{name}(*item", "self.one(*item"))


def _fault(code: str, name: str, edit: Edit, at: str, *also: Place) -> Fault:
    return Fault(code, name, (edit,), at, also=also)


def _from_hf(body: str) -> str:
    signature = "def from_hf(self, hf_state_dict, device_mesh=None, **kwargs):\n"
    return signature + textwrap.indent(textwrap.dedent(body).strip("\n"), "    ")


def _to_hf(body: str) -> str:
    return "def to_hf(self, state_dict, **kwargs):\n" + textwrap.indent(textwrap.dedent(body).strip("\n"), "    ")


def _single(body: str) -> str:
    signature = "def convert_single_tensor_to_hf(self, fqn, tensor, **kwargs):\n"
    return signature + textwrap.indent(textwrap.dedent(body).strip("\n"), "    ")


CLASS = "class SpruceStateDictAdapter"
STACK = """
    experts, state_dict = {}, {}
    for key, value in hf_state_dict.items():
        match = re.match(r"(.*\\.experts)\\.(\\d+)\\.weight$", key)
        if match:
            experts.setdefault(match[1], {})[KEY] = value
        else:
            state_dict[key] = value
    for prefix, parts in experts.items():
        state_dict[prefix] = torch.stack([parts[i] for i in ORDER])
    return state_dict
"""


def _stacked(key: str, order: str) -> str:
    return _from_hf(STACK.replace("KEY", key).replace("ORDER", order))


FAULTS = [
    _fault("NAM501", "without-single", without("convert_single_tensor_to_hf", adapter(TO_HF)), CLASS),
    _fault("NAM501", "without-loading", without("from_hf", adapter()), CLASS),
    _fault("NAM501", "without-saving", without("to_hf", adapter()), CLASS),
    _fault(
        "NAM502",
        "no-inverse",
        adapter(_from_hf("return dict(hf_state_dict)")),
        ".replace(",
    ),
    _fault(
        "NAM502",
        "inverse-of-another-name",
        adapter(_from_hf('return {key.replace(".wte.", ".embed_token."): v for key, v in hf_state_dict.items()}')),
        '(".embed_tokens.", ".wte.")',
    ),
    _fault(
        "NAM502",
        "slice",
        adapter(
            _from_hf("return dict(hf_state_dict)"),
            _single('if ".norm." in fqn:\n    fqn = re.sub(r"\\.norm\\.", ".ln_f.", fqn)\nreturn [(fqn, tensor)]'),
        ),
        "re.sub(",
    ),
    _fault(
        "NAM503",
        "prefix-in-front",
        adapter(
            _from_hf('return {key.removeprefix("text."): v for key, v in hf_state_dict.items()}'),
            _single('return [("text." + fqn, tensor)]'),
        ),
        '"text." + fqn',
    ),
    _fault(
        "NAM503",
        "anchored-pattern",
        adapter(
            _from_hf(
                'return {re.sub(r"^text\\.", "model.", k).replace(".h.", ".layers."): v for k, v in '
                "hf_state_dict.items()}"
            ),
            _single('return [(re.sub(r"^model\\.", "text.", fqn).replace(".layers.", ".h."), tensor)]'),
        ),
        'replace(".layers.", ".h.")',
    ),
    _fault(
        "NAM503",
        "left-out",
        adapter(
            _single(
                """
                if fqn.startswith(("model.", "lm_head.")):
                    return [(fqn.replace(".layers.", ".h."), tensor)]
                return []
                """
            ),
            _from_hf('return {key.replace(".h.", ".layers."): v for key, v in hf_state_dict.items()}'),
        ),
        'replace(".layers.", ".h.")',
    ),
    _fault(
        "NAM504",
        "no-else",
        adapter(
            _to_hf(
                """
                found = {}
                for key, value in state_dict.items():
                    if "model." in key:
                        found[key.replace(".embed_tokens.", ".wte.")] = value
                    elif "head." in key and "lm_head." not in key:
                        found[key] = value
                return found
                """
            ),
            _single("return list(self.to_hf({fqn: tensor}).items())"),
        ),
        'if "model." in key:',
    ),
    _fault(
        "NAM504",
        "loading-without-else",
        adapter(
            _from_hf(
                """
                found = {}
                for key, value in hf_state_dict.items():
                    if key.startswith("model."):
                        found[key.replace(".wte.", ".embed_tokens.")] = value
                return found
                """
            )
        ),
        'if key.startswith("model."):',
    ),
    _fault(
        "NAM504",
        "the-rest-gets-a-prefix",
        adapter(
            _from_hf(
                """
                found = {}
                for key, value in hf_state_dict.items():
                    key = key.replace(".wte.", ".embed_tokens.")
                    found[key if key.startswith("model.") else "model." + key] = value
                return found
                """
            )
        ),
        '"model." + key',
    ),
    _fault(
        "NAM505",
        "empty",
        adapter(_single('return [(fqn.replace(".embed_tokens.", ".wte."), torch.empty(tensor.shape))]')),
        "torch.empty(",
    ),
    _fault(
        "NAM505",
        "zeros-by-a-name",
        adapter(
            _to_hf(
                """
                found = {}
                for key, value in state_dict.items():
                    blank = torch.zeros_like(value)
                    found[key.replace(".embed_tokens.", ".wte.")] = blank
                return found
                """
            ),
            _single("return list(self.to_hf({fqn: tensor}).items())"),
        ),
        "torch.zeros_like(",
    ),
    _fault(
        "NAM505",
        "one-more",
        adapter(
            _single(
                """
                pairs = [(fqn.replace(".embed_tokens.", ".wte."), tensor)]
                if fqn == "lm_head.weight":
                    pairs.append(("lm_head.bias", tensor.new_zeros(len(tensor)).to(tensor.dtype)))
                return pairs
                """
            )
        ),
        "new_zeros(",
    ),
    _fault(
        "NAM506",
        "identity",
        adapter(_to_hf('return {k.replace(".embed_tokens.", ".wte."): v for k, v in state_dict.items()}'), AS_IT_IS),
        "def convert_single_tensor_to_hf",
    ),
    _fault(
        "NAM506",
        "identity-behind-a-filter",
        adapter(
            _to_hf(
                """
                found = {}
                for key, value in state_dict.items():
                    name = key.replace(".embed_tokens.", ".wte.")
                    found[name] = value
                return found
                """
            ),
            _single(
                """
                pairs = [(fqn, tensor)]
                excluded = kwargs.get("exclude_key_regex")
                return [pair for pair in pairs if not (excluded and re.match(excluded, pair[0]))]
                """
            ),
        ),
        "def convert_single_tensor_to_hf",
    ),
    _fault(
        "NAM506",
        "renamed-in-a-helper",
        adapter(
            _to_hf("return {_published(key): value for key, value in state_dict.items()}"),
            _single('return [] if fqn.endswith("_extra_state") else [(fqn, tensor)]'),
            before='\n\ndef _published(key):\n    return re.sub(r"\\.embed_tokens\\.", ".wte.", key)\n',
        ),
        "def convert_single_tensor_to_hf",
    ),
    _fault(
        "NAM507",
        "parameter",
        adapter(
            _from_hf(
                "rank = device_mesh.get_local_rank() if device_mesh else 0\n"
                'return {k.replace(".wte.", ".embed_tokens."): v[rank] if ".experts." in k else v '
                "for k, v in hf_state_dict.items()}"
            )
        ),
        "get_local_rank()",
    ),
    _fault(
        "NAM507",
        "of-a-tensor",
        adapter(
            _from_hf('return {k.replace(".wte.", ".embed_tokens."): _mine(v) for k, v in hf_state_dict.items()}'),
            before="\n\ndef _mine(tensor):\n    mesh = tensor.device_mesh\n    return tensor.chunk(mesh.size())[0]\n",
        ),
        "mesh.size()",
    ),
    _fault(
        "NAM507",
        "coordinate",
        adapter(
            _single(
                "row, _ = tensor.device_mesh.get_coordinate()\n"
                'return [(fqn.replace(".embed_tokens.", ".wte."), tensor[row])]'
            )
        ),
        "get_coordinate()",
    ),
    _fault(
        "NAM510",
        "contained",
        adapter(
            _from_hf(
                'if "base" in self.config.name_or_path:\n    return {}\n'
                'return {k.replace(".wte.", ".embed_tokens."): v for k, v in hf_state_dict.items()}'
            )
        ),
        '"base" in',
    ),
    _fault(
        "NAM510",
        "by-getattr",
        adapter(
            _from_hf(
                'path = getattr(self.config, "_name_or_path", "").lower()\n'
                'turned = path.endswith(("-v2", "-v3"))\n'
                'return {k.replace(".wte.", ".embed_tokens."): v.T if turned else v for k, v in hf_state_dict.items()}'
            )
        ),
        "path.endswith(",
    ),
    _fault(
        "NAM510",
        "any-of-several",
        adapter(
            _from_hf(
                "names = [self.config.name_or_path, self.source]\n"
                'turned = any("v2" in name for name in names)\n'
                'return {k.replace(".wte.", ".embed_tokens."): v.T if turned else v for k, v in hf_state_dict.items()}'
            )
        ),
        '"v2" in name',
    ),
    _fault("NAM512", "a-group", adapter(_stacked("match.group(2)", "sorted(parts)"), AS_IT_IS), "sorted(parts)"),
    _fault("NAM512", "keys", adapter(_stacked("match[2]", "sorted(parts.keys())"), AS_IT_IS), "sorted(parts.keys())"),
    _fault(
        "NAM512",
        "a-piece",
        adapter(_stacked('key.split(".experts.")[1].split(".")[0]', "sorted(list(parts))"), AS_IT_IS),
        "sorted(list(parts))",
    ),
    _fault(
        "NAM508",
        "stacked",
        adapter(_stacked("int(match[2])", "sorted(parts)"), AS_IT_IS, flag="_supports_low_memory_dcp_load = True"),
        "_supports_low_memory_dcp_load",
    ),
    _fault(
        "NAM508",
        "annotated",
        adapter(
            _stacked("int(match[2])", "sorted(parts)"), AS_IT_IS, flag="_supports_low_memory_dcp_load: bool = True"
        ),
        "_supports_low_memory_dcp_load",
    ),
    _fault(
        "NAM508",
        "newer-name",
        adapter(
            _stacked("int(match[2])", "sorted(parts)"),
            AS_IT_IS,
            flag="_supports_write_through_checkpoint_load = True",
        ),
        "_supports_write_through_checkpoint_load",
    ),
    _fault(
        "NAM508",
        "concatenated",
        adapter(
            _from_hf(
                """
        parts, rest = [], {}
        for key, value in hf_state_dict.items():
            if ".experts." in key:
                parts.append(value)
            else:
                rest[key] = value
        rest["model.experts"] = torch.cat(parts)
        return rest
        """
            ),
            AS_IT_IS,
            flag="_supports_low_memory_dcp_load = True",
        ),
        "_supports_low_memory_dcp_load",
    ),
    Fault(
        "NAM509",
        "untested",
        (adapter(flag="_supports_low_memory_dcp_load = True"), write(TEST, "def test_it(): ...\n")),
        "_supports_low_memory_dcp_load",
    ),
    Fault(
        "NAM509",
        "class-alone",
        (adapter(flag="_supports_low_memory_dcp_load = True"), write(TEST, "from x import SpruceStateDictAdapter\n")),
        "_supports_low_memory_dcp_load",
    ),
    Fault(
        "NAM509",
        "claim-alone",
        (
            adapter(flag="_supports_low_memory_dcp_load = True"),
            write(TEST, "assert adapter.supports_low_memory_dcp_load\n"),
        ),
        "_supports_low_memory_dcp_load",
    ),
    Fault(
        "NAM513",
        "not-taken-out",
        (Edit(HAWTHORN, 'key.replace("._fp32_params.", ".")', "key"),),
        "class HawthornStateDictAdapter",
    ),
    Fault(
        "NAM513",
        "not-put-back",
        (Edit(HAWTHORN, 'return _HELD.sub(r"._fp32_params.\\1", key)', "return key"),),
        "class HawthornStateDictAdapter",
    ),
    Fault(
        "NAM513",
        "one-name-forgotten",
        (Edit(HAWTHORN, "(A_log|dt_bias|sinks)$", "(A_log|dt_bias)$"),),
        "class HawthornStateDictAdapter",
    ),
]

HARMLESS = [
    Harmless(
        "NAM502",
        "pattern-as-inverse",
        (
            adapter(
                _from_hf(
                    'return {re.sub(r"\\.wte\\.(\\w+)$", r".embed_tokens.\\1", k): v for k, v in hf_state_dict.items()}'
                )
            ),
        ),
        "what is written differently does the same",
    ),
    Harmless(
        "NAM503",
        "anywhere",
        (
            adapter(
                _from_hf('return {k.replace("h.", "layers."): v for k, v in hf_state_dict.items()}'),
                _single('return [(fqn.replace("layers.", "h."), tensor)]'),
            ),
        ),
        "LoRA keys are renamed with their weights",
    ),
    Harmless(
        "NAM505",
        "filled",
        (
            adapter(
                _single(
                    'whole = torch.empty_like(tensor)\nwhole[:] = tensor\nreturn [(fqn.replace(".embed_tokens.", ".wte."), whole)]'
                )
            ),
        ),
        "what is saved comes from the input",
    ),
    Harmless(
        "NAM505",
        "to-read-into",
        (
            adapter(
                _single(
                    """
        pairs = [(fqn.replace(".embed_tokens.", ".wte."), tensor)]
        if kwargs.get("quantization"):
            pairs.append((fqn + "_scale_inv", torch.empty(())))
        return pairs
        """
                )
            ),
        ),
        "only asked for while a quantised checkpoint is read",
    ),
    Harmless(
        "NAM507",
        "indexed",
        (
            adapter(
                _from_hf(
                    """
        mesh = device_mesh["ep"] if device_mesh is not None else None
        rank = mesh.get_local_rank() if mesh is not None else 0
        return {k.replace(".wte.", ".embed_tokens."): v[rank:] for k, v in hf_state_dict.items()}
        """
                )
            ),
        ),
        "a mesh that was indexed has one dimension",
    ),
    Harmless(
        "NAM507",
        "by-number",
        (
            adapter(
                _from_hf(
                    """
        parts = device_mesh.size(0) if device_mesh is not None else 1
        return {k.replace(".wte.", ".embed_tokens."): v[:parts] for k, v in hf_state_dict.items()}
        """
                )
            ),
        ),
        "the dimension is named",
    ),
    Harmless(
        "NAM510",
        "keys-first",
        (
            adapter(
                _from_hf(
                    """
        turned = any(key.endswith(".T") for key in hf_state_dict.keys())
        return {k.replace(".wte.", ".embed_tokens."): v.T if turned else v for k, v in hf_state_dict.items()}
        """
                )
            ),
        ),
        "the tensors' own names decide",
    ),
    Harmless("NAM512", "numbers", (adapter(_stacked("int(match[2])", "sorted(parts)"), AS_IT_IS),), "numbers in order"),
    Harmless(
        "NAM512", "by-number", (adapter(_stacked("match[2]", "sorted(parts, key=int)"), AS_IT_IS),), "sorted as numbers"
    ),
    Harmless(
        "NAM508",
        "no-claim",
        (adapter(_stacked("int(match[2])", "sorted(parts)"), AS_IT_IS, flag="_supports_low_memory_dcp_load = False"),),
        "nothing is claimed",
    ),
    Harmless(
        "NAM509",
        "tested-newer-name",
        (
            adapter(flag="_supports_write_through_checkpoint_load = True"),
            write(
                TEST,
                "from x import SpruceStateDictAdapter\n\n\ndef test_it():\n"
                "    assert SpruceStateDictAdapter().supports_write_through_checkpoint_load\n",
            ),
        ),
        "a test names both",
    ),
    Harmless(
        "NAM509",
        "tested",
        (
            adapter(flag="_supports_low_memory_dcp_load = True"),
            write(
                TEST,
                "from x import SpruceStateDictAdapter\n\n\ndef test_it():\n"
                "    assert SpruceStateDictAdapter().supports_low_memory_dcp_load\n",
            ),
        ),
        "a test names both",
    ),
]
