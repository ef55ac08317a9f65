"""Rules of what administrators write: ConfigMap, Namespace, RBAC, quotas, webhooks, policies, CRDs."""
