"""Custom resources whose versions differ: a conversion webhook turns objects of one version into another."""
