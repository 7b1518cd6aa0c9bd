"""One module per change of the tables, each on top of the last."""
