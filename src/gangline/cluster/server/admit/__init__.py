"""Admission: the steps that may change or refuse a write after it was understood and allowed."""
