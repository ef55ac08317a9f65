"""What would happen if: a cluster is copied into memory, the same components try something there, and two looks are
compared.

copy.py makes the copy and lets it settle, compare.py says what changed. The cluster itself is only read.
"""

from gangline.whatif.compare import WhatifAnswer, WhatifView, compare
from gangline.whatif.copy import Copy

__all__ = ["Copy", "WhatifAnswer", "WhatifView", "compare"]
