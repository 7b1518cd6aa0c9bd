"""What several formats say in the same words: clean text, shown figures, and the sections of the readable report."""
