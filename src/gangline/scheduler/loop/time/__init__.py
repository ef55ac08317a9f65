"""What the loop does for time: starts are told, learned runtimes are kept."""
