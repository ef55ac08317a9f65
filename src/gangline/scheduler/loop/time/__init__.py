"""What the loop does for time: promised starts are written, learned runtimes are kept."""
