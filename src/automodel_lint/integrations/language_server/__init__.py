"""The language server: diagnostics while typing, repairs and suppressions as code actions, rule pages on hover.

``server`` speaks the protocol, ``checkouts`` and ``schedule`` say what is linted when, ``live`` lints one checkout
again and again (on ``memory`` and ``files``, which keep what has not changed), and ``diagnostics``, ``actions``,
``hover`` and ``positions`` put what was found into the words of the protocol.
"""
