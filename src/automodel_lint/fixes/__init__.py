"""Repairs as edits of the text: what a rule proposes, applied without losing a comment or a blank.

``draft`` is a file as a place to edit, ``brackets``, ``statements``, ``imports`` and ``text`` make the steps of a
repair, ``edits`` puts them together, ``shapes`` gives them the form that others want; ``repairing`` repairs a checkout.
"""
