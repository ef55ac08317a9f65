"""`gangline idle`: the GPUs of a live cluster, in use or idle for one cause each."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gangline.cli.look.idle import _idle
from gangline.local import write_kubeconfig
from whatif.test_answers import cluster, gang, node, queue


async def test_a_live_cluster_says_where_its_idle_gpus_go(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    closed = node("closed")
    closed["spec"]["unschedulable"] = True
    async with cluster(node("a"), closed, queue("q", quota=3, limit=3), *gang("old", 2, "a"), *gang("new", 2)) as here:
        where = str(write_kubeconfig(here, await here.listen(), tmp_path / "kubeconfig"))
        await _idle("json", where, None)
        (pool,) = json.loads(capsys.readouterr().out)
        await _idle("text", where, None)
        lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    causes = {cause: gpus for cause, gpus in pool["causes"].items() if gpus}
    assert (pool["capacity"], pool["in_use"], causes) == (8, 2, {"quota": 2, "taint or cordon": 4})
    assert pool["in_use"] + sum(part["gpus"] for part in pool["parts"]) == pool["capacity"]
    assert ["quota", "2", "25.0", "new"] in lines and lines[-1][:2] == ["capacity", "8"]
