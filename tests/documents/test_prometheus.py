"""A real Prometheus: it takes our alert rules, reads our metrics, and understands every expression of the dashboard.

Skipped where there is none; `make prometheus` brings one."""

from __future__ import annotations

import asyncio
import re
import shutil
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import yaml
from prometheus_client import REGISTRY, generate_latest

from browser.fleet import StillLife
from dashboard.seen import look
from documents.pages import REPOSITORY
from documents.reference import metric_families
from documents.test_monitoring import FOLDER, RULES, expressions
from embedded import until
from gangline.dashboard.service import Dashboard

BUILT = REPOSITORY / ".cache" / "bin"
LISTENS = re.compile(r'"?Listening on"? address=(\S+)')


def program(name: str) -> str:
    found = str(BUILT / name) if (BUILT / name).exists() else shutil.which(name)
    if not found:
        pytest.skip(f"{name} is not there: `make prometheus`")
    return found


def promtool(*words: str, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([program("promtool"), *words], input=given, capture_output=True, check=False)


@asynccontextmanager
async def prometheus(folder: Path, target: str) -> AsyncIterator[str]:
    """One that scrapes this address every second and has our rules; gives its own address."""
    config = {
        "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
        "rule_files": [str(FOLDER / "alerts.yaml")],
        "scrape_configs": [{"job_name": "gangline", "static_configs": [{"targets": [target]}]}],
    }
    (folder / "prometheus.yml").write_text(yaml.safe_dump(config))
    process = await asyncio.create_subprocess_exec(
        program("prometheus"),
        f"--config.file={folder / 'prometheus.yml'}",
        f"--storage.tsdb.path={folder / 'data'}",
        "--web.listen-address=127.0.0.1:0",
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        yield f"http://{await _address(process)}"
    finally:
        process.terminate()
        await process.wait()


async def _address(process: asyncio.subprocess.Process) -> str:
    assert process.stderr is not None
    said = ""
    async for line in process.stderr:
        said += line.decode()
        if found := LISTENS.search(line.decode()):
            return found[1]
    raise AssertionError(f"Prometheus did not start:\n{said}")


async def asked(session: aiohttp.ClientSession, url: str, **query: str) -> Any:
    async with session.get(url, params=query) as answer:
        return await answer.json() if answer.content_type == "application/json" else {"status": answer.status}


def test_promtool_takes_the_alert_rules() -> None:
    done = promtool("check", "rules", str(FOLDER / "alerts.yaml"))
    assert (done.returncode, f"{len(RULES)} rules found" in done.stdout.decode()) == (0, True), done.stderr.decode()


def test_promtool_finds_fault_with_no_metric_that_we_named() -> None:
    metric_families()
    done = promtool("check", "metrics", given=generate_latest(REGISTRY))
    faults = done.stdout.decode() + done.stderr.decode()
    assert [line for line in faults.splitlines() if not line.startswith("kai_")] == []


SERIES = {"series": 'gangline_scheduler_cycles_total{job="gangline"}', "values": "0+0x20"}
WAITS = {"series": 'gangline_scheduler_oldest_waiting_seconds{job="gangline"}', "values": "90000x20"}


GONE = {"series": 'gangline_scheduler_cycles_total{job="gangline"}', "values": "0+60x3 stale"}
OTHER = {"series": 'gangline_scheduler_cycles_total{job="other-shard"}', "values": "0+60x20"}


@pytest.mark.parametrize(
    ("alert", "series", "labels"),
    [
        ("GanglineSchedulerStopped", [SERIES, OTHER], {"severity": "critical", "job": "gangline"}),
        ("GanglineSchedulerStopped", [GONE], {"severity": "critical"}),
        ("GanglineGangWaitsLong", [WAITS], {"severity": "info"}),
    ],
    ids=["no cycles in one shard", "no scheduler", "a long wait"],
)
def test_an_alert_fires_when_it_should(
    tmp_path: Path, alert: str, series: list[dict[str, str]], labels: dict[str, str]
) -> None:
    said = next(rule["annotations"] for rule in RULES if rule["alert"] == alert)
    fires = [{"exp_labels": labels, "exp_annotations": said}]
    case: dict[str, Any] = {"interval": "1m", "input_series": series}
    case["alert_rule_test"] = [
        {"eval_time": "1m", "alertname": alert, "exp_alerts": []},
        {"eval_time": "20m", "alertname": alert, "exp_alerts": fires},
    ]
    (tmp_path / "cases.yaml").write_text(
        yaml.safe_dump({"rule_files": [str(FOLDER / "alerts.yaml")], "tests": [case], "evaluation_interval": "1m"})
    )
    done = promtool("test", "rules", str(tmp_path / "cases.yaml"))
    assert done.returncode == 0, done.stdout.decode() + done.stderr.decode()


async def test_it_scrapes_us_and_understands_every_rule_and_expression(tmp_path: Path) -> None:
    program("prometheus")
    metric_families()
    dashboard = Dashboard(StillLife(look()))
    target = (await dashboard.start()).removeprefix("http://")
    try:
        async with prometheus(tmp_path, target) as url, aiohttp.ClientSession() as session:

            async def scraped() -> bool:
                answer = await asked(session, f"{url}/api/v1/query", query='up{job="gangline"} == 1')
                return answer["status"] == "success" and bool(answer["data"]["result"])

            await until(scraped, "the first scrape", pause=0.1)
            rules = await asked(session, f"{url}/api/v1/rules")
            held = [rule for group in rules["data"]["groups"] for rule in group["rules"]]
            assert {rule["name"] for rule in held} == {rule["alert"] for rule in RULES}
            for expression in expressions():
                answer = await asked(session, f"{url}/api/v1/query", query=expression.replace("$__rate_interval", "5m"))
                assert answer["status"] == "success", (expression, answer)
    finally:
        await dashboard.stop()
