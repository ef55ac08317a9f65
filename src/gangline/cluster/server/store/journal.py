"""Durability: every change goes into an sqlite file (WAL) before its writer is answered.

Writes of one turn of the loop share one commit, made by the loop itself: handing them to a thread and back costs more
than the commit, which waits for no disk. What does wait (moving commits from the write-ahead file into the database)
has a thread. Should the write-ahead file come near its bound, commits rest until that thread has emptied it: writers
wait, readers do not. The folder is locked while it is open, and its owner's only. A folder that is damaged, newer than
this program or in use is refused and left as it is."""

from __future__ import annotations

import asyncio
import fcntl
import os
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import accumulate
from pathlib import Path
from typing import Any

from gangline.cluster.server.store.private_files import check_regular, file_errors, private_folder, tighten
from gangline.cluster.server.store.shelf import Place, ShelfKey
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
LAST_REVISION = 2**63
"""Clients count with 64 bits."""
_AT_ONCE = 1000
MEGABYTE = 1024 * 1024
WAL_BOUND = 64 * MEGABYTE
"""The write-ahead file never grows beyond this."""
_TIDY_AFTER = 8 * MEGABYTE
_REST_AT = 32 * MEGABYTE
_COMMIT_BYTES = 8 * MEGABYTE
"""Of objects in one commit: with the pages it touches, it fits between where commits rest and the bound."""


