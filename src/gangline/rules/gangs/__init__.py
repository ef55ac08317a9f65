"""What is a gang's: its members, its priority, the requests that bind them, and the note of who evicted it last."""
