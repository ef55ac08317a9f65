"""Group scheduling.k8s.io v1: priority classes.

Read by gangline.api.notation, which explains the notation. Facts only: names, types, list keys.
"""

TABLE = """
PriorityClass +meta
  value int32!; globalDefault bool; description str; preemptionPolicy str?
"""
