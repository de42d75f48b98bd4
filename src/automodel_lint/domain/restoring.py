"""Whether a tensor that a cast of the model rounds has its exact value back before anybody looks at it.

Three ways count: the module (or one above it) overrides ``_apply`` and puts the tensor back; the value is never read,
or computed anew whenever it is; or the method that casts sets it anew afterwards. Casting a rounded tensor up does not.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import cached_property

from automodel_lint.domain.casts import WIDE, Cast, Dtypes, running_methods
from automodel_lint.domain.model_class import ModelClass
from automodel_lint.inference.bindings import FUNCTIONS, assigned, branches, dotted, nodes_on, walk_here
from automodel_lint.inference.classes import FunctionView, MethodView, is_super
from automodel_lint.inference.module_tree import ModuleNode, Tensor, matches
from automodel_lint.inference.names import ClassEntity, FunctionEntity

# Of a tensor, what a cast to another dtype leaves alone, or what nobody computes with.
_HARMLESS = frozenset({"device", "dtype", "shape", "ndim", "is_meta", "layout", "size", "numel", "dim"})
# Methods in which a table is made, moved or saved, not used.
_SETTING_UP = frozenset({"__init__", "_apply", "_init_weights", "init_weights", "initialize_weights", "extra_repr"})
_ALL_BUFFERS = frozenset({"buffers", "named_buffers", "_buffers"})
_BINDING = (ast.Assign, ast.AnnAssign, ast.For)
_DEEPEST = 2


class Restoring:
    """Answers for the tensors of one class's module tree."""

    def __init__(self, model: ModelClass):
        self.model, self.classes, self.source = model, model.classes, model.project.tree

    @cached_property
    def _parents(self) -> dict[int, ModuleNode]:
        return {id(child): node for node in self.model.module_tree.nodes() for child in node.children}

    def _upwards(self, node: ModuleNode | None) -> Iterator[ModuleNode]:
        while node is not None:
            yield node
            node = self._parents.get(id(node))

    # -- in ``_apply`` ----------------------------------------------------------------------------------------------

    def in_apply(self, tensor: Tensor) -> bool:
        """Tell whether an ``_apply`` on the way to the tensor keeps it from being rounded for good."""
        for node in self._upwards(tensor.module):
            members = self.classes.find(node.cls, "_apply")[0] if node.cls is not None else []
            written_down = [m for m in members if m.function is not None and not _is_torch(m.owner)]
            views = [MethodView(self.classes, node.cls, member) for member in written_down]
            if any(self._keeps(view, tensor.name, node is tensor.module) for view in views):
                return True
        return False

    def _keeps(self, view: MethodView, name: str, own: bool) -> bool:
        cast = next((n for n in view.walk() if _calls_base(n, "_apply")), None)
        if cast is None:
            return own  # nothing is cast here at all
        if not _mentions(view.node, name):
            return False
        rounded = _Reads(name, dynamic=True)
        tainted = rounded.carriers(view.node, after=cast.lineno)
        behind = [n for n in view.walk() if getattr(n, "lineno", 0) > cast.lineno]
        return any(not rounded.taints(v, tainted) for n in behind for v in written(n, name, dynamic=True))

    # -- at use -------------------------------------------------------------------------------------------------------

    def at_use(self, tensor: Tensor) -> bool:
        """Tell whether no code reads the stored value: nobody asks for it, or it is always computed anew before."""
        readers = list(self.readers(tensor))
        if not readers:
            return not self._read_elsewhere(tensor)
        return all(self._sets_first(view, found.lineno, tensor.name) for view, found in readers)

    def readers(self, tensor: Tensor) -> Iterator[tuple[MethodView, ast.expr]]:
        """Yield the methods of the tensor's module that read its value, each with the first such expression."""
        cls = tensor.module.cls
        if cls is None:
            return
        reads = _Reads(tensor.name)
        for view in running_methods(self.classes, cls):
            path = view.owner.module.path
            if view.node.name in _SETTING_UP or not self.source.holds(path, reads.word.encode()):
                continue
            found = next(reads.inside(view.node), None)
            if found is not None:
                yield view, found

    def _sets_first(self, view: MethodView, line: int, name: str) -> bool:
        """Whether the method, or the ``forward`` that calls it, sets the tensor anew before it is read."""
        if self._sets(view, [s for s in view.node.body if s.lineno < line], name):
            return True
        forward = next((v for v in running_methods(self.classes, view.receiver) if v.node.name == "forward"), None)
        return forward is not None and forward.node is not view.node and self._sets(forward, forward.node.body, name)

    def _read_elsewhere(self, tensor: Tensor) -> bool:
        """Whether other code in the files of the tree reads the tensor off the module (``rotary.inv_freq``)."""
        reads = _Reads(tensor.name)
        if "*" in tensor.name:
            return True
        for path in dict.fromkeys(cls.module.path for cls in self.model.module_tree.classes):
            if self.source.holds(path, f".{tensor.name}".encode()):
                syntax, lines = self.source.syntax(path), self.source.lines_with(path, f".{tensor.name}")
                if isinstance(syntax, ast.Module) and self._reads_off(syntax, lines, reads):
                    return True
        return False

    def _reads_off(self, syntax: ast.Module, lines: set[int], reads: _Reads) -> bool:
        for function in nodes_on(syntax, lines):
            if isinstance(function, FUNCTIONS) and function.name not in _SETTING_UP:
                for found in reads.inside(function):
                    if isinstance(found, ast.Attribute) and dotted(found.value) not in ("self", "cls"):
                        return True
        return False

    # -- after the cast -----------------------------------------------------------------------------------------------

    def after(self, tensor: Tensor, cast: Cast) -> bool:
        """Tell whether the method that casts sets the tensor anew behind the cast, whatever the way there."""
        return self._sets(cast.view, list(cast.tail), tensor.name, tensor)

    def _sets(
        self,
        view: MethodView,
        body: list[ast.stmt],
        name: str,
        tensor: Tensor | None = None,
        base: str = "",
        depth: int = 0,
    ) -> bool:
        """Whether running the statements surely sets the tensor to a value that is not read off it.

        ``base`` is where the view's ``self`` hangs in the tree; without ``tensor`` any object's attribute will do.
        """
        reads = _Reads(name)
        tainted = reads.carriers(ast.Module(body, []), after=0)
        dtypes = Dtypes(self.model.names, view)
        for node in _surely(body, name):
            for value in written(node, name):
                target = _target(node, view.self_name, base)
                if tensor is not None and target and not matches(tensor.fqn, target):
                    continue
                if not reads.taints(value, tainted) and not _ends_low(value, dtypes):
                    return True
            if isinstance(node, ast.Call) and depth < _DEEPEST:
                for callee, where, of in self._callees(view, node, tensor, base):
                    if self._sets(callee, callee.node.body, name, of, where, depth + 1):
                        return True
        return False

    def _callees(
        self, view: MethodView, call: ast.Call, tensor: Tensor | None, base: str
    ) -> Iterator[tuple[MethodView, str, Tensor | None]]:
        """The code that a call runs, and where its ``self`` hangs.

        That is a method, a helper function, a method of a submodule (``self.model.reset()``); of an object that is not
        known (``layer.rotary.reset()``), the method that the tensor's own module has by that name.
        """
        callee = view.callee(call)
        if isinstance(callee, FunctionEntity):
            yield FunctionView(view, callee), "", tensor
        elif callee is not None and callee.node is not view.node and self.classes.is_local(callee.owner):
            yield callee, base, tensor
        elif isinstance(call.func, ast.Attribute):
            root, _, rest = dotted(call.func.value).partition(".")
            if root and root == view.self_name and rest:
                path = f"{base}.{rest}".strip(".")
                for node in self.model.module_tree.root.child(path):
                    yield from ((found, path, tensor) for found in self._methods(node, call.func.attr))
            elif tensor is not None and root != view.self_name:
                yield from ((found, "", None) for found in self._methods(tensor.module, call.func.attr))

    def _methods(self, node: ModuleNode, name: str) -> Iterator[MethodView]:
        members = self.classes.find(node.cls, name)[0] if node.cls is not None else []
        yield from (MethodView(self.classes, node.cls, m) for m in members[:1] if m.function is not None)


