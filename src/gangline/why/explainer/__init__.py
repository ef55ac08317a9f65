"""The component that writes on a PodGroup what `gangline explain` says of its gang: the same words everywhere."""
