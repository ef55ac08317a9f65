"""PodGangs: their translation for a scheduler, and how they fare."""