def casts_up(view: MethodView, read: ast.expr) -> ast.expr | None:
    """Return the call in a method that casts what ``read`` reads up to fp32, if there is one."""
    dtypes = Dtypes(view.classes.names, view)
    for node in view.walk():
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            given = [*node.args, *(k.value for k in node.keywords if k.arg == "dtype")]
            up = node.func.attr == "float" or (
                node.func.attr in ("to", "type") and any(dtypes.of(a) in WIDE for a in given)
            )
            if up and any(n is read for n in ast.walk(node.func.value)):
                return node
    return None


# -- reading and writing one name --------------------------------------------------------------------------------------


class _Reads:
    """Finds the expressions that read a tensor's value; a pattern (``*_inv_freq``) is known by its written part."""

    def __init__(self, name: str, dynamic: bool = False):
        self.name, self.dynamic = name, dynamic
        self.word = max(name.split("*"), key=len)

    def inside(self, node: ast.AST) -> Iterator[ast.expr]:
        """Yield what reads the value; ``x.inv_freq.device`` does not."""
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.Attribute) and child.attr in _HARMLESS:
                continue
            if isinstance(child, ast.expr) and self._reads(child):
                yield child
            else:
                yield from self.inside(child)

    def _reads(self, node: ast.expr) -> bool:
        if isinstance(node, ast.Attribute):
            return isinstance(node.ctx, ast.Load) and matches(self.name, node.attr)
        if isinstance(node, ast.Call) and dotted(node.func) == "getattr" and len(node.args) > 1:
            named = node.args[1]
            if isinstance(named, ast.Constant):
                return matches(self.name, str(named.value))
            return self.dynamic or self.word in ast.unparse(named)
        return False

    def taints(self, value: ast.expr, tainted: Iterable[str]) -> bool:
        """Tell whether a value is read off the tensor, directly or through one of the names in ``tainted``."""
        wrapped = ast.Expr(value)
        return next(self.inside(wrapped), None) is not None or any(
            isinstance(n, ast.Name) and n.id in tainted for n in _computed_with(wrapped)
        )

    def carriers(self, node: ast.AST, after: int) -> set[str]:
        """Return the names that are bound to the tensor's value below a line."""
        found: set[str] = set()
        for statement in sorted((n for n in ast.walk(node) if isinstance(n, _BINDING)), key=lambda n: n.lineno):
            if statement.lineno <= after:
                continue
            if isinstance(statement, ast.For):
                if any(getattr(n, "attr", "") in _ALL_BUFFERS for n in ast.walk(statement.iter)):
                    found |= {n.id for n in ast.walk(statement.target) if isinstance(n, ast.Name)}
            else:
                found |= {n for n, value in assigned(statement) if value is not None and self.taints(value, found)}
        return found


