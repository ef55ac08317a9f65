"""Who goes first: gangs, groups of a gang, tasks. One policy per file; `../__init__.py` is the table."""
