"""Pods that a gang needs and that are not there, not let go or not grouped. Pure."""
