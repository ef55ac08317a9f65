"""The life of a pod on a simulated node, told as what its status says when."""

from __future__ import annotations

from typing import Any

import msgspec

from cluster.world.making import START, pod, when
from gangline.api import names
from gangline.api.core import Container, Pod, PodStatus
from gangline.api.meta import Raw
from gangline.cluster.world.pods.pod_life import awaited, backoff, step
from gangline.cluster.world.pods.pod_step import NodeFacts, PodRejection, Step
from gangline.cluster.world.settings import NodePace
from gangline.runtime.clock import timestamp

NODE = NodeFacts(START, "172.16.0.1", "10.0.0.1")


def at(seconds: float, **facts: Any) -> NodeFacts:
    return NodeFacts(START + seconds, "172.16.0.1", "10.0.0.1", **facts)


def lived(given: Pod, place: NodeFacts, pace: NodePace | None = None) -> tuple[Pod, Step]:
    """The pod after one step, as the server would show it."""
    done = step(given, place, pace or NodePace())
    if done.status is None:
        return given, done
    before: Raw = msgspec.to_builtins(given.status)
    conditions = {condition["type"]: condition for condition in before.get("conditions", [])} | {
        condition["type"]: condition for condition in done.status.get("conditions", [])
    }
    status = msgspec.convert(before | done.status | {"conditions": list(conditions.values())}, PodStatus)
    return msgspec.structs.replace(given, status=status), done


def conditions(given: Pod) -> dict[str, str]:
    return {condition.type: condition.status for condition in given.status.conditions}


def state(given: Pod, name: str = "main") -> Raw:
    statuses = (
        given.status.container_statuses
        + given.status.init_container_statuses
        + given.status.ephemeral_container_statuses
    )
    return next(status.state for status in statuses if status.name == name)


def test_a_pod_without_delays_runs_and_is_ready_with_one_write() -> None:
    running, first = lived(pod(), NODE)
    assert (running.status.phase, conditions(running)["Ready"], running.status.pod_ip) == (
        "Running",
        "True",
        "10.0.0.1",
    )
    assert first.again is None
    assert lived(running, at(100))[1] == Step()


def test_a_pod_with_a_run_time_succeeds_when_it_is_over() -> None:
    given = pod(annotations={names.RUN_SECONDS: "30"}, spec={"restartPolicy": "Never"})
    running, first = lived(given, NODE)
    assert first.again == START + 30
    assert lived(running, at(29))[1] == Step(again=START + 30)
    done, _ = lived(running, at(30))
    assert (done.status.phase, conditions(done)["Ready"]) == ("Succeeded", "False")
    assert state(done)["terminated"] == {
        "exitCode": 0,
        "reason": "Completed",
        "startedAt": when(0),
        "finishedAt": when(30),
    }


def test_a_pod_that_ends_badly_fails_when_it_may_not_restart() -> None:
    running, _ = lived(
        pod(annotations={names.RUN_SECONDS: "5", names.EXIT_CODE: "3"}, spec={"restartPolicy": "Never"}), NODE
    )
    done, _ = lived(running, at(5))
    assert (done.status.phase, state(done)["terminated"]["exitCode"]) == ("Failed", 3)


def test_pods_of_a_job_end_by_themselves_and_others_do_not() -> None:
    of_job = pod(
        owner_references=[{"apiVersion": "batch/v1", "kind": "Job", "name": "j", "uid": "u"}],
        spec={"restartPolicy": "Never"},
    )
    assert lived(of_job, NODE, NodePace(job=2))[1].again == START + 2
    assert lived(pod(spec={"restartPolicy": "Never"}), NODE, NodePace(job=2))[1].again is None


