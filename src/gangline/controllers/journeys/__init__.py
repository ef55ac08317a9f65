"""Traces of gangs: how long one waited for its place and how long it took to start, as OpenTelemetry spans."""
