"""later"""
from __future__ import annotations
class NodeLocalGreedy:
    name='a'
    def __init__(self,session,arguments): pass
class MultiNodeGang(NodeLocalGreedy): pass
