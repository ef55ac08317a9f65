"""The recorded answers of a kube-apiserver, replayed against a freshly started embedded server."""
