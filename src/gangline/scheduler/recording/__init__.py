"""The flight recorder: what each cycle of a scheduler was given and what it decided, on disk, told and decided again.

`recorder.py` writes and `files.py` reads the disk; the others think. docs/guide/history.md is for users."""
