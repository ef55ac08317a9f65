"""A Kubernetes in one process: an API server, the rules of the built-in kinds, and simulated nodes and controllers."""
