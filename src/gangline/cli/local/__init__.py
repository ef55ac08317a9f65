"""Commands that need no cluster: the platform on this machine, its demo and examples, traces played in virtual time."""
