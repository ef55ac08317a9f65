"""Group scheduling.k8s.io v1alpha3: the kinds of v1beta1, and CompositePodGroup, which only this version serves."""

from gangline.api.tables.scheduling_v1beta1 import TABLE as TABLE
