"""The mathematical programs that choose, their solver, and the check of what they answer."""
