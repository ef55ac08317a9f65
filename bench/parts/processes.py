"""Processes of this machine that a bench looks at: their processor time and their memory, as Linux tells them. Starts
nothing."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path


class Beside:
    """Another process of this machine. Of one that has ended, what was seen last is told."""

    def __init__(self, name: str, pid: int) -> None:
        self.name, self._pid = name, pid
        self._memory, self._seconds = 0, 0.0

    def memory(self) -> int:
        """MiB, at its largest."""
        with suppress(FileNotFoundError, ProcessLookupError, StopIteration):
            text = Path(f"/proc/{self._pid}/status").read_text()
            self._memory = int(next(line for line in text.splitlines() if line.startswith("VmHWM")).split()[1]) // 1024
        return self._memory

    def seconds(self) -> float:
        """Processor time so far."""
        with suppress(FileNotFoundError, ProcessLookupError):
            fields = Path(f"/proc/{self._pid}/stat").read_text().rpartition(")")[2].split()
            self._seconds = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        return self._seconds
