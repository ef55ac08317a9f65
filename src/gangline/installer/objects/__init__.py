"""The objects that a Config or a SchedulingShard asks for. Pure."""
