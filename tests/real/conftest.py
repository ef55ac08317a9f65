"""At the end of a run on both servers: how many scripts were played, and which differ on purpose."""

from __future__ import annotations

import pytest

from real.differences_table import differences, summary


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if not any("test_differential" in report.nodeid for report in terminalreporter.getreports("passed")):
        return
    terminalreporter.section("embedded and real server")
    terminalreporter.write_line(summary())
    for name, reason in sorted(differences().items()):
        terminalreporter.write_line(f"  {name}: {reason}")
