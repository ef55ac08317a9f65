"""PodCliques: their pods."""
