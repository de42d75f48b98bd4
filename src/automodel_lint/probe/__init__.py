"""The runtime probe: constructs each registered class in a process of its own and looks at what only running shows.

This package is the half that runs in the linter's interpreter: it schedules, enforces limits, and turns what the other
half saw into findings. ``worker`` is that other half; it has torch, and of the linter only ``protocol``.
"""
