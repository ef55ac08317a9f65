"""PodCliqueSets: everything that a set owns."""
