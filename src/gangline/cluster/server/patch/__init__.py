"""How a patch changes an object: JSON patch, merge patch, strategic merge, server-side apply."""
