"""Commands that examine a cluster: what is wrong with it, and what somebody else needs to look into it."""
