"""Where a gang goes: who is next, which nodes come first, which topology domains could hold it. Pure."""
