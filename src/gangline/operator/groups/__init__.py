"""PodCliqueScalingGroups: the cliques of each replica."""
