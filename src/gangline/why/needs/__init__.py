"""What pods name and a cluster may not have: topologies, volumes, config maps, device claims. Pure."""
