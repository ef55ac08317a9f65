"""What a cluster does around an API server: kubelets, controllers, a default scheduler, autoscalers. All are ordinary
clients."""