def test_a_container_restarts_at_once_and_then_with_growing_waits() -> None:
    given = pod(annotations={names.RUN_SECONDS: "10", names.EXIT_CODE: "1"}, spec={"restartPolicy": "OnFailure"})
    running, _ = lived(given, NODE)
    again, _ = lived(running, at(10))
    assert (again.status.phase, again.status.container_statuses[0].restart_count) == ("Running", 1)
    waiting, told = lived(again, at(20))
    assert state(waiting) == {"waiting": {"reason": "CrashLoopBackOff"}}
    assert conditions(waiting)["Ready"] == "False"
    assert told.again == START + 30
    third, _ = lived(waiting, at(30))
    assert third.status.container_statuses[0].restart_count == 2
    assert [backoff(number) for number in range(7)] == [0, 10, 20, 40, 80, 160, 300]


def test_exit_codes_in_a_row_let_a_pod_recover() -> None:
    given = pod(annotations={names.RUN_SECONDS: "10", names.EXIT_CODE: "1,0"}, spec={"restartPolicy": "OnFailure"})
    again, _ = lived(lived(given, NODE)[0], at(10))
    assert lived(again, at(20))[0].status.phase == "Succeeded"


def test_init_containers_run_one_after_the_other_and_sidecars_stay() -> None:
    inits = [{"name": "first"}, {"name": "side", "restartPolicy": "Always"}, {"name": "second"}]
    given = pod(annotations={names.INIT_SECONDS: "5"}, spec={"initContainers": inits})
    one, told = lived(given, NODE)
    assert (one.status.phase, "running" in state(one, "first"), told.again) == ("Pending", True, START + 5)
    assert state(one, "second") == state(one) == {"waiting": {"reason": "PodInitializing"}}
    two, told = lived(one, at(5))
    assert ("running" in state(two, "side"), "running" in state(two, "second"), told.again) == (True, True, START + 10)
    three, _ = lived(two, at(10))
    assert (three.status.phase, conditions(three)["Initialized"]) == ("Running", "True")
    assert "running" in state(three, "side")


def test_a_pod_waits_for_the_pods_it_starts_after() -> None:
    given = pod(
        spec={"initContainers": [{"name": names.INIT_CONTAINER, "args": ["--podcliques=a:2", "--podcliques=b:1"]}]}
    )
    assert awaited(given) == {"a": 2, "b": 1}
    waiting, told = lived(given, at(0, waiting=True))
    assert (waiting.status.phase, told.again) == ("Pending", None)
    assert lived(waiting, at(50, waiting=True))[1] == Step()
    assert lived(waiting, at(51))[0].status.phase == "Running"


def test_readiness_waits_for_the_probe_and_for_gates() -> None:
    container = {"name": "main", "readinessProbe": {"initialDelaySeconds": 7}}
    running, told = lived(pod(spec={"containers": [container], "readinessGates": [{"conditionType": "x"}]}), NODE)
    assert (running.status.phase, conditions(running)["Ready"], told.again) == ("Running", "False", START + 7)
    late, _ = lived(running, at(7))
    assert (conditions(late)["ContainersReady"], conditions(late)["Ready"]) == ("True", "False")


def test_a_held_pod_creates_its_containers_when_it_is_let_go() -> None:
    held, told = lived(pod(), at(0, held="ContainerCreating"))
    assert (held.status.phase, state(held), told.again) == (
        "Pending",
        {"waiting": {"reason": "ContainerCreating"}},
        None,
    )
    assert lived(held, at(9))[0].status.phase == "Running"


def test_a_slow_start_is_waited_out() -> None:
    creating, told = lived(pod(annotations={names.START_SECONDS: "4"}), NODE)
    assert (creating.status.phase, told.again) == ("Pending", START + 4)
    assert lived(creating, at(4))[0].status.phase == "Running"


def deleted(after: float, **more: Any) -> Pod:
    status = lived(pod(), NODE)[0].status
    return msgspec.structs.replace(
        pod(deletion_timestamp=when(after + 30), deletion_grace_period_seconds=30, **more), status=status
    )


def test_a_deleted_pod_goes_at_once_or_after_the_time_it_takes_to_stop() -> None:
    assert step(deleted(10), at(10), NodePace()) == Step(remove=True)
    slow = deleted(10, annotations={names.STOP_SECONDS: "8"})
    assert step(slow, at(10), NodePace()) == Step(again=START + 18)
    assert step(slow, at(18), NodePace()) == Step(remove=True)


