"""Rules for objects of any kind: how a write is said, how one is kept small, how it reads as typed, who holds it."""
