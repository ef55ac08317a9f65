"""The read-only web page: what waits and why, what would start it, who holds the GPUs, who borrows, and where free room
is.

Stands beside the command line, above everything else. In reading order: `look.py` is what is seen of a cluster,
`gangs.py`, `queues.py` and `nodes.py` think about it, `pages.py` puts a page together, `model.py` is what a page says,
writing/ writes it as HTML, following/ follows the cluster, and `service.py` answers requests. It never writes to a
cluster."""
