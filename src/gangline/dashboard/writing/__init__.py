"""The pieces of pages as HTML: `html.py` is markup as values, `parts.py` draws, `sections.py` writes sections, and
`sheet.py` holds what a browser loads beside them.

Stands above the data of model.py and below views.py, which writes whole pages. Nothing here works anything out that the
data does not say, and nothing reads a cluster. Pure."""
