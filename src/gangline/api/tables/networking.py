"""Group networking.k8s.io v1.

Read by gangline.api.notation, which explains the notation. Facts only: names, types, list keys.
"""

TABLE = """
HTTPIngressPath
  path str; pathType str?!; backend IngressBackend!
HTTPIngressRuleValue
  paths [HTTPIngressPath]! atomic
IPAddress +meta
  spec IPAddressSpec
IPAddressSpec
  parentRef ParentReference? req
IPBlock
  cidr str!; except [str] atomic
Ingress +meta
  spec IngressSpec; status IngressStatus
IngressBackend
  service IngressServiceBackend?; resource TypedLocalObjectReference?
IngressClass +meta
  spec IngressClassSpec
IngressClassParametersReference
  apiGroup str?; kind str!; name str!; scope str?! opt; namespace str?
IngressClassSpec
  controller str; parameters IngressClassParametersReference?
IngressLoadBalancerIngress
  ip str; hostname str; ports [IngressPortStatus] atomic
IngressLoadBalancerStatus
  ingress [IngressLoadBalancerIngress] atomic
IngressPortStatus
  port int32!; protocol str!; error str?
IngressRule
  host str; http HTTPIngressRuleValue?
IngressServiceBackend
  name str!; port ServiceBackendPort
IngressSpec
  ingressClassName str?; defaultBackend IngressBackend?; tls [IngressTLS] atomic; rules [IngressRule] atomic
IngressStatus
  loadBalancer IngressLoadBalancerStatus
IngressTLS
  hosts [str] atomic; secretName str
NetworkPolicy +meta
  spec NetworkPolicySpec
NetworkPolicyEgressRule
  ports [NetworkPolicyPort] atomic; to [NetworkPolicyPeer] atomic
NetworkPolicyIngressRule
  ports [NetworkPolicyPort] atomic; from [NetworkPolicyPeer] atomic
NetworkPolicyPeer
  podSelector LabelSelector?; namespaceSelector LabelSelector?; ipBlock IPBlock?
NetworkPolicyPort
  protocol str?; port intstr?; endPort int32?
NetworkPolicySpec
  podSelector LabelSelector! opt; ingress [NetworkPolicyIngressRule] atomic; egress [NetworkPolicyEgressRule] atomic;
  policyTypes [str] atomic
ParentReference
  group str; resource str req; namespace str; name str req
ServiceBackendPort atomic
  name str; number int32
ServiceCIDR +meta
  spec ServiceCIDRSpec; status ServiceCIDRStatus
ServiceCIDRSpec
  cidrs [str] atomic
ServiceCIDRStatus
  conditions [Condition] by:type
"""
