"""Source files in odd layouts, and what a repair of them must come to, told by the syntax tree alone.

``ink`` has the small pieces of text, ``writer`` puts files together of them. ``steps`` and ``bracket_steps`` choose
places of a file (``sites``) and say what the tree must be afterwards; ``judge`` holds the repaired text against it.
``forms`` lays real files out anew.
"""
