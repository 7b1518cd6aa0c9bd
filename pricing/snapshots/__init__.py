"""Snapshots of prices: the checks before publication, publication, history, changes."""
