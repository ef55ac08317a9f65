"""Group authorization.k8s.io v1: who may do what.

Read by gangline.api.notation, which explains the notation. Facts only: names, types, list keys.
"""

TABLE = """
FieldSelectorAttributes
  rawSelector str; requirements [FieldSelectorRequirement] atomic
LabelSelectorAttributes
  rawSelector str; requirements [LabelSelectorRequirement] atomic
LocalSubjectAccessReview +meta
  spec SubjectAccessReviewSpec!; status SubjectAccessReviewStatus
NonResourceAttributes
  path str; verb str
NonResourceRule
  verbs [str]! atomic; nonResourceURLs [str] atomic
ResourceAttributes
  namespace str; verb str; group str; version str; resource str; subresource str; name str;
  fieldSelector FieldSelectorAttributes?; labelSelector LabelSelectorAttributes?
ResourceRule
  verbs [str]! atomic; apiGroups [str] atomic; resources [str] atomic; resourceNames [str] atomic
SelfSubjectAccessReview +meta
  spec SelfSubjectAccessReviewSpec!; status SubjectAccessReviewStatus
SelfSubjectAccessReviewSpec
  resourceAttributes ResourceAttributes?; nonResourceAttributes NonResourceAttributes?
SelfSubjectRulesReview +meta
  spec SelfSubjectRulesReviewSpec!; status SubjectRulesReviewStatus
SelfSubjectRulesReviewSpec
  namespace str
SubjectAccessReview +meta
  spec SubjectAccessReviewSpec!; status SubjectAccessReviewStatus
SubjectAccessReviewSpec
  resourceAttributes ResourceAttributes?; nonResourceAttributes NonResourceAttributes?; user str; groups [str] atomic;
  extra {[str]}; uid str
SubjectAccessReviewStatus
  allowed bool!; denied bool; reason str; evaluationError str
SubjectRulesReviewStatus
  resourceRules [ResourceRule]! atomic; nonResourceRules [NonResourceRule]! atomic; incomplete bool!;
  evaluationError str
"""
