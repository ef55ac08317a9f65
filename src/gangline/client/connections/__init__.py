"""Connections to one API server: opened, kept, secured, read; ../http.py sends requests over them."""
