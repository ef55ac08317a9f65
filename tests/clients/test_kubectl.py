"""Real kubectl beyond the first day: what it watches, edits, compares, scales, orphans, drains and asks."""

from __future__ import annotations

import json
from pathlib import Path

import yaml

from clients.manifests import deployment, podcliqueset
from embedded import PATIENCE
from gangline.api.crds import crds
from gangline.api.kinds import NODE, POD, REPLICA_SET
from journeys.kubectl import Kubectl
from journeys.story import Story

TIMEOUT = f"--timeout={PATIENCE:.0f}s"


async def apply(run: Kubectl, *objects: dict[str, object]) -> str:
    return await run("apply", "-f", "-", stdin=yaml.safe_dump_all(objects))


async def test_get_watch_prints_each_change_as_it_comes(run: Kubectl) -> None:
    await run("create", "configmap", "news", "--from-literal=n=0")
    async with run.watching("get", "configmap", "news", "-w", "--output-watch-events", "--no-headers") as shown:
        assert (await anext(shown)).split()[:2] == ["ADDED", "news"]
        await run("patch", "configmap", "news", "-p", json.dumps({"data": {"n": "1"}}))
        assert (await anext(shown)).split()[:2] == ["MODIFIED", "news"]


async def test_explain_knows_our_kinds_and_built_in_ones(run: Kubectl) -> None:
    assert "GROUP:      grove.io" in await run("explain", "podcliqueset")
    assert "minAvailable" in await run("explain", "podcliqueset.spec.template.cliques.spec")
    assert "nodeName" in await run("explain", "pod.spec")
    assert 'field "colour" does not exist' in await run("explain", "pod.spec.colour", code=1)


async def test_api_resources_lists_our_kinds_with_their_short_names(run: Kubectl) -> None:
    shown = await run("api-resources", "--api-group=grove.io", "--no-headers")
    assert "podcliquesets" in shown and "pcs" in shown
    assert "scheduling.run.ai/v2" in await run("api-versions")


async def test_diff_says_what_an_apply_would_change(run: Kubectl) -> None:
    await apply(run, deployment("web", 0))
    changed = yaml.safe_dump(deployment("web", 3))
    shown = await run("diff", "-f", "-", stdin=changed, code=1)
    assert "-  replicas: 0" in shown and "+  replicas: 3" in shown
    assert await run("diff", "-f", "-", stdin=yaml.safe_dump(deployment("web", 0))) == ""


async def test_edit_through_a_script_changes_the_object(run: Kubectl, tmp_path: Path) -> None:
    await apply(run, podcliqueset("llm"))
    editor = tmp_path / "editor"
    editor.write_text("#!/bin/sh\nsed -i 's/^  replicas: 1$/  replicas: 2/' \"$1\"\n")
    editor.chmod(0o755)
    edited = Kubectl(run.program, run.kubeconfig, run.home, {"KUBE_EDITOR": str(editor)})
    assert "podcliqueset.grove.io/llm edited" in await edited("edit", "pcs", "llm")
    assert await run("get", "pcs", "llm", "-o", "jsonpath={.spec.replicas}") == "2"


async def test_scale_and_wait_follow_the_controllers(story: Story, run: Kubectl) -> None:
    await apply(run, deployment("web", 1), podcliqueset("llm"))
    await run("rollout", "status", "deployment/web", TIMEOUT)
    assert "deployment.apps/web scaled" in await run("scale", "deployment/web", "--replicas=3")
    await run("wait", "--for=jsonpath={.status.readyReplicas}=3", "deployment/web", TIMEOUT)
    assert "podcliqueset.grove.io/llm scaled" in await run("scale", "pcs/llm", "--replicas=2")
    await run("wait", "--for=condition=Ready", "pods", "-l", "app.kubernetes.io/part-of=llm", TIMEOUT)
    await run("set", "image", "deployment/web", "main=example/sleeper:2")
    await run("rollout", "status", "deployment/web", TIMEOUT)
    assert len((await run("rollout", "history", "deployment/web")).strip().splitlines()) == 4
    assert "rolled back" in await run("rollout", "undo", "deployment/web")


async def test_delete_orphans_or_waits_as_it_is_told(story: Story, run: Kubectl) -> None:
    await apply(run, deployment("kept", 1), deployment("gone", 1))
    await run("rollout", "status", "deployment/kept", TIMEOUT)
    await run("rollout", "status", "deployment/gone", TIMEOUT)
    await run("delete", "deployment", "kept", "--cascade=orphan")
    await run("delete", "deployment", "gone", "--cascade=foreground", TIMEOUT)
    left = await story.all(REPLICA_SET)
    assert [item.name.split("-")[0] for item in left] == ["kept"]
    assert not left[0].metadata.owner_references


