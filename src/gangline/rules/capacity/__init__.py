"""What a cluster has: facts of a node, and the causes for which a GPU is idle."""
