"""What a request does: get, list, create, update, patch, delete, and the subresources. A verb acts in one file; what
it reads and decides stands in others.
"""
