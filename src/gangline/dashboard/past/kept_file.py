"""What the page remembers, kept in one file over restarts: written whole beside the old one and then put in its place.

Called in a thread by keeper.py. A file that is damaged, of another version or too large says nothing. It never keeps
more than memory.py holds, which is bounded, and its file is for its owner's eyes only."""

from __future__ import annotations

import logging
import os
from pathlib import Path

import msgspec

from gangline.dashboard.past.data import KeptPast

log = logging.getLogger(__name__)
NAME = "past.json"
LARGEST = 128 * 1024 * 1024


def read_kept(folder: Path) -> KeptPast | None:
    file = folder / NAME
    try:
        if file.stat().st_size > LARGEST:
            return None
        return msgspec.json.decode(file.read_bytes(), type=KeptPast)
    except FileNotFoundError:
        return None
    except (OSError, msgspec.MsgspecError, ValueError) as error:
        log.warning("what was kept in %s cannot be read: %s", file, error)
        return None


def write_kept(folder: Path, past: KeptPast) -> None:
    """What cannot be written is logged and lost; the page goes on."""
    beside = folder / f"{NAME}.new"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with open(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(msgspec.json.encode(past))
        os.replace(beside, folder / NAME)
    except OSError as error:
        log.warning("the past cannot be kept in %s: %s", folder, error)
