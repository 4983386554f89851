"""The report card: how the schedule did lately, from what the store kept of its visits."""
