"""Changes of objects that may give a gang the nodes it lacks. Candidates only: remedies.py tries them. Pure."""
