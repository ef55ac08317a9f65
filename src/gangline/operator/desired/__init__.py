"""What several rooms want to exist, as plain data, and when it must end. Pure."""
