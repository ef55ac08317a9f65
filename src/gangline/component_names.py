"""The names of all components, for who only names them: help texts and completion answer without loading what
components are made of.

Beside the composition root (components/), which says how each is built. Names only."""

INSTALLED = (
    "operator",
    "grouper",
    "scheduler",
    "explainer",
    "binder",
    "podgroup-controller",
    "queue-controller",
    "node-scale-adjuster",
    "numa-placement-exporter",
    "resource-reservation",
    "admission",
)
"""What the installer deploys. It gives these their rights, and nobody gives what he does not hold: so it holds them
all, everywhere."""
COMPONENT_NAMES = (*INSTALLED, "installer", "kubelet", "controller-manager", "default-scheduler", "autoscaler")
TENANT = "tenant"
"""Not a component: people with a namespace of their own, as `gangline rights` calls them."""
