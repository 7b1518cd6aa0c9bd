"""Fits the model of served language models to published results, and its intervals to results left out."""
