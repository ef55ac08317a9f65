"""Who asks and what they may do: identity, impersonation, RBAC."""