def _computed_with(node: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(node):
        if not (isinstance(child, ast.Attribute) and child.attr in _HARMLESS):
            yield child
            yield from _computed_with(child)


def written(node: ast.AST, name: str, dynamic: bool = False) -> Iterator[ast.expr]:
    """Yield the values that a node sets a tensor to: by assignment, ``register_buffer``, ``setattr``, ``_buffers``.

    With ``dynamic``, a name that the code computes may be this one.
    """
    if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            if isinstance(target, ast.Attribute) and target.attr == "data":
                target = target.value
            if isinstance(target, ast.Attribute) and matches(name, target.attr):
                yield node.value
            elif isinstance(target, ast.Subscript) and getattr(target.value, "attr", "") == "_buffers":
                yield from [node.value] if _names(target.slice, name, dynamic) else []
    elif isinstance(node, ast.Call):
        called = node.func.attr if isinstance(node.func, ast.Attribute) else dotted(node.func)
        first = 1 if called == "setattr" else 0
        if called in ("register_buffer", "setattr") and len(node.args) > first + 1:
            if _names(node.args[first], name, dynamic):
                yield node.args[first + 1]
        elif called == "register_buffer" and node.args and _names(node.args[0], name, dynamic):
            yield from (k.value for k in node.keywords if k.arg == "tensor")


def _names(expr: ast.expr, name: str, dynamic: bool) -> bool:
    if isinstance(expr, ast.Constant):
        return matches(name, str(expr.value))
    if isinstance(expr, ast.JoinedStr):
        return max(name.split("*"), key=len) in ast.unparse(expr)
    return dynamic


def _mentions(function: ast.AST, name: str) -> bool:
    word = max(name.split("*"), key=len)
    for node in ast.walk(function):
        if word in (node.attr if isinstance(node, ast.Attribute) else str(getattr(node, "value", ""))):
            return True
    return False


def _target(node: ast.AST, self_name: str, base: str) -> str:
    """The full name of what an assignment through ``self`` sets; empty for one through another name."""
    if not isinstance(node, (ast.Assign, ast.AnnAssign)):
        return ""
    target = node.targets[0] if isinstance(node, ast.Assign) else node.target
    root, _, rest = dotted(target).partition(".")
    if not self_name or root != self_name:
        return ""
    return f"{base}.{rest}".strip(".").removesuffix(".data")


def _ends_low(value: ast.expr, dtypes: Dtypes) -> bool:
    """Whether a value is cast down as the last thing: ``compute().to(dtype)``."""
    if not isinstance(value, ast.Call) or not isinstance(value.func, ast.Attribute):
        return False
    if value.func.attr in ("half", "bfloat16", "type_as"):
        return True
    if value.func.attr not in ("to", "type"):
        return False
    given = [dtypes.of(a) for a in (*value.args, *(k.value for k in value.keywords if k.arg == "dtype"))]
    return any(dtype is not None and not dtype.startswith("float32") for dtype in given)


def _is_torch(cls: ClassEntity) -> bool:
    return cls.module.name.partition(".")[0] == "torch"


def _calls_base(node: ast.AST, method: str) -> bool:
    func = node.func if isinstance(node, ast.Call) else None
    if not isinstance(func, ast.Attribute) or func.attr != method:
        return False
    return is_super(func.value) or dotted(func.value).endswith("Module")


def _surely(body: list[ast.stmt], name: str) -> Iterator[ast.AST]:
    """Yield the nodes that run whenever the block does; a loop, and a test of what is there, are no condition."""
    for statement in body:
        if isinstance(statement, (*FUNCTIONS, ast.ClassDef)):
            continue
        if isinstance(statement, (ast.For, ast.While)):
            yield from _surely(statement.body, name)
        elif isinstance(statement, ast.If):
            if _asks_what_is_there(statement.test, name):
                yield from _surely(statement.body, name)
        elif isinstance(statement, ast.Try):
            yield from _surely([*statement.body, *statement.finalbody], name)
        elif isinstance(statement, ast.With):
            yield from _surely(statement.body, name)
        else:
            yield from walk_here(statement)
            yield from (n for branch, sure in branches(statement) if sure for n in _surely(branch, name))


def _asks_what_is_there(test: ast.expr, name: str) -> bool:
    """``isinstance(m, Rotary)``, ``hasattr(m, "inv_freq")``, ``self.rope is not None``, ``self.freqs.dtype != …``."""
    if isinstance(test, ast.BoolOp):
        return all(_asks_what_is_there(part, name) for part in test.values)
    if isinstance(test, ast.Call) and dotted(test.func) in ("isinstance", "hasattr"):
        return True
    if isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.IsNot) and "." in ast.unparse(test.left):
        return True
    return isinstance(test, ast.Compare) and _mentions(test, name)
