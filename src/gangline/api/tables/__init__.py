"""The shape of every kind we serve, one module per API group, in the notation of `gangline.api.notation`.

The tables are data: the embedded server compiles them into its schema engine, `api/crds.py` prints custom resource
definitions from them. Nothing here knows how either is done.
"""
