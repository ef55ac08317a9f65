"""What a browser loads with a page, and the policy that lets it use that and nothing else.

The style sheet is inside every page, so that the first paint needs no second request; scripts are modules of the folder
assets/, at addresses that name their content, so that a browser may keep them. Pure but for reading the files once."""

from __future__ import annotations

import base64
import hashlib
from importlib.resources import files

_ASSETS = files("gangline.dashboard") / "assets"
STYLE = (_ASSETS / "page.css").read_text("utf-8")
SCRIPTS = {
    file.name: file.read_bytes()
    for file in sorted(_ASSETS.iterdir(), key=lambda file: file.name)
    if file.name.endswith(".js")
}
DIGEST = hashlib.sha256(b"".join(SCRIPTS.values())).hexdigest()[:12]


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


POLICY = "; ".join(
    (
        "default-src 'none'",
        f"style-src {_hash(STYLE)}",
        "script-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cache-Control": "no-store",
    "Server": "gangline",
}
KEPT = HEADERS | {"Cache-Control": "public, max-age=31536000, immutable"}
"""For what its address names by content."""


def asset(name: str) -> str:
    """The address of a script."""
    return f"/assets/{DIGEST}/{name}"
