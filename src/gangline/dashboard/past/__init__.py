"""The past on the pages: `memory.py` remembers what was seen, in a bounded number of samples, `recorded.py` reads what
a scheduler recorded, `times.py` makes pages of both, `data.py` is what they say, `charts.py` and `view.py` write them.

A room beside the other pages. Nothing is kept on disk here; that is the recorder's (scheduler/recording)."""
