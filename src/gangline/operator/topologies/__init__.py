"""ClusterTopologyBindings: the topology objects of schedulers."""
