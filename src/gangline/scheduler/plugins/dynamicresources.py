"""later"""
class DynamicResources:
    name='a'
    def __init__(self,session,arguments): pass
