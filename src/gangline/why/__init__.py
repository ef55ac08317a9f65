"""Why a workload waits, or what became of it: answered from the objects of a cluster as they stand now. Changes
nothing there.

read.py       the cluster's objects, read once (the only file besides explain.py that does input) objects.py    those
objects by kind and name; a change gives others changes.py    a change of objects as data, and a remedy: changes that
together start a gang subjects.py   what a user means by a name: workloads with their pods and gangs states.py
what is not waiting: running, starting, finished, failed, being deleted members.py    pods that are missing or behind
a gate, and why replay.py     the real cycle, run on objects until it has nothing more to do room.py       why a gang
finds no nodes, node by node queues.py     what queues refuse, and why nobody makes room causes.py     the first
thing in the way, from the outside in, with the changes that would clear it remedies.py   those changes tried one
after the other, until the gang starts answers.py    all of it in words explain.py    the way through all of these
"""
