"""The scheduler alive: watch events into the model, one cycle after the other, decisions out as writes."""
