"""How a process that runs a component is set up: its memory, and how often its event loop wakes up."""
