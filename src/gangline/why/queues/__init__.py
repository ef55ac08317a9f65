"""What queues refuse, and why nobody makes room. Pure."""
