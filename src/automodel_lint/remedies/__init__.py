"""What mends a finding: for each family of rules, the repairs that it proposes, as plain data.

A rule says what is wrong; the function here says what to write instead, or ``None`` where that cannot be told. Repairs
are built from the same things of the domain as the findings, and never touch text.
"""
