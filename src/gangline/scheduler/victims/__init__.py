"""Making room by evicting: the search, the list of victims it grows, and the cheap conditions that screen it. Pure."""
