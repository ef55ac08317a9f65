"""Group rbac.authorization.k8s.io v1.

Read by gangline.api.notation, which explains the notation. Facts only: names, types, list keys.
"""

TABLE = """
AggregationRule
  clusterRoleSelectors [LabelSelector] atomic
ClusterRole +meta
  rules [PolicyRule]! opt atomic; aggregationRule AggregationRule?
ClusterRoleBinding +meta
  subjects [Subject] atomic; roleRef RoleRef!
PolicyRule
  verbs [str]! atomic; apiGroups [str] atomic; resources [str] atomic; resourceNames [str] atomic;
  nonResourceURLs [str] atomic
Role +meta
  rules [PolicyRule]! opt atomic
RoleBinding +meta
  subjects [Subject] atomic; roleRef RoleRef!
RoleRef atomic
  apiGroup str!; kind str!; name str!
Subject atomic
  kind str!; apiGroup str; name str!; namespace str
"""
