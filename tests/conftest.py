"""Tests on a real control plane run only when asked for (`make test-real`)."""

from __future__ import annotations

import os

collect_ignore = [] if os.environ.get("GANGLINE_REAL") else ["real"]
