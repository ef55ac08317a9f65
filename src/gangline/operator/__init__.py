"""The operator: a PodCliqueSet becomes PodCliques, pods and PodGangs, and each PodGang what its scheduler understands.

One room per kind: `sets`, `groups`, `cliques`, `gangs`, `topologies`. Each says in `look` what is there, in `think`
what should be and in `tell` what its status says, all pure; `watches` says which changes concern it, and only
`controller` acts. `backends` has one file per scheduler, `desired` what several rooms want to exist, `memory` what a
process remembers between two looks.
"""
