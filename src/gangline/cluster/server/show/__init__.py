"""How answers look: tables, discovery, OpenAPI."""
