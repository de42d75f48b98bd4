"""Whether the outer ``tie_word_embeddings`` of a multimodal config arrives on the config object.

The framework and transformers read the flag off the outermost config. A composite config class must therefore take it
beside its sub-configs and hand it on; the one inside ``text_config`` is no more than a fallback.
"""

from __future__ import annotations

import ast
import re

from automodel_lint.domain.tie_flag import FLAG
from automodel_lint.inference.bindings import dotted, parts_of, statements_here, walk_here
from automodel_lint.inference.classes import Classes, MethodView, is_super
from automodel_lint.inference.names import ClassEntity, all_arguments

_LANGUAGE = re.compile(r"(text|llm|language|lm|thinker)(_model)?_config$")
_MODALITY = re.compile(r"(vision|visual|image|video|audio|sound|speech|vit|vae)(_\w+)?_config$")
_DEEPEST = 4
# Where a flag comes from.
OUTER, NESTED, DROPPED, UNKNOWN = "outer", "nested", "dropped", "unknown"


def language_config(classes: Classes, cls: ClassEntity) -> str | None:
    """Return the name of the sub-config of the language model if ``cls`` is a multimodal config, else ``None``."""
    names = _sub_configs(classes, cls)
    if not any(_MODALITY.match(name) for name in names):
        return None
    return next((name for name in names if _LANGUAGE.match(name)), None)


def _sub_configs(classes: Classes, cls: ClassEntity) -> list[str]:
    """The parameters of the constructors of the checkout and what they assign, then the keys of ``sub_configs``."""
    found: list[str] = []
    for ancestor in classes.mro(cls):
        if not isinstance(ancestor, ClassEntity) or not classes.in_checkout(ancestor):
            continue
        for member in classes.local(ancestor, "__init__"):
            if member.function is not None:
                found += [a.arg for a in all_arguments(member.function.args)]
                prefix = MethodView(classes, cls, member).self_name + "."
                targets = [n for s in statements_here(member.function.body) for n, _ in parts_of(s)]
                found += [n[len(prefix) :] for n in targets if n.startswith(prefix)]
        for member in classes.local(ancestor, "sub_configs"):
            keys = member.value.keys if isinstance(member.value, ast.Dict) else ()
            found += [str(k.value) for k in keys if isinstance(k, ast.Constant)]
    return found


def lost_flag(classes: Classes, cls: ClassEntity) -> tuple[MethodView, str] | None:
    """Return the constructor of the checkout in which the caller's flag is lost, and how (see `FlagTaking.lost`)."""
    for ancestor in classes.mro(cls):
        members = classes.local(ancestor, "__init__") if isinstance(ancestor, ClassEntity) else []
        if not isinstance(ancestor, ClassEntity) or (members and not classes.in_checkout(ancestor)):
            return None  # what transformers is given it keeps
        if members:
            if len(members) > 1 or members[0].function is None:
                return None
            view = MethodView(classes, cls, members[0])
            how = FlagTaking(view).lost()
            if how is not None:
                return view, how
    return None


