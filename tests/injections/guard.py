"""NAM203-NAM207: the guard of the constructor is gone, late, or asks about something else."""

from __future__ import annotations

import ast

from . import Injected, Injection
from .source import cut, first_line, method, put, put_below, segment, swapped, without_docstring

GUARD = "reject_unsupported_tie_word_embeddings"
PLAIN = f"{GUARD}(type(self), config)"


def _guard(text: str, cls: str) -> ast.Expr | None:
    """The guard, if it is a statement of the constructor and written as the repair writes it."""
    init = method(text, cls, "__init__")
    for statement in init.body if init else []:
        if isinstance(statement, ast.Expr) and segment(text, statement) == PLAIN:
            return statement
    return None


def _first(text: str, cls: str) -> ast.Expr | None:
    """The guard, if it is the first statement."""
    guard = _guard(text, cls)
    return guard if guard and _rest(text, cls)[0] is guard else None


def _rest(text: str, cls: str) -> list[ast.stmt]:
    init = method(text, cls, "__init__")
    assert init is not None
    return without_docstring(init)


def _alone(text: str, cls: str, guard: ast.Expr) -> bool:
    """Whether the guard is first and nothing, not even a comment, parts it from what it must follow."""
    init = method(text, cls, "__init__")
    return _first(text, cls) is guard and init is not None and not _between(text, init, guard)


def _between(text: str, init: ast.FunctionDef, guard: ast.Expr) -> str:
    """Whatever text stands between the signature or docstring and the guard."""
    lines = text.split("\n")[: first_line(guard) - 1]
    above = lines[-1].strip()
    documented = without_docstring(init) is not init.body
    return "" if above.endswith('"""' if documented else ":") and not above.startswith("#") else above


def _inverse(text: str, cls: str, guard: ast.Expr) -> str | None:
    return text if _alone(text, cls, guard) else None


def removed(text: str, cls: str) -> Injected | None:
    """The guard is not called."""
    guard = _guard(text, cls)
    return Injected(cut(text, guard), _inverse(text, cls, guard)) if guard else None


def conditional(text: str, cls: str) -> Injected | None:
    """The guard is called under a condition."""
    guard = _guard(text, cls)
    return Injected(swapped(text, guard, _nested(guard, "if config is not None:")), None) if guard else None


def in_a_loop(text: str, cls: str) -> Injected | None:
    """The guard is called once a layer: never, where there is none."""
    guard = _guard(text, cls)
    loop = "for _ in range(config.num_hidden_layers):"
    return Injected(swapped(text, guard, _nested(guard, loop)), None) if guard else None


def _nested(guard: ast.Expr, head: str) -> str:
    return f"{head}\n{' ' * (guard.col_offset + 4)}{PLAIN}"


def behind_everything(text: str, cls: str) -> Injected | None:
    """The guard is the last statement of the constructor."""
    guard = _first(text, cls)
    if guard is None:
        return None
    moved = put_below(text, _rest(text, cls)[-1], PLAIN)
    return Injected(cut(moved, guard), _inverse(text, cls, guard))


def behind_base(text: str, cls: str) -> Injected | None:
    """The guard follows the constructor of the base, which gets the config."""
    guard = _first(text, cls)
    if guard is None:
        return None
    for statement in _rest(text, cls):
        if segment(text, statement).startswith("super().__init__(config"):
            return Injected(cut(put_below(text, statement, PLAIN), guard), _inverse(text, cls, guard))
    return None


def behind_change(text: str, cls: str) -> Injected | None:
    """The config is changed in front of the guard."""
    return _with_statement(text, cls, "config.use_cache = False")


def behind_setattr(text: str, cls: str) -> Injected | None:
    """The config is changed in front of the guard, by name."""
    return _with_statement(text, cls, 'setattr(config, "use_cache", False)')


def behind_own_config(text: str, cls: str) -> Injected | None:
    """The config is kept first."""
    return _with_statement(text, cls, "self.config = config")


def behind_read(text: str, cls: str) -> Injected | None:
    """A field is read first."""
    return _with_statement(text, cls, "width = config.hidden_size")


def behind_call(text: str, cls: str) -> Injected | None:
    """Something is called first that has nothing to do with the config."""
    return _with_statement(text, cls, 'print("building the model")')


def _with_statement(text: str, cls: str, statement: str) -> Injected | None:
    """A new statement stands before the guard, and must stand behind it after the repair."""
    guard = _first(text, cls)
    if guard is None:
        return None
    after = put_below(text, guard, statement) if _alone(text, cls, guard) else None
    return Injected(put(text, guard, statement), after)


def text_config(text: str, cls: str) -> Injected | None:
    """The guard looks at the text model's part of the config."""
    return _called(text, cls, f"{GUARD}(type(self), config.text_config)")


def text_config_if_any(text: str, cls: str) -> Injected | None:
    """The same for configs that may not have that part."""
    return _called(text, cls, f'{GUARD}(type(self), getattr(config, "text_config", config))')


def text_config_by_keyword(text: str, cls: str) -> Injected | None:
    """The same, by keyword."""
    return _called(text, cls, f"{GUARD}(type(self), config=config.text_config)", f"{GUARD}(type(self), config=config)")


def class_name(text: str, cls: str) -> Injected | None:
    """The class is named, so that a subclass is judged by its base's policy."""
    return _called(text, cls, f"{GUARD}({cls}, config)")


def class_cell(text: str, cls: str) -> Injected | None:
    """The same through the cell that methods have."""
    return _called(text, cls, f"{GUARD}(__class__, config)")


def class_by_keyword(text: str, cls: str) -> Injected | None:
    """The same, by keyword."""
    both = f"{GUARD}(model_cls={{}}, config=config)"
    return _called(text, cls, both.format(cls), both.format("type(self)"))


def _called(text: str, cls: str, call: str, after: str = PLAIN) -> Injected | None:
    guard = _guard(text, cls)
    return Injected(swapped(text, guard, call), swapped(text, guard, after)) if guard else None


INJECTIONS = [
    Injection("NAM203", "removed", removed),
    Injection("NAM203", "conditional", conditional),
    Injection("NAM203", "in-a-loop", in_a_loop),
    Injection("NAM204", "behind-everything", behind_everything),
    Injection("NAM204", "behind-base", behind_base),
    Injection("NAM204", "behind-change", behind_change),
    Injection("NAM204", "behind-setattr", behind_setattr),
    Injection("NAM205", "behind-own-config", behind_own_config),
    Injection("NAM205", "behind-read", behind_read),
    Injection("NAM205", "behind-call", behind_call),
    Injection("NAM206", "text-config", text_config),
    Injection("NAM206", "text-config-if-any", text_config_if_any),
    Injection("NAM206", "text-config-by-keyword", text_config_by_keyword),
    Injection("NAM207", "class-name", class_name),
    Injection("NAM207", "class-cell", class_cell),
    Injection("NAM207", "class-by-keyword", class_by_keyword),
]
