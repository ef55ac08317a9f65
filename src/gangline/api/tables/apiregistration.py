"""Group apiregistration.k8s.io v1.

Read by gangline.api.notation, which explains the notation. Facts only: names, types, list keys.
"""

TABLE = """
APIService +meta
  spec APIServiceSpec; status APIServiceStatus
APIServiceCondition
  type str!; status str!; lastTransitionTime time; reason str; message str
APIServiceSpec
  service ServiceReference?; group str; version str; insecureSkipTLSVerify bool; caBundle bytes atomic;
  groupPriorityMinimum int32!; versionPriority int32!
APIServiceStatus
  conditions [APIServiceCondition] by:type
ServiceReference
  namespace str; name str; port int32?
"""
