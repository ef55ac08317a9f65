"""The past on the pages: `memory.py` remembers what was seen, in a bounded number of samples, `recorded.py` reads what
a scheduler recorded, `kept_file.py` keeps the memory over restarts, `times.py` makes pages of it, `data.py` is what
they say, `charts.py` and `view.py` write them.

A room beside the other pages."""