class SqliteJournal:
    """`durable(revision)` is called after each commit, `failed(error)` if it cannot go on."""

    def __init__(self, folder: Path, durable: Callable[[int], None], failed: Callable[[Exception], None]) -> None:
        self._folder = folder
        self._durable = durable
        self._failed = failed
        self._entries: list[_Entry] = []
        self._due = self._broken = self._resting = False
        self._lock = _lock(folder)
        try:
            self._database = _open(folder)
        except BaseException:
            os.close(self._lock)
            raise
        self._ahead = folder / f"{FILE}-wal"
        self._tidier = _Tidier(folder / FILE, self._rested)

    def revision(self) -> int:
        try:
            row = self._database.execute("SELECT body FROM objects WHERE grp = ? AND plural = ?", _REVISION).fetchone()
        except sqlite3.DatabaseError as error:
            raise damaged(self._folder, error) from None
        if row is None:
            raise damaged(self._folder, "its revision is missing")
        try:
            latest = int(row[0])
        except (TypeError, ValueError):
            raise damaged(self._folder, "its revision is no number") from None
        if not 0 < latest < LAST_REVISION:
            raise damaged(self._folder, f"its revision is {latest}")
        return latest

    def rows(self) -> Iterator[Row]:
        """Everything stored. Read it before `start`."""
        try:
            for group, plural, namespace, name, body in self._database.execute("SELECT * FROM objects"):
                if (group, plural) != _REVISION:
                    yield (group, plural), (namespace, name), body
        except sqlite3.DatabaseError as error:
            raise damaged(self._folder, error) from None

    def start(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._tidier.start()

    def append(self, revision: int, key: ShelfKey, place: Place, body: bytes | None) -> None:
        self._entries.append((revision, key, place, body))
        self._schedule()

    def _schedule(self) -> None:
        if self._entries and not self._due and not self._broken and not self._resting:
            self._due = True
            self._loop.call_soon(self._turn)

    def flush(self) -> None:
        """Commit everything now, and wait for the disk where the write-ahead file comes near its bound."""
        while self._entries and not self._broken:
            self._commit_some()
            if not self._broken and self._ahead.stat().st_size > _REST_AT:
                _checkpoint(self._database, "TRUNCATE")

    def close(self) -> None:
        """Give the folder back. `flush` first."""
        self._tidier.close()
        self._database.close()
        os.close(self._lock)

    def _turn(self) -> None:
        """Commit what has gathered in this turn of the loop."""
        self._due = False
        if self._entries and not self._broken:
            self._commit_some()
            self._tidy()
            self._schedule()

    def _commit_some(self) -> None:
        count = _how_many(self._entries)
        entries, self._entries = self._entries[:count], self._entries[count:]
        try:
            self._commit(entries)
        except sqlite3.Error as error:
            self._fail(error)
        else:
            self._durable(entries[-1][0])

    def _tidy(self) -> None:
        """Have the write-ahead file emptied before it is too large. That it is gone nobody else would notice: sqlite
        goes on writing to a file that no start will find."""
        try:
            size = self._ahead.stat().st_size
        except OSError as error:
            self._stop(
                f"{self._ahead} is gone ({os.strerror(error.errno or 0)}), taken away from a running server. Nothing "
                f"more is "
                "written; restore the folder from a copy, or start empty."
            )
            return
        self._resting = size > _REST_AT and not self._broken
        self._tidier.note(size, self._resting)

    def _rested(self, error: sqlite3.Error | None) -> None:
        """Called by the tidier's thread when the write-ahead file is empty, or cannot be emptied."""
        self._loop.call_soon_threadsafe(self._go_on, error)

    def _go_on(self, error: sqlite3.Error | None) -> None:
        self._resting = False
        if error is not None:
            self._fail(error)
        self._schedule()

    def _fail(self, error: sqlite3.Error) -> None:
        self._stop(
            f"{self._folder}: the journal cannot be written: {error}. Nothing that was acknowledged is lost; free "
            f"space "
            "or repair the disk, then start again."
        )

    def _stop(self, why: str) -> None:
        self._broken = True
        self._failed(DataFolderError(why))

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
                self._put(kept[start : start + _AT_ONCE])
            for start in range(0, len(gone), _AT_ONCE):
                self._drop(gone[start : start + _AT_ONCE])

    def _put(self, rows: list[tuple[Any, ...]]) -> None:
        values = ", ".join(["(?, ?, ?, ?, ?)"] * len(rows))
        self._database.execute(
            f"INSERT OR REPLACE INTO objects VALUES {values}", [value for row in rows for value in row]
        )

    def _drop(self, rows: list[tuple[Any, ...]]) -> None:
        values = ", ".join(["(?, ?, ?, ?)"] * len(rows))
        self._database.execute(
            f"DELETE FROM objects WHERE (grp, plural, namespace, name) IN (VALUES {values})",
            [value for row in rows for value in row],
        )


def _how_many(entries: list[_Entry]) -> int:
    """The entries of the next commit: not too many, and not too large together, but one at least."""
    sizes = accumulate(len(entry[3] or b"") for entry in entries[:_AT_ONCE])
    return max(1, sum(1 for size in sizes if size <= _COMMIT_BYTES))


class _Tidier:
    """Brings what the write-ahead file holds into the database, beside the server: only this waits for the disk."""

    def __init__(self, file: Path, rested: Callable[[sqlite3.Error | None], None]) -> None:
        self._file = file
        self._rested = rested
        self._tidied = 0
        """The size of the write-ahead file when it was last seen to."""
        self._wanted = threading.Event()
        self._stopping = self._emptying = False
        self._thread = threading.Thread(target=self._run, name="journal", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def note(self, size: int, resting: bool) -> None:
        """The write-ahead file is so large; `resting`: nobody writes until it is empty."""
        if size < self._tidied:
            self._tidied = 0
        if resting or size > self._tidied + _TIDY_AFTER:
            self._tidied, self._emptying = size, resting
            self._wanted.set()

    def close(self) -> None:
        self._stopping = True
        self._wanted.set()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        with closing(sqlite3.connect(self._file, timeout=1.0, isolation_level=None)) as database:
            while self._wanted.wait() and not self._stopping:
                self._wanted.clear()
                emptying, self._emptying = self._emptying, False
                error = _checkpoint(database, "TRUNCATE" if emptying else "PASSIVE")
                if emptying:
                    self._rested(error)


def _checkpoint(database: sqlite3.Connection, how: str) -> sqlite3.Error | None:
    try:
        database.execute(f"PRAGMA wal_checkpoint({how})").fetchone()
    except sqlite3.Error as error:
        return error
    return None


def _lock(folder: Path) -> int:
    private_folder(folder)
    with file_errors(folder / LOCK, "open"):
        handle = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        raise DataFolderError(
            f"{folder} is in use by another server: stop that one, or choose another folder."
        ) from None
    return handle


def _open(folder: Path) -> sqlite3.Connection:
    path = folder / FILE
    with file_errors(path, "open"):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    for item in (folder / LOCK, *folder.glob(f"{FILE}*")):
        with file_errors(item, "open"):
            check_regular(item)
            tighten(item, 0o600)
    database = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
    try:
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA synchronous = NORMAL")
        database.execute("PRAGMA wal_autocheckpoint = 0")
        if _is_unbegun(database):
            database.executescript(f"BEGIN; {_SCHEMA} PRAGMA user_version = {FORMAT}; COMMIT;")
        _check(database, folder)
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    except sqlite3.DatabaseError as error:
        database.close()
        raise (_full(folder, error) if _is_full(error) else damaged(folder, error)) from None
    except DataFolderError:
        database.close()
        raise
    return database


def _is_unbegun(database: sqlite3.Connection) -> bool:
    """Nothing in it yet: new, or its making was cut off."""
    tables = database.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    return not tables and not database.execute("PRAGMA user_version").fetchone()[0]


def _is_full(error: sqlite3.DatabaseError) -> bool:
    try:
        name = error.sqlite_errorname
    except AttributeError:  # it was raised here or by Python, not by SQLite
        return False
    return name.startswith(("SQLITE_FULL", "SQLITE_IOERR", "SQLITE_READONLY", "SQLITE_CANTOPEN"))


def _full(folder: Path, error: Exception) -> DataFolderError:
    return DataFolderError(
        f"{folder}: the journal cannot be opened: {error}. Free space or repair the disk, then start again. "
        "Nothing that was acknowledged is lost."
    )


def _check(database: sqlite3.Connection, folder: Path) -> None:
    version = database.execute("PRAGMA user_version").fetchone()[0]
    if version > FORMAT:
        raise DataFolderError(
            f"{folder} was written by a newer program (format {version}, this one knows {FORMAT}): use that program, "
            "or choose another folder. Nothing was changed."
        )
    if version < FORMAT:
        raise DataFolderError(
            f"{folder} holds no journal of this program (format {version}): move it away, or choose another "
            "folder. Nothing was changed."
        )
    answer = database.execute("PRAGMA quick_check(1)").fetchone()[0]
    if answer != "ok":
        raise sqlite3.DatabaseError(answer)


def damaged(folder: Path, error: Exception | str) -> DataFolderError:
    """In one line, whatever sqlite has to say."""
    why = " ".join(str(error).split())
    return DataFolderError(
        f"{folder} is damaged ({why}): restore it from a copy, or move it away and start empty. Nothing was changed."
    )
