"""Subresources with rules of their own: binding, eviction and the output of pods, and the scale of everything."""
