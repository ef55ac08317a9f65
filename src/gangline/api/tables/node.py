"""Group node.k8s.io v1: runtime classes.

Read by gangline.api.notation, which explains the notation. Facts only: names, types, list keys.
"""

TABLE = """
Overhead
  podFixed {quantity}
RuntimeClass +meta
  handler str!; overhead Overhead?; scheduling Scheduling?
Scheduling
  nodeSelector {str} atomic; tolerations [Toleration] atomic
"""
