"""metrics.k8s.io: metrics.py says what a node or a pod uses, answers.py whom is asked about."""
