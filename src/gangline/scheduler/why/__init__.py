"""Why a gang waits: the cause, the proof, and the smallest changes that would start it. Pure."""
