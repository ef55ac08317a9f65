"""How single values are read and judged: names, patterns, times, documents. Pure."""
