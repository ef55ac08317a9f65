"""Leader election: of several copies of a component, one works."""
