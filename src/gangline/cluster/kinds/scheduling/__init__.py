"""Rules of the kinds that schedulers read: PriorityClass, PodDisruptionBudget, device claims, Workload, PodGroup."""
