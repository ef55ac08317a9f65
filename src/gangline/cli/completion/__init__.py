"""What a shell may complete, and in which words kubectl asks its plugins for it."""