def test_stopping_never_takes_longer_than_the_grace_period() -> None:
    assert step(deleted(10, annotations={names.STOP_SECONDS: "300"}), at(10), NodePace()) == Step(again=START + 40)


def test_a_deleted_pod_that_someone_holds_shows_its_end_first() -> None:
    told = step(deleted(10, finalizers=["x/y"]), at(10), NodePace())
    assert told.status is not None and told.status["phase"] == "Failed"
    assert told.status["containerStatuses"][0]["state"]["terminated"]["exitCode"] == 143


def test_a_pod_that_outlives_its_deadline_fails() -> None:
    running, told = lived(pod(spec={"activeDeadlineSeconds": 20}), NODE)
    assert told.again == START + 20
    done, _ = lived(running, at(20))
    assert (done.status.phase, done.status.reason) == ("Failed", "DeadlineExceeded")


def test_a_pod_for_which_there_is_no_room_is_turned_away_but_one_that_runs_is_not() -> None:
    full = PodRejection("OutOfcpu", "Node didn't have enough resource: cpu, requested: 2, used: 1, capacity: 2")
    refused, _ = lived(pod(), at(0, rejection=full))
    assert (refused.status.phase, refused.status.reason, refused.status.message) == (
        "Failed",
        "OutOfcpu",
        "Pod was rejected: Node didn't have enough resource: cpu, requested: 2, used: 1, capacity: 2",
    )
    assert not refused.status.container_statuses and refused.status.start_time
    assert lived(lived(pod(), NODE)[0], at(1, rejection=full))[1] == Step()


def test_a_pod_whose_image_does_not_exist_stays_pending_and_says_so() -> None:
    given = pod(spec={"containers": [{"name": "main", "image": "team/trainer:does-not-exist"}]})
    waiting, first = lived(given, NODE)
    assert (waiting.status.phase, conditions(waiting)["Ready"], first.again) == ("Pending", "False", None)
    assert state(waiting) == {
        "waiting": {
            "reason": "ImagePullBackOff",
            "message": 'Back-off pulling image "team/trainer:does-not-exist": not found',
        }
    }
    assert lived(waiting, at(100))[1] == Step()


def test_images_that_an_annotation_names_cannot_be_pulled() -> None:
    containers = [{"name": "main", "image": "a:1"}, {"name": "side", "image": "b:1"}]
    given = pod(annotations={names.UNPULLABLE: "b:1, c:1"}, spec={"containers": containers})
    waiting, _ = lived(given, NODE)
    assert waiting.status.phase == "Pending"
    assert "running" in state(waiting) and state(waiting, "side")["waiting"]["reason"] == "ImagePullBackOff"


def test_an_init_container_without_its_image_holds_those_behind_it() -> None:
    spec = {
        "initContainers": [{"name": "first", "image": "a:does-not-exist"}],
        "containers": [{"name": "main", "image": "b:1"}],
    }
    waiting, _ = lived(pod(spec=spec), NODE)
    assert state(waiting, "first")["waiting"]["reason"] == "ImagePullBackOff"
    assert state(waiting)["waiting"]["reason"] == "PodInitializing" and waiting.status.phase == "Pending"


def test_a_container_that_kubectl_debug_adds_starts_in_the_running_pod_and_ends_with_it() -> None:
    running, _ = lived(pod(annotations={names.RUN_SECONDS: "30"}, spec={"restartPolicy": "Never"}), NODE)
    containers = msgspec.convert([{"name": "debugger", "image": "busybox"}], tuple[Container, ...])
    watched = msgspec.structs.replace(
        running, spec=msgspec.structs.replace(running.spec, ephemeral_containers=containers)
    )
    debugged, _ = lived(watched, at(5))
    assert state(debugged, "debugger") == {"running": {"startedAt": timestamp(START + 5)}}
    assert lived(debugged, at(6))[1].status is None
    ended, _ = lived(debugged, at(30))
    assert ended.status.phase == "Succeeded"
    assert state(ended, "debugger")["terminated"]["exitCode"] == 0
