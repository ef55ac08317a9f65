"""OpenAPI documents, v2 and v3: what kubectl explain and generated clients read."""
