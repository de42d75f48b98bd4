"""Runs constructors symbolically: what ``Cls(config)`` would build, from source alone, over a config nobody has seen.

An abstract interpreter over syntax trees. Values are in :mod:`.values`, what they are stored in and how the two sides
of a branch are joined in :mod:`.heap`, statements, expressions and calls in modules of their own, and :mod:`.flatten`
reads the finished object off as a :class:`~automodel_lint.inference.module_tree.ModuleTree`. Nothing is imported or
executed. Where the source does not decide, both sides are kept with the condition; where it cannot be followed, the
object is marked as opaque.
"""
