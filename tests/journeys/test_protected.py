"""Where others may not touch what the operator makes, everybody whose work it is still can: sets run whole, and go."""

from __future__ import annotations

import pytest

from gangline.api.kinds import POD, POD_CLIQUE, POD_CLIQUE_SET, POD_GANG, POD_GROUP, SERVICE
from gangline.errors import Forbidden
from gangline.rules.sets import OperatorSettings
from journeys.story import told

SET = """
apiVersion: grove.io/v1alpha1
kind: PodCliqueSet
metadata: {name: w, labels: {kai.scheduler/queue: default-queue}}
spec:
  replicas: 1
  template:
    cliques:
    - name: c
      annotations: {gpu-fraction: "0.5"}
      spec:
        replicas: 2
        podSpec: {schedulerName: kai-scheduler, containers: [{name: main, image: i}]}
"""


async def test_a_protected_set_runs_on_shared_gpus_is_nobody_elses_and_goes() -> None:
    async with told(operator=OperatorSettings(authorizer=True)) as story:
        await story.nodes(1, gpus=2)
        await story.apply(SET)
        await story.running(2, of="w")
        with pytest.raises(
            Forbidden, match=r"w-0 belongs to PodCliqueSet w and is kept by its operator; .+ may not delete it"
        ):
            await story.client.delete(POD_GANG, "w-0", "default")
        await story.client.delete(POD_CLIQUE_SET, "w", "default")
        await story.gone(POD_CLIQUE, POD_GANG, POD_GROUP, POD, SERVICE)
