"""`get`, `top`, `queue set`, `doctor`, `bundle` and completion against a cluster at work: what a person reads."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path

import pytest
import yaml

from cli.terminal import Terminal, terminal
from gangline.api.kinds import QUEUE
from gangline.cli.objects.clean import cleaned
from yaml_loading import load_yaml

pytestmark = pytest.mark.timeout(300)


async def busy(here: Terminal) -> None:
    """A gang of five pods runs on seven GPUs, another that does not fit waits."""
    await here.story.apply("examples/01-gang")
    await here.story.running(5)
    await here.story.apply("examples/04-waiting")
    await here.story.settles()


async def test_gangs_queues_and_nodes_are_shown_as_tables_and_as_data(tmp_path: Path) -> None:
    async with terminal(tmp_path) as here:
        await busy(here)
        gangs = (await here.type("get", "gangs")).out.splitlines()
        assert gangs[0].split() == ["NAME", "STATE", "PLACED", "GPUS", "QUEUE", "AGE", "WHY"]
        assert gangs[1].split()[:5] == ["large-0", "waiting", "0/5", "40", "default-queue"]
        assert "GPUs short" in gangs[1]
        assert gangs[2].split()[:5] == ["llm-0", "running", "5/5", "7", "default-queue"]
        everywhere = (await here.type("get", "gangs", "-A")).out.splitlines()
        assert everywhere[0].startswith("NAMESPACE   NAME") and everywhere[1].startswith("default     large-0")
        wide = (await here.type("get", "gang", "llm-0", "-o", "wide")).out
        assert "MINIMUM" in wide and "large-0" not in wide
        assert (await here.type("get", "gangs", "-o", "name")).out == "gang/large-0\ngang/llm-0\n"
        data = json.loads((await here.type("get", "gangs", "-o", "json")).out)["items"]
        assert [(line["name"], line["state"]) for line in data] == [("large-0", "waiting"), ("llm-0", "running")]
        assert load_yaml((await here.type("get", "gangs", "llm-0", "-o", "yaml")).out)["gpusHeld"] == 7

        nodes = (await here.type("get", "nodes")).out.splitlines()
        assert nodes[1].split() == ["node-0", "ready", "7/8", "1", "5", "███████·"]
        assert (await here.type("get", "nodes", "-o", "name")).out.splitlines()[0] == "nodes/node-0"
        queues = (await here.type("get", "queues")).out.splitlines()
        assert queues[2].split() == ["default-queue", "7", "47", "0", "none", "7", "1", "1"]

        of_set = (await here.type("get", "gangs", "-l", "app.kubernetes.io/part-of=llm", "-o", "name")).out
        assert of_set == "gang/llm-0\n"
        unread = await here.type("get", "gangs", "-l", "a in b")
        assert unread.code == 1 and "unable to parse label selector" in unread.err

        drawn = (await here.type("tree", "llm")).out.splitlines()
        assert drawn[0] == "llm  1/1 available; gangs: llm-0 Running"
        assert drawn[1].startswith("├─ llm-0-decode  2/2 ready")
        tree = json.loads((await here.type("tree", "llm", "-o", "json")).out)
        assert tree["kind"] == "set" and [pod["node"] for pod in tree["below"][0]["below"]] == ["node-0", "node-0"]

        nobody = await here.type("get", "gangs", "nobody")
        assert (nobody.code, nobody.err) == (1, "error: there is no gang nobody\n")
        elsewhere = await here.type("get", "gangs", "-n", "kube-system")
        assert elsewhere.out == "no gangs in namespace kube-system; -A looks in all\n"
        for kind in ("gangs", "pods"):
            absent = await here.type("get", kind, "-n", "kube-sistem")
            assert absent.err == "error: there is no namespace kube-sistem; did you mean 'kube-system'?\n"
        for kinds in ("pods,pcs", "all"):
            assert "get shows one kind at a time" in (await here.type("get", kinds)).err
        assert "llm" in (await here.type("get", "set", "llm")).out
        odd = await here.type("get", "quues")
        assert odd.code == 1 and odd.err.endswith("serves no 'quues'; did you mean 'queues'?\n")
        unlike = await here.type("get", "zzz")
        assert len(unlike.err) < 160 and "kubectl api-resources lists its" in unlike.err


async def test_top_prints_everything_once_where_nobody_watches(tmp_path: Path) -> None:
    async with terminal(tmp_path) as here:
        await busy(here)
        shown = (await here.type("top")).out
        assert shown.startswith("7/32 GPUs in use, 25 free (largest piece 8); 1 gang waits, 1 runs, 0 failed; 4 nodes")
        assert [title for title in ("\nNODES\n", "\nQUEUES\n", "\nGANGS\n") if title not in shown] == []
        assert "\x1b" not in shown
        some = (await here.type("top", "queues", "--once")).out
        assert "QUEUES" in some and "NODES" not in some and "GANGS" not in some


async def test_a_queue_is_changed_in_units_of_people(tmp_path: Path) -> None:
    async with terminal(tmp_path) as here:
        settings = ("gpu.quota=8", "gpu.limit=unlimited", "cpu.quota=1500m", "memory.quota=2G", "gpu.weight=2")
        tried = await here.type("queue", "set", "default-queue", *settings, "--dry-run")
        assert tried.out.startswith("queue/default-queue would change\n  spec.resources.gpu.quota: 0 → 8\n")
        changed = await here.type("queue", "set", "default-queue", *settings)
        assert changed.out.startswith("queue/default-queue changed\n") and changed.out.count("\n") == 5
        amounts = (await here.story.client.get(QUEUE, "default-queue")).spec.resources
        assert amounts is not None
        assert (amounts.gpu.quota, amounts.gpu.limit, amounts.gpu.over_quota_weight) == (8, -1, 2)
        assert (amounts.cpu.quota, amounts.memory.quota) == (1500, 2000)
        assert (await here.type("queue", "set", "default-queue", *settings)).out == "queue/default-queue unchanged\n"

        missing = await here.type("queue", "set", "default-queu", "gpu.quota=1")
        assert missing.code == 1 and "no queue default-queu (--create makes one); there are:" in missing.err
        assert missing.err.endswith("; did you mean 'default-queue'?\n")
        orphan = await here.type("queue", "set", "team", "--create", "parent=default-parent-quue")
        assert orphan.code == 1 and orphan.err.startswith("error: parent=default-parent-quue: there is no queue")
        made = await here.type("queue", "set", "team", "--create", "parent=default-parent-queue", "gpu.quota=4")
        assert made.out == "queue/team created\n"
        team = (await here.story.client.get(QUEUE, "team")).spec.resources
        assert team is not None and (team.gpu.quota, team.gpu.limit, team.cpu.quota, team.memory.limit) == (
            4,
            -1,
            -1,
            -1,
        )


async def test_names_are_completed_from_the_cluster(tmp_path: Path) -> None:
    async with terminal(tmp_path) as here:
        await busy(here)

        async def completed(line: str) -> list[str]:
            words = {"COMP_WORDS": line, "COMP_CWORD": str(len(line.split()) - (not line.endswith(" ")))}
            shown = (await here.type(_GANGLINE_COMPLETE="bash_complete", **words)).out
            return [item.partition(",")[2] for item in shown.split()]

        assert await completed("gangline expl") == ["explain"]
        assert await completed("gangline explain la") == ["large-0"]
        assert await completed("gangline tree ") == ["large", "llm"]
        assert await completed("gangline get que") == ["queues"]
        assert await completed("gangline get queues default-q") == ["default-queue"]
        assert "kube-system" in await completed("gangline get pods -n kube-")
        assert await completed("gangline explain --kubeconfig /nowhere la") == []


async def test_the_doctor_finds_nothing_wrong_with_a_platform(tmp_path: Path) -> None:
    async with terminal(tmp_path) as here:
        answer = await here.type("doctor")
        assert (answer.code, answer.out.splitlines()[-1]) == (0, "nothing is wrong")
        assert "✓ definitions  all 11 kinds are defined" in answer.out
        quiet = json.loads((await here.type("doctor", "-q", "-o", "json")).out)
        assert quiet == {"findings": [], "conclusion": "nothing is wrong"}


async def test_a_bundle_holds_objects_and_answers_and_no_secret(tmp_path: Path) -> None:
    async with terminal(tmp_path) as here:
        await busy(here)
        await here.story.apply(SECRETIVE)
        file = tmp_path / "b.tar.gz"
        said = await here.type("bundle", str(file))
        assert said.code == 0 and f"{file}: " in said.out and file.stat().st_mode & 0o777 == 0o600
        with tarfile.open(file) as archive:
            texts = {
                member.name: (archive.extractfile(member) or file.open("rb")).read().decode() for member in archive
            }
        assert {"b/ABOUT.txt", "b/doctor.json", "b/top.txt", "b/objects/pods.yaml"} <= texts.keys()
        assert "TOKEN" in texts["b/objects/pods.yaml"]
        assert [name for name, text in texts.items() if "s3cret" in text] == []
        again = await here.type("bundle", str(file))
        assert again.code == 1 and "exists already; name another file" in again.err


async def test_a_stranger_is_told_how_to_get_in(tmp_path: Path) -> None:
    async with terminal(tmp_path) as here:
        config = load_yaml(here.kubeconfig.read_text())
        config["users"][0]["user"] = {"token": "nobody"}
        here.kubeconfig.write_text(yaml.safe_dump(config))
        answer = await here.type("get", "pods")
        assert answer.code == 1 and answer.err.splitlines()[0] == "error: Unauthorized"
        assert answer.err.splitlines()[1].startswith("hint: the server does not know who you are: the token")


SECRETIVE = """
apiVersion: v1
kind: Secret
metadata: {name: hidden}
stringData: {password: s3cret}
---
apiVersion: v1
kind: Pod
metadata: {name: secretive}
spec:
  containers:
  - name: main
    image: busybox
    command: [sh, -c, "login s3cret"]
    env: [{name: TOKEN, value: s3cret}]
    livenessProbe: {httpGet: {port: 80, httpHeaders: [{name: Authorization, value: s3cret}]}}
