"""Why a workload waits, or what became of it: answered from the objects of a cluster as they stand now. Changes
nothing there.

    read.py        the cluster's objects, read once (acts)
    explainer/     the component that writes answers on PodGroups (acts)

    objects.py     the objects by kind and name; a change gives others
    changes.py     a change of objects as data, and a remedy: changes that together start a gang
    subjects.py    what a user means by a name; workloads.py: a workload with its pods and gangs
    causes.py      what is to be said first, from the outside in; cause.py: that as a value
    waiting.py     the first thing in the way of a gang that the scheduler looks at
    replay.py      the real cycle, run on objects until it has nothing more to do
    remedies.py    the changes of a cause tried one after the other, until the gang starts
    answers.py     all of it in words

    states/        what is not waiting: running, starting, finished, failed, evicted, being deleted
    schedulers/    which scheduler a workload is for, and whether it is at work
    pods/          pods that are missing, refused, behind a gate or in no group
    queues/        what queues refuse, and why nobody makes room
    needs/         topologies, volumes and device claims that pods name
    nodes/         why nodes will not do, node by node
    fixes/         changes that may give a gang the nodes it lacks
    words/         amounts, lists and changes in words
"""
