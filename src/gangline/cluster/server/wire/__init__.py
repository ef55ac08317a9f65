"""Bytes on a connection: TLS, HTTP, JSON, YAML and protobuf, and the limits of each."""
