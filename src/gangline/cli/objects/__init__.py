"""Commands that write and read objects, as kubectl does: apply, get, delete, and the settings of a queue."""
