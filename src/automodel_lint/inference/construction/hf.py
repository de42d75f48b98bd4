"""What transformers adds: configs and their sub-configs, ``PreTrainedModel``, the ``Auto`` classes."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from automodel_lint.inference.bindings import FUNCTIONS, dotted, parts_of, walk_here
from automodel_lint.inference.construction.instances import is_property
from automodel_lint.inference.construction.truth import parts
from automodel_lint.inference.construction.values import (
    ABSENT,
    NONE,
    UNKNOWN,
    Callable_,
    Choice,
    ClassValue,
    External_,
    Known,
    Obj,
    Test,
    Thing,
    Unknown,
    Value,
)
from automodel_lint.inference.module_tree import Place
from automodel_lint.inference.names import ClassEntity, Scope, defaults_of

if TYPE_CHECKING:
    from automodel_lint.inference.construction.interpreter import Interpreter

_MAKING = ("__init__", "__post_init__")
_CONFIG_BASES = ("PretrainedConfig", "PreTrainedConfig")
_MODEL_ROOT = "PreTrainedModel"
_AUTO = "transformers.models.auto"
# Fields that every config has by its base.
_BASE_FIELDS = frozenset(
    "torch_dtype dtype tie_word_embeddings architectures model_type output_hidden_states output_attentions "
    "use_cache return_dict is_encoder_decoder name_or_path _name_or_path id2label label2id num_labels "
    "pad_token_id bos_token_id eos_token_id problem_type transformers_version pruned_heads "
    "chunk_size_feed_forward use_return_dict _attn_implementation attn_implementation _commit_hash "
    "quantization_config auto_map".split()
)


class HuggingFace:
    """Knows transformers for an interpreter."""

    def __init__(self, interpreter: Interpreter):
        self.run = interpreter
        self._fields: dict[ClassEntity, frozenset[str] | None] = {}
        self._made_always: dict[tuple[ClassEntity, str], bool] = {}
        self._subs: dict[tuple[ClassEntity, str], tuple[ClassEntity | None, bool]] = {}

    # -- configs --------------------------------------------------------------------------------------------------

    def is_config(self, cls: ClassEntity) -> bool:
        """Tell whether a class is a model configuration."""
        return any(a.fqn.rpartition(".")[2] in _CONFIG_BASES for a in self.run.mro(cls))

    def made_config(self, cls: ClassEntity, args: list[Value], keywords: dict[str, Value]) -> Value:
        """A config that code makes: what it passes is known, the rest as open as in any config."""
        made = Thing(_snake(cls.name), cls)
        made.given = made.made = True
        made.slots.update(keywords)
        return made

    def field(self, owner: Thing, name: str) -> Value:
        """Return ``config.name``."""
        found = owner.slots.get(name)
        if found is not None:
            return UNKNOWN if found is ABSENT else found
        cls, guessed = None, False
        if owner.cls is not None:
            literal = self._literal(owner.cls, name) or (self._default(owner.cls, name) if owner.made else None)
            if literal is not None:
                return literal
            computed = self._property(owner, name)
            if computed is not None:
                return computed
            cls, guessed = self.sub_config(owner.cls, name)
        made = Thing(f"{owner.text}.{name}", cls)
        made.guessed, made.outside = guessed or owner.guessed, owner.outside
        made.given = cls is not None and self.is_always_made(owner.cls, name)  # type: ignore[arg-type]
        owner.slots[name] = made  # what is set on it later is seen by all that read it
        return made

    def _property(self, owner: Thing, name: str) -> Value | None:
        """A property of a config, over its fields; ``None`` where that says no more than its name."""
        assert owner.cls is not None
        member = self.run.globals.class_member(owner.cls, name)
        if not isinstance(member, Callable_) or not is_property(member):
            return None
        value = self.run.calls.invoke(replace(member, bound=owner), [], {})
        plain = isinstance(value, (Known, Test)) or (isinstance(value, Thing) and "(" not in value.text)
        return value if plain else None

    def _default(self, cls: ClassEntity, name: str) -> Value | None:
        """The default of a field in a config that code makes: of its constructor's parameter, or of its class body."""
        for ancestor in self.run.mro(cls):
            for statement in ancestor.node.body if isinstance(ancestor, ClassEntity) else ():
                if isinstance(statement, (ast.Assign, ast.AnnAssign)):
                    values = [v for target, v in parts_of(statement) if target == name]
                elif isinstance(statement, FUNCTIONS) and statement.name == "__init__":
                    values = [defaults_of(statement.args).get(name)]
                else:
                    continue
                if values and isinstance(values[0], ast.Constant):
                    return Known(values[0].value)
        return None

    def is_always_made(self, cls: ClassEntity, name: str) -> bool:
        """Tell whether a config always has a sub-config: its constructor makes one where none is given."""
        key = (cls, name)
        if key not in self._made_always:
            functions = (
                f for a in self.run.mro(cls) if isinstance(a, ClassEntity) for f in self.run.classes.methods(a)
            )
            self._made_always[key] = any(_fills(f.body, name) for f in functions if f.name in _MAKING)
        return self._made_always[key]

    def _literal(self, cls: ClassEntity, name: str) -> Value | None:
        """A constant of the config's class that no instance can change by its constructor."""
        fields = self.fields(cls)
        members, opaque = self.run.classes.find(cls, name)
        if opaque or not members or (fields is not None and name in fields and name != "model_type"):
            return None
        value = members[-1].value
        if isinstance(value, ast.Constant) and isinstance(value.value, str) and name == "model_type":
            return Known(value.value)
        return None

    def has_field(self, owner: Thing, name: str) -> bool | None:
        """Tell whether a config has a field; ``None`` if its class is not known to the last base."""
        if name in owner.slots:
            return owner.slots[name] is not ABSENT
        if owner.cls is None:
            return None
        fields = self.fields(owner.cls)
        if fields is None:
            return None
        if name in fields or name in _BASE_FIELDS:
            return True
        return None if owner.guessed else False

    def fields(self, cls: ClassEntity) -> frozenset[str] | None:
        """Return every name that a config class defines; ``None`` if a base of it is not at hand."""
        if cls not in self._fields:
            self._fields[cls] = self._read_fields(cls)
        return self._fields[cls]

    def _read_fields(self, cls: ClassEntity) -> frozenset[str] | None:
        found: set[str] = set()
        for ancestor in self.run.mro(cls):
            name = ancestor.fqn.rpartition(".")[2]
            if name in _CONFIG_BASES or name.endswith("Mixin") or name in ("object", "dict", "ABC"):
                continue
            if not isinstance(ancestor, ClassEntity):
                return None
            found |= set(self.run.names.body(ancestor).names)
            for statement in ancestor.node.body:
                if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
                    found.add(statement.target.id)
                if isinstance(statement, ast.Assign) and dotted(statement.targets[0]) == "attribute_map":
                    keys = getattr(statement.value, "keys", ())
                    found |= {k.value for k in keys if isinstance(k, ast.Constant)}
                if isinstance(statement, FUNCTIONS):
                    found |= _set_in(statement, self.run.classes.nodes_of(statement))
        return frozenset(found)

    def sub_config(self, cls: ClassEntity, name: str) -> tuple[ClassEntity | None, bool]:
        """Return the class of a sub-config, and whether it is only the default where any is allowed."""
        if not name.endswith(("config", "cfg")):
            return None, False
        key = (cls, name)
        if key not in self._subs:
            self._subs[key] = None, False
            declared = self._declared_sub(cls, name)
            self._subs[key] = (declared, False) if declared else (self._assigned_sub(cls, name), True)
        return self._subs[key]

    def _declared_sub(self, cls: ClassEntity, name: str) -> ClassEntity | None:
        members, _ = self.run.classes.find(cls, "sub_configs")
        for member in members:
            if isinstance(member.value, ast.Dict):
                for key, value in zip(member.value.keys, member.value.values, strict=True):
                    if isinstance(key, ast.Constant) and key.value == name:
                        return self._config_named(value, member.owner.scope)
        for ancestor in self.run.mro(cls):
            for statement in ancestor.node.body if isinstance(ancestor, ClassEntity) else ():
                if isinstance(statement, ast.AnnAssign) and dotted(statement.target) == name:
                    found = self.annotated(statement.annotation, ancestor.scope)  # type: ignore[union-attr]
                    if found is not None:
                        return found
        return None

    def _config_named(self, expr: ast.expr, scope: Scope) -> ClassEntity | None:
        for entity in self.run.names.resolve(expr, scope):
            if isinstance(entity, ClassEntity) and self.is_config(entity):
                return entity
        return None

    def _assigned_sub(self, cls: ClassEntity, name: str) -> ClassEntity | None:
        """``self.text_config = TextConfig(…)`` or ``= CONFIG_MAPPING["llama"](…)`` in a method of the class."""
        for ancestor in self.run.mro(cls):
            if not isinstance(ancestor, ClassEntity) or ancestor.fqn.rpartition(".")[2] in _CONFIG_BASES:
                continue
            for function in self.run.classes.methods(ancestor):
                scope = self.run.classes.method_scope(ancestor, function)
                for statement in function.body:
                    for node in walk_here(statement):
                        for target, value in parts_of(node):
                            if target.rpartition(".")[2] == name and isinstance(value, (ast.Call, ast.IfExp)):
                                found = self._made(value, scope)
                                if found is not None:
                                    return found
        return None

    def _made(self, value: ast.expr, scope: Scope) -> ClassEntity | None:
        if isinstance(value, ast.IfExp):
            return self._made(value.body, scope) or self._made(value.orelse, scope)
        if not isinstance(value, ast.Call):
            return None
        func = value.func
        if isinstance(func, ast.Subscript) and dotted(func.value).endswith("CONFIG_MAPPING"):
            key = func.slice
            if isinstance(key, ast.Call) and isinstance(key.func, ast.Attribute) and key.func.attr == "get":
                key = key.args[-1]  # the default
            return self.config_of(key.value) if isinstance(key, ast.Constant) else None
        if isinstance(func, ast.Attribute) and func.attr == "for_model" and value.args:
            return self.config_of(value.args[0].value) if isinstance(value.args[0], ast.Constant) else None
        return self._config_named(func, scope)

    def annotated(self, annotation: ast.expr | None, scope: Scope) -> ClassEntity | None:
        """Return the class that an annotation names: alone, quoted, optional, the first of a union."""
        if annotation is None:
            return None
        if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
            try:
                annotation = ast.parse(annotation.value, mode="eval").body
            except SyntaxError:
                return None
        if isinstance(annotation, ast.BinOp):
            return self.annotated(annotation.left, scope) or self.annotated(annotation.right, scope)
        if isinstance(annotation, ast.Subscript):
            if dotted(annotation.value).rpartition(".")[2] not in ("Optional", "Union"):
                return None
            inner = annotation.slice
            options = inner.elts if isinstance(inner, ast.Tuple) else [inner]
            return next((c for c in (self.annotated(o, scope) for o in options) if c is not None), None)
        entities = (
            self.run.names.resolve(annotation, scope) if isinstance(annotation, (ast.Name, ast.Attribute)) else []
        )
        found = [e for e in entities if isinstance(e, ClassEntity) and not self.run.classes.is_stand_in(e)]
        return found[0] if found and found[0].fqn.rpartition(".")[2] not in _CONFIG_BASES else None

    def method(self, owner: Thing, name: str) -> Value:
        """Return what a method of a config gives."""
        if name == "get_text_config":
            for text in ("text_config", "text_encoder", "decoder", "generator"):
                if owner.cls is not None and self.sub_config(owner.cls, text)[0] is not None:
                    return self.field(owner, text)
            return owner
        return Thing(f"{owner.text}.{name}()")

    # -- models ---------------------------------------------------------------------------------------------------

    def is_root(self, cls: ClassEntity) -> bool:
        """Tell whether a class is transformers' ``PreTrainedModel`` itself, whose constructor builds nothing."""
        return cls.name == _MODEL_ROOT and cls.module.name.startswith("transformers.")

    def construct_root(self, made: Obj, args: list[Value], keywords: dict[str, Value]) -> Value:
        """Run ``PreTrainedModel.__init__``: it keeps the config."""
        config = args[0] if args else keywords.get("config")
        if config is not None:
            made.slots["config"] = config
        return NONE

    def from_config(self, owner: Value, args: list[Value], keywords: dict[str, Value], place: Place) -> Value:
        """Return what ``Cls.from_config(config)`` and its like build; an ``Auto`` class asks the config which class."""
        config = args[0] if args else keywords.get("config", UNKNOWN)
        if isinstance(owner, ClassValue) and owner.cls.module.name.startswith(_AUTO):
            found = [(c, self._auto(owner.cls, single, keywords, place)) for c, single in parts(config, self.run.heap)]
            return found[0][1] if len(found) == 1 else Choice(found)
        if isinstance(owner, ClassValue):
            return self.run.instances.make(owner.cls, [config], {}, place)
        name = owner.fqn.rpartition(".")[2] if isinstance(owner, External_) else "a class that cannot be told"
        return self._opaque(f"{name} builds what the config says", place)

    def _auto(self, auto: ClassEntity, config: Value, keywords: dict[str, Value], place: Place) -> Value:
        cls = config.cls if isinstance(config, Thing) else None
        model = self._mapped(auto, cls) if cls is not None else None
        if model is None:
            return self._opaque(f"{auto.name} builds what the config says", place)
        made = self.run.instances.make(model, [config], {}, place)
        if isinstance(made, Obj) and made.opaque is None and isinstance(config, Thing) and config.guessed:
            made.opaque = f"{auto.name} builds what the config says; shown is {model.name}, its default"
        return made

    def _opaque(self, reason: str, place: Place) -> Obj:
        made = Obj(None, "torch.nn.Module", True, place)
        made.opaque = reason
        return made

    def _mapped(self, auto: ClassEntity, config: ClassEntity) -> ClassEntity | None:
        """Return the model class that an ``Auto`` class picks for a config class."""
        members, _ = self.run.classes.find(auto, "_model_mapping")
        model_type = self.run.globals.class_member(config, "model_type")
        if not members or not isinstance(model_type, Known):
            return None
        table = f"{dotted(members[-1].value or ast.Pass())}_NAMES"
        name = self._tables(f"{_AUTO}.modeling_auto", table).get(str(model_type.value))
        return self._class_beside(config, name, "modeling") if name else None

    def config_of(self, model_type: object) -> ClassEntity | None:
        """Return the config class that transformers has for a ``model_type``."""
        for module in (f"{_AUTO}.auto_mappings", f"{_AUTO}.configuration_auto"):
            name = self._tables(module, "CONFIG_MAPPING_NAMES").get(str(model_type))
            if name:
                for entity in self.run.names.from_module("transformers", name):
                    if isinstance(entity, ClassEntity):
                        return entity
        return None

    def _class_beside(self, config: ClassEntity, name: str, kind: str) -> ClassEntity | None:
        module = config.module.name
        beside = re.sub(r"\.configuration_([^.]*)$", rf".{kind}_\1", module)
        for place in (beside, "transformers"):
            for entity in self.run.names.from_module(place, name) if place != module else ():
                if isinstance(entity, ClassEntity):
                    return entity
        return None

    def _tables(self, module: str, name: str) -> dict[str, str]:
        """Return a table of transformers' own (``OrderedDict([("llama", "LlamaConfig"), …])``)."""
        return self.run.tables(module, name)

    def item(self, owner: Value, key: Value, place: Place) -> Value:
        """Return what a table of a library gives for a key."""
        if isinstance(owner, (External_, Obj)) and isinstance(key, Known):
            fqn = owner.fqn if isinstance(owner, External_) else owner.type_fqn
            if fqn.endswith(("CONFIG_MAPPING", "_LazyConfigMapping")):
                found = self.config_of(key.value)
                return ClassValue(found) if found is not None else UNKNOWN
        if isinstance(owner, (External_, Obj)):
            fqn = owner.fqn if isinstance(owner, External_) else owner.type_fqn
            if fqn.endswith(("activations.ACT2FN", "activations.ClassInstantier")):
                return Obj(None, "transformers.activations.ACT2FN", True, place)
        if isinstance(owner, Unknown) and owner.module:
            return owner
        return UNKNOWN


