"""How much a queue may hold, and what is kept for gangs that wait: refusals before any node is tried. One policy per
file; `../__init__.py` is the table."""
