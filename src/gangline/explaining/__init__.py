"""`gangline explain` from a name to its answers: reads the cluster, asks gangline.why, and tries changes on a copy of
the whole platform where only that can show what they do. The cluster itself is only read."""
