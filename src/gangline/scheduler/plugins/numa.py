"""later"""
class Numa:
    name='a'
    def __init__(self,session,arguments): pass
