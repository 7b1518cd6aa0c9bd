"""What accelerators cost, where and since when. Knows nothing of plans."""
