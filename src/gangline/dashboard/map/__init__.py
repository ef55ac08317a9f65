"""The map of every GPU: `cells.py` works it out, `data.py` is what it says, `view.py` writes it as HTML, and
assets/map.js draws it.

A room beside the other pages. It never reads a cluster. Pure."""
