"""What the upstream Grove operator made of many manifests, replayed against ours in the manner `compat: grove`."""
