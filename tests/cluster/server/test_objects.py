"""One object's life: created, read, changed, deleted."""

from __future__ import annotations

from cluster.server.conftest import MAPS, PODS, Api, config_map, pod


async def test_a_path_that_nobody_serves_is_told_as_kubernetes_does(api: Api) -> None:
    answer = await api.get("/apis/nobody/v1")
    assert (answer.status, answer.body) == (404, b"404 page not found\n")


async def test_a_created_object_has_an_identity_and_can_be_read_back(api: Api) -> None:
    made = await api.post(MAPS, config_map("a", {"k": "v"}))
    assert made.status == 201
    assert made.body["metadata"]["uid"]
    assert made.body["metadata"]["resourceVersion"] == str(api.server.revision)
    assert (await api.get(f"{MAPS}/a")).body == made.body


async def test_a_name_is_taken_once(api: Api) -> None:
    await api.post(MAPS, config_map("a"))
    again = await api.post(MAPS, config_map("a"))
    assert (again.status, again.message) == (409, 'configmaps "a" already exists')


async def test_generate_name_adds_five_letters(api: Api) -> None:
    body = {"metadata": {"generateName": "job-"}}
    names = {(await api.post(MAPS, body)).body["metadata"]["name"] for _ in range(5)}
    assert len(names) == 5
    assert all(name.startswith("job-") and len(name) == 9 for name in names)


async def test_nothing_can_be_made_in_a_namespace_that_is_not_there(api: Api) -> None:
    answer = await api.post("/api/v1/namespaces/nowhere/configmaps", config_map("a"))
    assert (answer.status, answer.message) == (404, 'namespaces "nowhere" not found')


async def test_an_update_of_an_old_version_is_refused(api: Api) -> None:
    old = (await api.post(MAPS, config_map("a"))).body
    await api.merge(f"{MAPS}/a", {"data": {"k": "1"}})
    answer = await api.put(f"{MAPS}/a", old)
    assert answer.status == 409
    assert answer.message.endswith("please apply your changes to the latest version and try again")


async def test_an_update_that_changes_nothing_keeps_the_version(api: Api) -> None:
    made = (await api.post(MAPS, config_map("a", {"k": "v"}))).body
    same = await api.put(f"{MAPS}/a", config_map("a", {"k": "v"}))
    assert same.body["metadata"]["resourceVersion"] == made["metadata"]["resourceVersion"]


async def test_a_dry_run_leaves_no_trace(api: Api) -> None:
    before = api.server.revision
    assert (await api.post(MAPS, config_map("a"), dryRun="All")).status == 201
    assert (await api.get(f"{MAPS}/a")).status == 404
    assert api.server.revision == before


async def test_a_finalizer_keeps_a_deleted_object_until_it_is_taken_off(api: Api) -> None:
    await api.post(MAPS, config_map("a", finalizers=["example.com/wait"]))
    waiting = await api.delete(f"{MAPS}/a")
    assert waiting.body["metadata"]["deletionTimestamp"]
    assert (await api.get(f"{MAPS}/a")).status == 200
    await api.merge(f"{MAPS}/a", {"metadata": {"finalizers": None}})
    assert (await api.get(f"{MAPS}/a")).status == 404


async def test_foreground_deletion_leaves_the_work_to_the_garbage_collector(api: Api) -> None:
    await api.post(MAPS, config_map("a"))
    answer = await api.delete(f"{MAPS}/a", propagationPolicy="Foreground")
    assert answer.body["metadata"]["finalizers"] == ["foregroundDeletion"]


async def test_a_pod_without_a_node_goes_at_once(api: Api) -> None:
    await api.post(PODS, pod("p"))
    assert (await api.delete(f"{PODS}/p")).status == 200
    assert (await api.get(f"{PODS}/p")).status == 404


async def test_a_bound_pod_waits_for_its_kubelet(api: Api) -> None:
    await api.post(PODS, pod("p"))
    bound = await api.post(f"{PODS}/p/binding", {"metadata": {"name": "p"}, "target": {"kind": "Node", "name": "n"}})
    assert bound.status == 201
    leaving = (await api.delete(f"{PODS}/p")).body["metadata"]
    assert leaving["deletionGracePeriodSeconds"] == 30
    assert (await api.get(f"{PODS}/p")).body["spec"]["nodeName"] == "n"
    await api.delete(f"{PODS}/p", gracePeriodSeconds="0")
    assert (await api.get(f"{PODS}/p")).status == 404


async def test_deleting_a_collection_takes_what_the_selector_names(api: Api) -> None:
    for name, colour in (("a", "red"), ("b", "blue"), ("c", "red")):
        await api.post(MAPS, config_map(name, labels={"colour": colour}))
    await api.delete(MAPS, labelSelector="colour=red")
    assert (await api.get(MAPS)).names == ["b"]


async def test_a_definition_is_served_as_soon_as_it_is_stored_and_until_it_goes(api: Api) -> None:
    crd = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "dogs.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"plural": "dogs", "kind": "Dog", "singular": "dog"},
            "versions": [
                {
                    "name": "v1",
                    "served": True,
                    "storage": True,
                    "schema": {
                        "openAPIV3Schema": {
                            "type": "object",
                            "properties": {
                                "spec": {"type": "object", "properties": {"legs": {"type": "integer", "default": 4}}}
                            },
                        }
                    },
                }
            ],
        },
    }
    path = "/apis/example.com/v1/namespaces/default/dogs"
    assert (await api.get(path)).status == 404
    assert (await api.post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", crd)).status == 201
    dog = await api.post(path, {"apiVersion": "example.com/v1", "kind": "Dog", "metadata": {"name": "rex"}, "spec": {}})
    assert (dog.status, dog.body["spec"]) == (201, {"legs": 4})
    assert (await api.get("/apis/example.com/v1")).body["resources"][0]["name"] == "dogs"


async def test_a_body_of_protobuf_is_refused(api: Api) -> None:
    answer = await api.call("POST", MAPS, b"k8s\x00", "application/vnd.kubernetes.protobuf")
    assert (answer.status, answer.body["reason"]) == (415, "UnsupportedMediaType")


async def test_finalizing_a_namespace_replaces_it_whole(api: Api) -> None:
    spaces = "/api/v1/namespaces"
    await api.post(spaces, {"metadata": {"name": "team", "labels": {"x": "1"}, "finalizers": ["example.com/hold"]}})
    leaving = (await api.delete(f"{spaces}/team")).body
    kept = await api.put(f"{spaces}/team/finalize", leaving | {"spec": {"finalizers": []}})
    assert kept.body["metadata"]["finalizers"] == ["example.com/hold"] and kept.body["metadata"]["labels"]["x"] == "1"
    await api.put(f"{spaces}/team/finalize", {"metadata": {"name": "team"}, "spec": {}})
    assert (await api.get(f"{spaces}/team")).status == 404


async def test_nothing_runs_inside_a_simulated_pod_and_the_answer_says_so(api: Api) -> None:
    await api.post("/api/v1/nodes", {"metadata": {"name": "n"}})
    assert (await api.post(f"{PODS}/p/exec", None)).message == 'pods "p" not found'
    await api.post(PODS, pod("p"))
    assert (await api.post(f"{PODS}/p/exec", None)).message == "pod p does not have a host assigned"
    await api.post(PODS, pod("q", nodeName="n"))
    assert (await api.post(f"{PODS}/q/exec", None)).message == (
        "pod q runs on n, which is only simulated: nothing can be run or reached there"
    )
