"""Which scheduler a workload is for, and whether it is at work."""
