"""Whether a node can do, and which nodes are tried together. One policy per file; `../__init__.py` is the table."""
