"""What each field of our kinds means, with its unit: one table of text per API group, read by api/descriptions.py."""
