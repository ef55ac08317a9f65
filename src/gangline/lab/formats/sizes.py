"""How a job of which only the GPUs are known becomes pods: one pod where a node can hold it, else as few equal pods as
will do."""

from __future__ import annotations

from gangline.lab.formats.rows import RowError

MOST_PODS = 20_000
"""Of one job: more than any cluster we know has started together."""


def checked_pods(pods: int) -> int:
    """As many as a row says, if they can be played."""
    if not 1 <= pods <= MOST_PODS:
        raise RowError(f"pods is {pods}, which must be from 1 to {MOST_PODS}")
    return pods


def in_pods(gpus: int, node_gpus: int) -> tuple[int, float]:
    """The number of pods and the GPUs of each; at worst as many pods as GPUs."""
    if gpus <= node_gpus:
        return 1, gpus
    fewest = checked_pods(-(-gpus // node_gpus))
    pods = next(pods for pods in range(fewest, gpus + 1) if gpus % pods == 0)
    return checked_pods(pods), gpus // pods
