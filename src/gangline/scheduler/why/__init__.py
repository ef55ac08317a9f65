"""Why a gang got no place in a cycle: the cause, the proof, and the smallest changes that would give it one. Pure.

It looks at the model of one cycle. `gangline.why` answers for any workload from the objects of a cluster, and asks here
about the gangs that the scheduler looks at."""
