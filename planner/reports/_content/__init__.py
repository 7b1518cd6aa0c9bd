"""Content that several formats share: formatted numbers, charges of a bill, and the sections of the readable report."""
