"""Rules of Pod and of the pod templates of every workload."""
