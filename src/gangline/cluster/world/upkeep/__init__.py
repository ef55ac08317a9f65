"""The controllers that keep a cluster in order: garbage collector, namespaces, tokens, endpoints, volumes, quotas."""
