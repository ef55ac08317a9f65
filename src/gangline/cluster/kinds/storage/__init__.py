"""Rules of PersistentVolume, PersistentVolumeClaim and the storage.k8s.io kinds."""
