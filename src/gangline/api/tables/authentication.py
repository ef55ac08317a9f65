"""Group authentication.k8s.io v1: who is asking.

Read by gangline.api.notation, which explains the notation. Facts only: names, types, list keys.
"""

TABLE = """
BoundObjectReference
  kind str; apiVersion str; name str; uid str
SelfSubjectReview +meta
  status SelfSubjectReviewStatus
SelfSubjectReviewStatus
  userInfo UserInfo
TokenRequest +meta
  spec TokenRequestSpec!; status TokenRequestStatus
TokenRequestSpec
  audiences [str]! atomic; expirationSeconds int64?! opt; boundObjectRef BoundObjectReference?! opt
TokenRequestStatus
  token str!; expirationTimestamp time!
TokenReview +meta
  spec TokenReviewSpec!; status TokenReviewStatus
TokenReviewSpec
  token str; audiences [str] atomic
TokenReviewStatus
  authenticated bool; user UserInfo; audiences [str] atomic; error str
UserInfo
  username str; uid str; groups [str] atomic; extra {[str]}
"""
