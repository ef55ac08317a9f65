"""How much each queue used in the past: windows and decay (pure), our own store, Prometheus, and what keeps them
fresh."""
