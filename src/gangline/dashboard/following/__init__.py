"""Following a cluster for the pages: `follower.py` lists and watches, `object_facts.py` keeps the few facts of each
object beside the copies.

The only part of the dashboard that reads a cluster. It never writes to one."""
