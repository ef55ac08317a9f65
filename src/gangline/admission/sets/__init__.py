"""Admission of the workload half: PodCliqueSets and ClusterTopologyBindings. Pure."""
