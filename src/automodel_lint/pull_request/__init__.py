"""Findings on a pull request: what a result becomes there. ``docs/pull-requests.md`` says what it looks like.

``result`` and ``event`` read what the command is given, ``github`` talks to the API, ``diff`` and ``state`` say what is
there already, ``own_lint`` confirms findings and makes suggestions, ``plan`` decides, ``wording`` writes, ``check_run``
and ``posting`` carry it out. Nothing of this is imported by the rest of the linter.
"""
