"""Every request, written down: events.py says what a line holds, log.py writes it."""
