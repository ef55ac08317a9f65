"""The embedded API server: from bytes on a connection to stored objects and back. `server.py` is the entry."""