def _set_in(function: ast.FunctionDef | ast.AsyncFunctionDef, nodes: Iterable[ast.AST]) -> set[str]:
    """Return the attributes that a method sets on ``self`` in some of its nodes."""
    if not function.args.args:
        return set()
    me = function.args.args[0].arg + "."
    found = set()
    for node in nodes:
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and isinstance(node.value, ast.Name):
            if node.value.id + "." == me:
                found.add(node.attr)
        elif isinstance(node, ast.Call) and dotted(node.func) == "setattr" and len(node.args) == 3:
            found |= {str(a.value) for a in node.args[1:2] if isinstance(a, ast.Constant)}
    return found


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def _fills(body: list[ast.stmt], name: str) -> bool:
    """``self.x = Cls(…)``, or ``if x is None: x = Cls()``: whatever is given, there is one."""
    for statement in body:
        if isinstance(statement, ast.If):
            asked = ast.unparse(statement.test).removeprefix("self.")
            if asked in (f"{name} is None", f"not {name}") and _fills(statement.body, name):
                return True
            if _fills(statement.orelse, name) and asked.startswith((f"isinstance({name}", f"isinstance(self.{name}")):
                return True
        for target, value in parts_of(statement):
            if target.removeprefix("self.") == name and isinstance(value, ast.Call):
                return True
    return False
