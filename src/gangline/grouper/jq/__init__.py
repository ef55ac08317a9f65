"""Read-only jq: the path language in which a Karta says where a workload keeps its numbers.

    compile(".spec.worker.replicas")(obj)  →  a list of results

parser.py reads a program into filters.py; functions.py and values.py say what its functions and operators do. Pure."""

from gangline.grouper.jq.parser import JqProgram, compile
from gangline.grouper.jq.values import JqError, Unsupported

__all__ = ["JqError", "JqProgram", "Unsupported", "compile"]
