"""Numbers, units, dates and words as people write them in cells."""
