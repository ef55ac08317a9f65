"""Group admissionregistration.k8s.io v1: webhooks and admission policies.

Read by gangline.api.notation, which explains the notation. Facts only: names, types, list keys.
"""

TABLE = """
AuditAnnotation
  key str!; valueExpression str!
ExpressionWarning
  fieldRef str!; warning str!
MatchCondition
  name str!; expression str!
MatchResources atomic
  namespaceSelector LabelSelector?; objectSelector LabelSelector?; resourceRules [NamedRuleWithOperations] atomic;
  excludeResourceRules [NamedRuleWithOperations] atomic; matchPolicy str?
MutatingWebhook
  name str!; clientConfig WebhookClientConfig!; rules [RuleWithOperations] atomic; failurePolicy str?;
  matchPolicy str?; namespaceSelector LabelSelector?; objectSelector LabelSelector?; sideEffects str?!;
  timeoutSeconds int32?; admissionReviewVersions [str]! atomic; reinvocationPolicy str?;
  matchConditions [MatchCondition] by:name
MutatingWebhookConfiguration +meta
  webhooks [MutatingWebhook] by:name
NamedRuleWithOperations atomic
  resourceNames [str] atomic; operations [str] atomic; apiGroups [str] atomic; apiVersions [str] atomic;
  resources [str] atomic; scope str
ParamKind atomic
  apiVersion str; kind str
ParamRef atomic
  name str; namespace str; selector LabelSelector?; parameterNotFoundAction str?
RuleWithOperations
  operations [str] atomic; apiGroups [str] atomic; apiVersions [str] atomic; resources [str] atomic; scope str?
ServiceReference
  namespace str!; name str!; path str?; port int32?
TypeChecking
  expressionWarnings [ExpressionWarning] atomic
ValidatingAdmissionPolicy +meta
  spec ValidatingAdmissionPolicySpec; status ValidatingAdmissionPolicyStatus
ValidatingAdmissionPolicyBinding +meta
  spec ValidatingAdmissionPolicyBindingSpec
ValidatingAdmissionPolicyBindingSpec
  policyName str; paramRef ParamRef?; matchResources MatchResources?; validationActions [str] set
ValidatingAdmissionPolicySpec
  paramKind ParamKind?; matchConstraints MatchResources?; validations [Validation] atomic; failurePolicy str?;
  auditAnnotations [AuditAnnotation] atomic; matchConditions [MatchCondition] by:name; variables [Variable] by:name
ValidatingAdmissionPolicyStatus
  observedGeneration int64; typeChecking TypeChecking?; conditions [Condition] map:type
ValidatingWebhook
  name str!; clientConfig WebhookClientConfig!; rules [RuleWithOperations] atomic; failurePolicy str?;
  matchPolicy str?; namespaceSelector LabelSelector?; objectSelector LabelSelector?; sideEffects str?!;
  timeoutSeconds int32?; admissionReviewVersions [str]! atomic; matchConditions [MatchCondition] by:name
ValidatingWebhookConfiguration +meta
  webhooks [ValidatingWebhook] by:name
Validation
  expression str!; message str; reason str?; messageExpression str
Variable atomic
  name str!; expression str!
WebhookClientConfig
  url str?; service ServiceReference?; caBundle bytes
"""
