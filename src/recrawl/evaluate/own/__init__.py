"""What other policies would have done with one's own past, as far as visits can tell."""
