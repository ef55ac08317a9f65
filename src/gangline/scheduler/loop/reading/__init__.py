"""What the loop reads for the model: which kinds become which records, and groups of singles that nobody wrote yet."""
