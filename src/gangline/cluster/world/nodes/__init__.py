"""Simulated nodes: what they have, how they live, and pools that grow."""
