"""Who may be evicted, and which victims are tried together. One policy per file; `../__init__.py` is the table."""
