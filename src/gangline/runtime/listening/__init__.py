"""Who may hold how much of a component's listener."""
