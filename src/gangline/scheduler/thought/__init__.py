"""What surrounds a decision, as thought: changes go into the model, decisions are booked, and it is worked out what is
written and which conditions change. No input or output: loop/ does that."""
