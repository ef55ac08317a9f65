"""List + watch → a copy of one kind, in step with the server."""
