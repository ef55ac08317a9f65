"""Around the core: watch events into the model, cycles in a thread of their own, decisions out as writes, pages and metrics."""