"""


async def test_what_get_prints_clean_can_be_applied_again_and_to_what_is_there(tmp_path: Path) -> None:
    async with terminal(tmp_path) as here:
        await busy(here)
        for kind, file in (("queues", "queues.yaml"), ("pcs", "sets.yaml")):
            (tmp_path / file).write_text((await here.type("get", kind, "-A", "-o", "yaml", "--clean")).out)
            again = await here.type("apply", "-f", str(tmp_path / file))
            assert (again.code, again.err) == (0, ""), again.err
        sets = load_yaml((tmp_path / "sets.yaml").read_text())
        assert [item["metadata"] for item in sets["items"]] == [
            {"name": "large", "namespace": "default"},
            {"name": "llm", "namespace": "default"},
        ]
        assert "status" not in sets["items"][0] and sets["items"][0]["spec"]["replicas"] == 1
        await here.type("delete", "pcs", "llm", "large")
        await here.story.settles()
        assert (await here.type("get", "pcs")).out.startswith("no podcliquesets")
        assert (await here.type("apply", "-f", str(tmp_path / "sets.yaml"))).code == 0
        await here.story.running(5)

        table = await here.type("get", "pcs", "--clean")
        assert table.err == "error: --clean is for whole objects: add -o json or -o yaml\n"
        gang = await here.type("get", "gangs", "-o", "yaml", "--clean")
        assert gang.code == 1 and "a gang is no object that can be applied" in gang.err


def test_what_is_owned_going_or_noted_by_kubectl_is_left_out() -> None:
    owned = {
        "name": "a",
        "ownerReferences": [{"uid": "1"}],
        "finalizers": ["x"],
        "annotations": {"kubectl.kubernetes.io/last-applied-configuration": "{}", "mine": "1"},
    }
    going = {"metadata": {"name": "b", "deletionTimestamp": "2026-01-01T00:00:00Z"}}
    answer = {
        "apiVersion": "v1",
        "kind": "PodList",
        "metadata": {},
        "items": [{"metadata": owned, "status": {}}, going],
    }
    mine = {"metadata": {"name": "a", "annotations": {"mine": "1"}}}
    assert cleaned(answer) == {"apiVersion": "v1", "kind": "PodList", "items": [mine]}
