"""Group discovery.k8s.io v1: endpoint slices.

Read by gangline.api.notation, which explains the notation. Facts only: names, types, list keys.
"""

TABLE = """
Endpoint
  addresses [str]! set; conditions EndpointConditions; hostname str?; targetRef ObjectReference?;
  deprecatedTopology {str}; nodeName str?; zone str?; hints EndpointHints?
EndpointConditions
  ready bool?; serving bool?; terminating bool?
EndpointHints
  forZones [ForZone] atomic; forNodes [ForNode] atomic
EndpointPort atomic
  name str?; protocol str?; port int32?; appProtocol str?
EndpointSlice +meta
  addressType str!; endpoints [Endpoint]! atomic; ports [EndpointPort]! opt atomic
ForNode
  name str!
ForZone
  name str!
"""
