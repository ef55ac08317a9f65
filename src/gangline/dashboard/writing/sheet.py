"""The page's style sheet and script, and the policy that lets a browser use these two and nothing else.

They are the files `page.css` and `page.js` beside this one; every page carries them inside, so it needs no second
request. Pure but for reading the two once."""

from __future__ import annotations

import base64
import hashlib
from importlib.resources import files

_ASSETS = files("gangline.dashboard") / "assets"
STYLE = (_ASSETS / "page.css").read_text("utf-8")
SCRIPT = (_ASSETS / "page.js").read_text("utf-8")


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


POLICY = "; ".join(
    (
        "default-src 'none'",
        f"style-src {_hash(STYLE)}",
        f"script-src {_hash(SCRIPT)}",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
    "Server": "gangline",
}
