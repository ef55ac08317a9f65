"""A Kubernetes in one process: an API server, the rules of the built-in kinds, and simulated nodes and controllers.

`Cluster` is the way in for everybody else; README.md explains the rooms and how to use it as a library."""

from gangline.cluster.library import Cluster as Cluster
