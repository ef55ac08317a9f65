"""What becomes of pods on simulated nodes: kubelet, pod garbage collection, disruption budgets."""
