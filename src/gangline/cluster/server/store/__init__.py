"""What is stored: objects as bytes, revisions, the journal on disk, watches."""
