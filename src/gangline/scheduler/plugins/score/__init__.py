"""Which of the nodes and devices that can do is best. One policy per file; `../__init__.py` is the table."""
