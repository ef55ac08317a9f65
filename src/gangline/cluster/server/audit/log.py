"""The audit log: every request as one line of JSON in a file that only its owner may read.

server.py notes each answer; events.py says what a line holds. Lines reach the file within a second. A file that
has grown to `LARGEST` becomes FILE.1, in place of the one before it. A disk that takes no more ends the log, not the
server: that is logged once."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

import msgspec

from gangline.client.wire import Request, Response, User
from gangline.cluster.server.audit.events import audit_event
from gangline.errors import ApiError, DataFolderError

log = logging.getLogger(__name__)
LARGEST = 100 * 1024 * 1024
FLUSH_SECONDS = 1.0


class AuditLog:
    def __init__(self, path: Path, identify: Callable[[Request], User], new_mark: Callable[[], str]) -> None:
        self._path, self._identify, self._new_mark = path, identify, new_mark
        self._file: BinaryIO | None = None
        self._flush: asyncio.TimerHandle | None = None
        self._largest = LARGEST

    def open(self) -> None:
        try:
            handle = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        except OSError as error:
            raise DataFolderError(f"cannot write the audit log {self._path}: {os.strerror(error.errno or 0)}") from None
        self._file = os.fdopen(handle, "ab", buffering=64 * 1024)

    def close(self) -> None:
        if self._flush is not None:
            self._flush.cancel()
        if self._file is not None:
            self._file.close()
            self._file = None

    def note(self, request: Request, response: Response, times: tuple[float, float]) -> None:
        if self._file is None:
            return
        user = None
        with contextlib.suppress(ApiError):
            user = self._identify(request)
        line = msgspec.json.encode(audit_event(request, response, user, times, self._new_mark()))
        try:
            self._write(self._file, line + b"\n")
        except (OSError, DataFolderError) as error:
            log.error("no more requests are written down in %s: %s", self._path, error)
            self._file = None

    def _write(self, file: BinaryIO, line: bytes) -> None:
        file.write(line)
        if file.tell() >= self._largest:
            file.close()
            self._path.replace(self._path.with_name(f"{self._path.name}.1"))
            self.open()
        elif self._flush is None:
            self._flush = asyncio.get_running_loop().call_later(FLUSH_SECONDS, self._flushed)

    def _flushed(self) -> None:
        self._flush = None
        if self._file is not None:
            with contextlib.suppress(OSError):
                self._file.flush()
