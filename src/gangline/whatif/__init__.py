"""What would happen if: the scheduler's own core is asked about a changed picture of a cluster, and two looks are
compared.

ask.py is the way through: read.py reads, model.py lets the core come to rest, stage.py makes pods of files, changes.py
is what else may be asked, compare.py says what differs. copy.py is the whole platform on a copy, for `gangline explain
--try`. The cluster itself is only read.
"""

from gangline.whatif.ask import WhatifQuestion, ask
from gangline.whatif.changes import WhatifChanges
from gangline.whatif.compare import WhatifAnswer

__all__ = ["WhatifAnswer", "WhatifChanges", "WhatifQuestion", "ask"]
