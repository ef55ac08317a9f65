"""Rules of Service, Endpoints, Ingress and NetworkPolicy."""
