"""What `gangline install` brings, as manifests and as a Helm chart. Pure."""
