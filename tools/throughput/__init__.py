"""Fits the throughput model from published results and prints its errors: `python -m tools.throughput`."""
