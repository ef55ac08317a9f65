"""The functions that CEL expressions may call: the standard library, and what Kubernetes adds to it."""