async def test_auth_can_i_answers_for_everybody(run: Kubectl) -> None:
    assert (await run("auth", "can-i", "create", "podcliquesets")).strip() == "yes"
    assert (await run("auth", "can-i", "delete", "nodes", "--as=bob", code=1)).strip().endswith("no")
    assert "admin" in await run("auth", "whoami")
    await run("create", "role", "reader", "--verb=get,list", "--resource=pods")
    await run("create", "rolebinding", "bob-reads", "--role=reader", "--user=bob")
    assert (await run("auth", "can-i", "list", "pods", "--as=bob")).strip() == "yes"
    assert "pods" in await run("auth", "can-i", "--list", "--as=bob")


async def test_create_makes_what_each_of_its_commands_says(run: Kubectl) -> None:
    made = (
        ("deployment", "web", "--image=example/a"),
        ("job", "once", "--image=example/a"),
        ("service", "clusterip", "svc", "--tcp=80"),
        ("secret", "generic", "s", "--from-literal=k=v"),
        ("configmap", "c", "--from-literal=k=v"),
        ("namespace", "team"),
        ("serviceaccount", "robot"),
        ("quota", "q", "--hard=pods=10"),
        ("priorityclass", "high", "--value=100"),
        ("poddisruptionbudget", "p", "--selector=app=web", "--min-available=1"),
        ("clusterrole", "all", "--verb=*", "--resource=pods"),
        ("cronjob", "often", "--image=example/a", "--schedule=*/5 * * * *"),
        ("ingress", "i", "--rule=example.com/=svc:80"),
    )
    for arguments in made:
        assert "created" in await run("create", *arguments)
    assert (await run("create", "token", "robot")).count(".") == 2
    secret = json.loads(await run("get", "secret", "s", "-o", "json"))
    assert secret["data"] == {"k": "dg=="}


async def test_drain_moves_pods_and_uncordon_lets_them_come_back(story: Story, run: Kubectl) -> None:
    await apply(run, deployment("web", 4))
    await run("rollout", "status", "deployment/web", TIMEOUT)
    [first, second] = [node.name for node in await story.all(NODE)]
    shown = await run("drain", first, "--ignore-daemonsets", "--delete-emptydir-data", "--force", TIMEOUT)
    assert f"node/{first} drained" in shown
    await run("rollout", "status", "deployment/web", TIMEOUT)

    async def moved() -> bool:
        pods = [
            pod for pod in (await story.client.list(POD, "default")).items if pod.metadata.deletion_timestamp is None
        ]
        return {pod.spec.node_name for pod in pods} == {second}

    await story.until(moved, "all pods on the other node")
    assert "SchedulingDisabled" in await run("get", "node", first)
    assert f"node/{first} uncordoned" in await run("uncordon", first)
    await run("taint", "nodes", first, "gpu=only:NoSchedule")
    assert "gpu=only:NoSchedule" in await run("describe", "node", first)


async def test_labels_annotations_and_other_forms_of_output(run: Kubectl) -> None:
    await run("create", "configmap", "c", "--from-literal=k=v")
    await run("label", "configmap", "c", "team=a")
    await run("annotate", "configmap", "c", "note=hello")
    assert "team=a" in await run("get", "cm", "c", "--show-labels")
    assert await run("get", "cm", "-l", "team=a", "-o", "name") == "configmap/c\n"
    assert (await run("get", "cm", "c", "-o", "custom-columns=N:.metadata.name,T:.metadata.labels.team")).split() == [
        "N",
        "T",
        "c",
        "a",
    ]
    assert "already has a value (a)" in await run("label", "configmap", "c", "team=b", code=1)
    assert "configmap/c serverside-applied" in await run(
        "apply",
        "--server-side",
        "--force-conflicts",
        "-f",
        "-",
        stdin=yaml.safe_dump({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"k": "w"}}),
    )
    assert "replaced" in await run("replace", "-f", "-", stdin=await run("get", "cm", "c", "-o", "yaml"))
    wrong = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: d}\nspec: {}\n"
    assert 'unknown field "spec"' in await run("apply", "-f", "-", stdin=wrong, code=1)


async def test_explain_gives_help_on_every_kind_of_ours(run: Kubectl) -> None:
    for definition in crds():
        spec = definition["spec"]
        names, group = spec["names"], spec["group"]
        shown = await run("explain", f"{names['plural']}.{group}")
        assert f"GROUP:      {group}" in shown and f"KIND:       {names['kind']}" in shown, shown
        assert "VERSION:" in shown and "DESCRIPTION:" in shown and "metadata\t<ObjectMeta>" in shown, shown
        assert "<empty>" not in shown.partition("FIELDS:")[0], f"{names['kind']} says nothing of itself:\n{shown}"


async def test_delete_in_the_background_leaves_the_rest_to_the_collector(story: Story, run: Kubectl) -> None:
    await apply(run, deployment("gone", 2), podcliqueset("llm"))
    await run("rollout", "status", "deployment/gone", TIMEOUT)
    assert 'deployment.apps "gone" deleted' in await run(
        "delete", "deployment", "gone", "--cascade=background", TIMEOUT
    )
    assert 'podcliqueset.grove.io "llm" deleted' in await run("delete", "pcs", "llm", "--cascade=foreground", TIMEOUT)
    await story.gone(REPLICA_SET, POD)
