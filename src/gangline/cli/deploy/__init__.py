"""Commands that bring components into a cluster, take them out again, or are run in it."""
