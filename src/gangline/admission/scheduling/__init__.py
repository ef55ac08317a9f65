"""Admission of the scheduler half: pods, PodGroups, Queues, Topologies. Pure."""
