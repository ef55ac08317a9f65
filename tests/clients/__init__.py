"""Programs that others wrote, as clients of the embedded server."""
