"""What became of a workload that is not waiting for room. Pure."""
