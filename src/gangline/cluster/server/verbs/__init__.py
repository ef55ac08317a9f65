"""One file per verb: get, list, create, update, patch, delete, and the subresources."""
