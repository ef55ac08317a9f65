"""The administrator of an embedded cluster: the user, the token, and the kubeconfig that carries it.

A cluster that keeps its objects in a folder keeps the token there too, so that a kubeconfig outlives a restart. Files
are readable by their owner only.
"""

from __future__ import annotations

import re
import secrets
from pathlib import Path

from gangline.client import User
from gangline.cluster.server.access.identity import kubeconfig
from gangline.cluster.server.store.private_files import alone, private_folder, read_private, write_private
from gangline.errors import DataFolderError

ADMIN = User("admin", ("system:masters", "system:authenticated"))


def admin_token(folder: Path | None) -> str:
    """The administrator's token: the one that the folder keeps, or a new one."""
    if folder is None:
        return secrets.token_urlsafe(32)
    path = private_folder(folder) / "admin.token"
    with alone(folder):
        kept = read_private(path).strip()
        if not kept:
            kept = secrets.token_urlsafe(32).encode()
            write_private(path, kept)
    if not re.fullmatch(rb"[A-Za-z0-9_-]{43}", kept):
        raise DataFolderError(
            f"{path} holds no token of this program: move it away, and the next start makes a new one."
        )
    return kept.decode()


def write_admin_kubeconfig(path: Path, url: str, authority: bytes, token: str) -> Path:
    """A kubeconfig of the administrator, in a folder that is private where nothing else lives in it."""
    if not path.parent.exists() or not {item.name for item in path.parent.iterdir()} - {"data", path.name}:
        private_folder(path.parent)
    write_private(path, kubeconfig(url, authority, token).encode())
    return path.resolve()
