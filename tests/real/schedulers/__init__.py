"""Third-party schedulers for the proof of the backends: one folder each with a Go module that builds it, and what it is
told at start."""
