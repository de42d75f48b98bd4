"""Small models, one construct a file, that really are constructed and whose trees are compared with what comes out.

Each module has ``CASES``: for every class the configurations to construct it with, chosen so that each side of each
condition is taken by one of them, and, where a tree must admit that it does not know, ``OPAQUE``: for the name of a
class the names of the nodes where.
"""
