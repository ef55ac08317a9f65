"""`python -m gangline`: the same commands as `gangline`."""

from __future__ import annotations

from gangline.start import main

if __name__ == "__main__":
    main()
