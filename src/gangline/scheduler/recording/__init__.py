"""The flight recorder: what each cycle of a scheduler was given and what it decided, on disk, shown and replayed.

`recorder.py` writes and `files.py` reads the disk; the others think. docs/guide/history.md is for users."""
