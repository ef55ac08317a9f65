"""Group apiextensions.k8s.io v1: custom resource definitions.

Read by gangline.api.notation, which explains the notation. Facts only: names, types, list keys.
"""

TABLE = """
CustomResourceColumnDefinition
  name str!; type str!; format str; description str; priority int32; jsonPath str!
CustomResourceConversion
  strategy str!; webhook WebhookConversion?
CustomResourceDefinition +meta
  spec CustomResourceDefinitionSpec!; status CustomResourceDefinitionStatus
CustomResourceDefinitionCondition
  type str!; status str!; lastTransitionTime time; reason str; message str; observedGeneration int64
CustomResourceDefinitionNames
  plural str!; singular str; shortNames [str] atomic; kind str!; listKind str; categories [str] atomic
CustomResourceDefinitionSpec
  group str!; names CustomResourceDefinitionNames!; scope str!; versions [CustomResourceDefinitionVersion]! atomic;
  conversion CustomResourceConversion?; preserveUnknownFields bool
CustomResourceDefinitionStatus
  conditions [CustomResourceDefinitionCondition]! opt map:type; acceptedNames CustomResourceDefinitionNames! opt;
  storedVersions [str]! opt atomic; observedGeneration int64
CustomResourceDefinitionVersion
  name str!; served bool!; storage bool!; deprecated bool; deprecationWarning str?; schema CustomResourceValidation?;
  subresources CustomResourceSubresources?; additionalPrinterColumns [CustomResourceColumnDefinition] atomic;
  selectableFields [SelectableField] atomic
CustomResourceSubresourceScale
  specReplicasPath str!; statusReplicasPath str!; labelSelectorPath str?
CustomResourceSubresourceStatus
CustomResourceSubresources
  status CustomResourceSubresourceStatus?; scale CustomResourceSubresourceScale?
CustomResourceValidation
  openAPIV3Schema JSONSchemaProps?
ExternalDocumentation
  description str; url str
JSONSchemaProps
  id str; $schema str; $ref str?; description str; type str; format str; title str; default json?; maximum float?;
  exclusiveMaximum bool; minimum float?; exclusiveMinimum bool; maxLength int64?; minLength int64?; pattern str;
  maxItems int64?; minItems int64?; uniqueItems bool; multipleOf float?; enum [json] atomic; maxProperties int64?;
  minProperties int64?; required [str] atomic; items JSONSchemaProps|json?; allOf [JSONSchemaProps] atomic;
  oneOf [JSONSchemaProps] atomic; anyOf [JSONSchemaProps] atomic; not JSONSchemaProps?; properties {JSONSchemaProps};
  additionalProperties JSONSchemaProps|json?; patternProperties {JSONSchemaProps};
  dependencies {JSONSchemaProps|json}; additionalItems JSONSchemaProps|json?; definitions {JSONSchemaProps};
  externalDocs ExternalDocumentation?; example json?; nullable bool; x-kubernetes-preserve-unknown-fields bool?;
  x-kubernetes-embedded-resource bool; x-kubernetes-int-or-string bool; x-kubernetes-list-map-keys [str] atomic;
  x-kubernetes-list-type str?; x-kubernetes-map-type str?; x-kubernetes-validations [ValidationRule] by:rule
SelectableField
  jsonPath str!
ServiceReference
  namespace str!; name str!; path str?; port int32?
ValidationRule
  rule str!; message str; messageExpression str; reason str?; fieldPath str; optionalOldSelf bool?
WebhookClientConfig
  url str?; service ServiceReference?; caBundle bytes
WebhookConversion
  clientConfig WebhookClientConfig?; conversionReviewVersions [str]! atomic
"""
