"""How property tests of the server's engines run: no deadline, and slow input generation on a busy machine is no
failure."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

patient = settings(deadline=None, max_examples=80, suppress_health_check=[HealthCheck.too_slow])
