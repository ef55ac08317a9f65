"""Group coordination.k8s.io v1: leases.

Read by gangline.api.notation, which explains the notation. Facts only: names, types, list keys.
"""

TABLE = """
Lease +meta
  spec LeaseSpec
LeaseSpec
  holderIdentity str?; leaseDurationSeconds int32?; acquireTime microtime?; renewTime microtime?;
  leaseTransitions int32?; strategy str?; preferredHolder str?
"""
