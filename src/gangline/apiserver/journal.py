"""Durability: every change goes into an sqlite file (WAL) before its writer is answered.

Writes of one turn of the loop share one commit, made by the loop itself: handing them to a thread and back costs more than the commit,
which waits for no disk. What does wait (moving commits from the write-ahead file into the database) has a thread. The folder is locked
while it is open. A folder that is damaged, newer than this program or in use is refused and left as it is.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from gangline.apiserver.store import Place, ShelfKey
from gangline.errors import DataFolderError

FORMAT = 1
FILE, LOCK = "objects.sqlite", "lock"
Row = tuple[ShelfKey, Place, bytes]
_Entry = tuple[int, ShelfKey, Place, bytes | None]

_SCHEMA = """
CREATE TABLE objects (grp TEXT, plural TEXT, namespace TEXT, name TEXT, body BLOB NOT NULL,
                      PRIMARY KEY (grp, plural, namespace, name)) WITHOUT ROWID;
INSERT INTO objects VALUES ('', '#revision', '', '', '1');
"""
_REVISION = ("", "#revision")
"""A row that is no object: the latest revision, written with whatever it belongs to."""
_AT_ONCE = 1000
_TIDY_AFTER = 8 * 1024 * 1024


class SqliteJournal:
    """`durable(revision)` is called after each commit, `failed(error)` if it cannot go on."""

    def __init__(self, folder: Path, durable: Callable[[int], None], failed: Callable[[Exception], None]) -> None:
        self._folder = folder
        self._durable = durable
        self._failed = failed
        self._entries: list[_Entry] = []
        self._due = self._broken = False
        self._lock = _lock(folder)
        try:
            self._database = _open(folder)
        except BaseException:
            os.close(self._lock)
            raise
        self._tidier = _Tidier(folder / FILE)

    def revision(self) -> int:
        found = self._database.execute("SELECT body FROM objects WHERE grp = ? AND plural = ?", _REVISION).fetchone()
        if found is None:
            raise _damaged(self._folder, "its revision is missing")
        return int(found[0])

    def rows(self) -> Iterator[Row]:
        """Everything stored. Read it before `start`."""
        try:
            for group, plural, namespace, name, body in self._database.execute("SELECT * FROM objects"):
                if (group, plural) != _REVISION:
                    yield (group, plural), (namespace, name), body
        except sqlite3.DatabaseError as error:
            raise _damaged(self._folder, error) from None

    def start(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._tidier.start()

    def append(self, revision: int, key: ShelfKey, place: Place, body: bytes | None) -> None:
        self._entries.append((revision, key, place, body))
        if not self._due and not self._broken:
            self._due = True
            self._loop.call_soon(self._turn)

    def flush(self) -> None:
        """Commit everything now."""
        while self._entries and not self._broken:
            self._turn()

    def close(self) -> None:
        """Give the folder back. `flush` first."""
        self._tidier.close()
        self._database.close()
        os.close(self._lock)

    def _turn(self) -> None:
        """Commit what has gathered in this turn of the loop."""
        entries, self._entries = self._entries[:_AT_ONCE], self._entries[_AT_ONCE:]
        self._due = bool(self._entries)
        if self._due:
            self._loop.call_soon(self._turn)
        if not entries or self._broken:
            return
        try:
            self._commit(entries)
        except sqlite3.Error as error:
            self._broken = True
            self._failed(DataFolderError(f"{self._folder}: the journal cannot be written: {error}. Nothing that was "
                                         "acknowledged is lost; free space or repair the disk, then start again."))
            return
        self._tidier.note(sum(len(entry[3] or b"") for entry in entries))
        self._durable(entries[-1][0])

    def _commit(self, entries: list[_Entry]) -> None:
        latest: dict[tuple[ShelfKey, Place], bytes | None] = {}
        for _, key, place, body in entries:
            latest[key, place] = body
        kept = [(*key, *place, body) for (key, place), body in latest.items() if body is not None]
        kept.append((*_REVISION, "", "", str(entries[-1][0]).encode()))
        gone = [(*key, *place) for (key, place), body in latest.items() if body is None]
        if not gone and len(kept) <= _AT_ONCE:
            self._put(kept)
            return
        with self._database:
            self._database.execute("BEGIN")
            for start in range(0, len(kept), _AT_ONCE):
                self._put(kept[start: start + _AT_ONCE])
            for start in range(0, len(gone), _AT_ONCE):
                self._drop(gone[start: start + _AT_ONCE])

    def _put(self, rows: list[tuple[Any, ...]]) -> None:
        values = ", ".join(["(?, ?, ?, ?, ?)"] * len(rows))
        self._database.execute(f"INSERT OR REPLACE INTO objects VALUES {values}", [value for row in rows for value in row])

    def _drop(self, rows: list[tuple[Any, ...]]) -> None:
        values = ", ".join(["(?, ?, ?, ?)"] * len(rows))
        self._database.execute(f"DELETE FROM objects WHERE (grp, plural, namespace, name) IN (VALUES {values})",
                               [value for row in rows for value in row])


class _Tidier:
    """Brings what the write-ahead file holds into the database, beside the server: only this waits for the disk."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._written = 0
        self._wanted = threading.Event()
        self._stopping = False
        self._thread = threading.Thread(target=self._run, name="journal", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def note(self, size: int) -> None:
        self._written += size
        if self._written > _TIDY_AFTER:
            self._written = 0
            self._wanted.set()

    def close(self) -> None:
        self._stopping = True
        self._wanted.set()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        database = sqlite3.connect(self._file, isolation_level=None)
        while self._wanted.wait() and not self._stopping:
            self._wanted.clear()
            with suppress(sqlite3.Error):
                database.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
        database.close()


def _lock(folder: Path) -> int:
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    handle = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        raise DataFolderError(f"{folder} is in use by another server: stop that one, or choose another folder.") from None
    return handle


def _open(folder: Path) -> sqlite3.Connection:
    path = folder / FILE
    fresh = not path.exists()
    database = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
    try:
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA synchronous = NORMAL")
        database.execute("PRAGMA wal_autocheckpoint = 0")
        if fresh:
            database.executescript(f"BEGIN; {_SCHEMA} PRAGMA user_version = {FORMAT}; COMMIT;")
        _check(database, folder)
    except sqlite3.DatabaseError as error:
        database.close()
        raise _damaged(folder, error) from None
    except DataFolderError:
        database.close()
        raise
    return database


def _check(database: sqlite3.Connection, folder: Path) -> None:
    found = database.execute("PRAGMA user_version").fetchone()[0]
    if found > FORMAT:
        raise DataFolderError(f"{folder} was written by a newer program (format {found}, this one knows {FORMAT}): use that program, "
                              "or choose another folder. Nothing was changed.")
    if found < FORMAT:
        raise DataFolderError(f"{folder} holds no finished journal (format {found}): it was not written by this program, or its "
                              "making was cut off. Move it away, or choose another folder. Nothing was changed.")
    answer = database.execute("PRAGMA quick_check(1)").fetchone()[0]
    if answer != "ok":
        raise sqlite3.DatabaseError(answer)


def _damaged(folder: Path, error: Exception | str) -> DataFolderError:
    return DataFolderError(f"{folder} is damaged ({error}): restore it from a copy, or move it away and start empty. Nothing was changed.")
