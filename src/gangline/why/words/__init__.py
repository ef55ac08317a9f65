"""Amounts, lists and changes of objects in the words that people read. Pure."""
