"""How a job of which only the GPUs are known becomes pods: one pod where a node can hold it, else as few equal pods as
will do."""

from __future__ import annotations

from gangline.lab.formats.rows import RowError


def in_pods(gpus: int, node_gpus: int) -> tuple[int, float]:
    """The number of pods and the GPUs of each."""
    if gpus <= node_gpus:
        return 1, gpus
    pods = next(pods for pods in range(-(-gpus // node_gpus), gpus + 1) if gpus % pods == 0)
    if pods > 4 * -(-gpus // node_gpus):
        raise RowError(f"{gpus} GPUs cannot be divided into equal pods of at most {node_gpus}")
    return pods, gpus // pods