class FlagTaking:
    """Looks at one constructor of a config class: what becomes of the flag that its caller gives."""

    def __init__(self, view: MethodView):
        self.view = view
        arguments = view.node.args
        self.takes = any(a.arg == FLAG for a in (*arguments.args, *arguments.posonlyargs, *arguments.kwonlyargs))
        self.rest = arguments.kwarg.arg if arguments.kwarg is not None else None

    def lost(self) -> str | None:
        """Return how the caller's flag is lost: ``nested`` (only a sub-config's counts), ``dropped``; else ``None``."""
        sources = self._written_last() or self._sources()
        if sources & {OUTER, UNKNOWN}:
            return None
        if NESTED in sources:
            return NESTED
        if self.takes or self.rest:
            return DROPPED
        return None if sources else NESTED

    def _written_last(self) -> set[str]:
        """What is written over the flag behind the base constructor, whatever that was given."""
        for statement in reversed(self.view.node.body):
            written = [v for n, v in parts_of(statement) if n == f"{self.view.self_name}.{FLAG}"]
            written += [n.args[2] for n in walk_here(statement) if self._is_setattr(n)]
            if written:
                return {self.source(value) for value in written}
            if any(isinstance(n, ast.Call) and self._is_base_constructor(n) for n in walk_here(statement)):
                break
        return set()

    def _is_setattr(self, node: ast.AST) -> bool:
        """``setattr(self, "tie_word_embeddings", …)``."""
        if not isinstance(node, ast.Call) or dotted(node.func) != "setattr" or len(node.args) != 3:
            return False
        return self.view.is_self_or_class(node.args[0]) and _is_flag_text(node.args[1])

    def _sources(self) -> set[str]:
        """Where all that sets the flag of this config takes it from."""
        found: set[str] = set()
        for node in self.view.walk():
            if isinstance(node, ast.Call):
                found |= self._handed_by(node)
            elif isinstance(node, (ast.For, ast.AsyncFor)) and self._is_rest(node.iter):
                found.add(UNKNOWN)  # for name, value in kwargs.items(): setattr(self, name, value)
            found |= {self.source(v) for n, v in parts_of(node) if n == f"{self.view.self_name}.{FLAG}"}
            if isinstance(node, ast.Assign) and any(self._is_own_item(target) for target in node.targets):
                found.add(self.source(node.value))
        return found

    def _handed_by(self, call: ast.Call) -> set[str]:
        """What one call does to the flag of this config."""
        by_name = {self.source(k.value) for k in call.keywords if k.arg == FLAG}
        whole = [k.value for k in call.keywords if k.arg is None]
        if self._is_base_constructor(call):
            return by_name | {self._from_rest(value) for value in whole}
        first = call.args[0] if call.args else None
        name = dotted(call.func)
        if self.rest and name == f"{self.rest}.update":
            return by_name | {UNKNOWN for _ in (*call.args, *whole)}
        if self.rest and name == f"{self.rest}.setdefault":
            return {OUTER} if _is_flag_text(first) else set()  # what the caller gave stays
        if name.rpartition(".")[2] in ("setattr", "__setattr__") and any(_is_flag_text(a) for a in call.args[:2]):
            return {self.source(call.args[-1])}
        is_own = isinstance(call.func, ast.Attribute) and self.view.is_self_or_class(call.func.value)
        given = [*call.args, *(k.value for k in call.keywords)]
        hands_on = any(self._is_rest(a) or (self.takes and dotted(a) == FLAG) for a in given)
        return {UNKNOWN} if hands_on and (is_own or name.endswith("__dict__.update")) else set()

    def _is_base_constructor(self, call: ast.Call) -> bool:
        func = call.func
        if not isinstance(func, ast.Attribute) or func.attr not in ("__init__", "__post_init__"):
            return False
        return is_super(func.value) or bool(call.args and dotted(call.args[0]) == self.view.self_name)

    def _from_rest(self, value: ast.expr) -> str:
        """What ``**value`` in a call hands on: ``**kwargs`` has the flag unless it is a parameter or was taken out."""
        if self.rest is None or dotted(value) != self.rest:
            return UNKNOWN
        before = [n for n in self.view.walk() if getattr(n, "lineno", value.lineno + 1) <= value.lineno]
        sure = [s for s in self.view.node.body if s.lineno <= value.lineno]
        lost = any(map(self._takes_out, before)) or any(map(self._writes_over, sure))
        return DROPPED if self.takes or lost else OUTER

    def _writes_over(self, statement: ast.stmt) -> bool:
        """``kwargs["tie_word_embeddings"] = …``, ``kwargs.update(tie_word_embeddings=…)``."""
        if isinstance(statement, ast.Assign):
            return any(map(self._is_own_item, statement.targets))
        call = statement.value if isinstance(statement, ast.Expr) else None
        if not isinstance(call, ast.Call) or dotted(call.func) != f"{self.rest}.update":
            return False
        return any(k.arg == FLAG for k in call.keywords)

    def _takes_out(self, node: ast.AST) -> bool:
        if isinstance(node, ast.Delete):
            return any(self._is_own_item(target) for target in node.targets)
        if not isinstance(node, ast.Call) or self.rest is None or dotted(node.func) != f"{self.rest}.pop":
            return False
        return bool(node.args) and _is_flag_text(node.args[0])

    def _is_own_item(self, node: ast.expr) -> bool:
        """``kwargs["tie_word_embeddings"]``."""
        return isinstance(node, ast.Subscript) and self._is_rest(node.value) and _is_flag_text(node.slice)

    def _is_rest(self, node: ast.expr) -> bool:
        """``kwargs``, or a view or copy of it."""
        if isinstance(node, ast.Call):
            inner = node.func.value if isinstance(node.func, ast.Attribute) else (node.args or [node.func])[0]
            return self._is_rest(inner)
        return self.rest is not None and dotted(node) == self.rest

    # -- expressions ----------------------------------------------------------------------------------------------

    def source(self, value: ast.expr | None) -> str:
        """Tell whose flag an expression is: the caller's (also where it may be), a sub-config's, a fixed one."""
        if isinstance(value, ast.Constant):
            return DROPPED
        found = self._reads(value, 0) if value is not None else set()
        return next((kind for kind in (OUTER, UNKNOWN, NESTED) if kind in found), UNKNOWN)

    def _reads(self, value: ast.AST, depth: int) -> set[str]:
        """Whose flags are read on the way to a value."""
        found: set[str] = set()
        if depth <= _DEEPEST:
            for node in ast.walk(value):
                if isinstance(node, ast.Name):
                    found |= self._local(node.id, depth + 1)
                elif isinstance(node, ast.Attribute) and node.attr == FLAG:
                    found.add(NESTED)
                elif isinstance(node, ast.Subscript) and _is_flag_text(node.slice):
                    found.add(OUTER if self._is_rest(node.value) else NESTED)
                elif isinstance(node, ast.Call) and any(_is_flag_text(a) for a in node.args[:2]):
                    found.add(self._called(node))
        return found

    def _called(self, call: ast.Call) -> str:
        """``<dict>.get("tie_word_embeddings")``, ``getattr(text_config, "tie_word_embeddings")``."""
        if isinstance(call.func, ast.Attribute) and call.func.attr in ("pop", "get", "setdefault"):
            return OUTER if self._is_rest(call.func.value) else NESTED
        return NESTED if dotted(call.func) == "getattr" else UNKNOWN

    def _local(self, name: str, depth: int) -> set[str]:
        """A parameter of the constructor, or what was assigned to a name."""
        found: set[str] = set()
        for binding in self.view.scope.frames[0].live(name):
            if isinstance(binding.node, ast.arg):
                found |= {OUTER} if name == FLAG else set()
            elif isinstance(binding.node, ast.expr):
                found |= self._reads(binding.node, depth)
        return found


def _is_flag_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value == FLAG
