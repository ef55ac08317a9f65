"""What somebody may want to write next, or may have meant: completion for shells and kubectl, and the nearest words."""
