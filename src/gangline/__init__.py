"""gangline: gang scheduling for Kubernetes. The tree below reads as the picture of the system; docs/tour.md walks
through it."""

__version__ = "0.1.0"
