"""When work is expected to end, when a gang could start, and who may start before it."""
