"""Files that only their owner may read: folders 0700, files 0600, and secrets written whole or not at all.

A secret is written beside its place, brought to the disk, and then renamed into place: whoever reads it finds all of
it or none, whenever the writer was killed. A file with wider modes is tightened and logged. What is in a file is the
business of the caller.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import logging
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from gangline.errors import DataFolderError

log = logging.getLogger(__name__)
_HALF = ".part"
"""What the name of a file that is being written ends with."""


def private_folder(folder: Path) -> Path:
    """Make a folder, and those above it that are missing, for its owner only; one that is open to others is closed."""
    with file_errors(folder, "make"):
        for missing in [item for item in (*reversed(folder.parents), folder) if not item.exists()]:
            missing.mkdir(mode=0o700, exist_ok=True)
        if not folder.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, "")
        tighten(folder, 0o700)
        if not os.access(folder, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, "")
    return folder


def tighten(path: Path, mode: int) -> None:
    """Take away what others than the owner may do with a file or folder, if there is anything to take."""
    wide = stat.S_IMODE(path.stat().st_mode)
    if wide & ~mode & 0o777:
        path.chmod(wide & mode)
        log.warning("%s was open to others (mode %03o); it is now %03o", path, wide, wide & mode)


def check_regular(path: Path) -> None:
    """Whoever opens a pipe waits for its other end, maybe for ever; a device is no place for ours either."""
    mode = path.stat().st_mode
    if not stat.S_ISREG(mode):
        raise OSError(errno.EISDIR if stat.S_ISDIR(mode) else errno.EEXIST, "")


def write_private(path: Path, content: bytes) -> None:
    """Put a whole file in place, readable by its owner only, and wait for the disk."""
    half = path.with_name(path.name + _HALF)
    with file_errors(path, "write"):
        half.unlink(missing_ok=True)
        handle = os.open(half, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            half.rename(path)
        except BaseException:
            half.unlink(missing_ok=True)
            raise
        _sync_folder(path.parent)


def read_private(path: Path) -> bytes:
    """What a file holds; nothing if there is none, which is what a writer that was killed leaves."""
    with file_errors(path, "read"):
        try:
            check_regular(path)
            tighten(path, 0o600)
            return path.read_bytes()
        except FileNotFoundError:
            return b""


@contextlib.contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Nobody else makes secrets in a folder meanwhile."""
    with file_errors(folder, "lock"):
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        fcntl.flock(handle, fcntl.LOCK_EX)
    try:
        yield
    finally:
        os.close(handle)


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextlib.contextmanager
def file_errors(path: Path, what: str) -> Iterator[None]:
    """An error of the operating system becomes one sentence that says what to do about it."""
    try:
        yield
    except OSError as error:
        number = error.errno or 0
        raise DataFolderError(f"cannot {what} {path} ({os.strerror(number)}): {_HELP.get(number, _RIGHTS)}.") from None


_RIGHTS = "give the account this runs under the right to, or choose another folder with GANGLINE_HOME"
_SPACE = "free space on that disk, or choose another folder with GANGLINE_HOME"
_AWAY = "move away what is in its place, or choose another folder with GANGLINE_HOME"
_HELP = {
    errno.ENOSPC: _SPACE,
    errno.EDQUOT: _SPACE,
    errno.ENOTDIR: _AWAY,
    errno.EISDIR: _AWAY,
    errno.EEXIST: _AWAY,
    errno.ELOOP: _AWAY,
    errno.ENOTEMPTY: _AWAY,
}
