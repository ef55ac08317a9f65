"""A cluster as a file: taken, saved, loaded, replayed, made anonymous, and read from KAI's own dumps."""
