"""What a process remembers between two looks, and how it finds objects in its cache. Forgotten at a restart."""
