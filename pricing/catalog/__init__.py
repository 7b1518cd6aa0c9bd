"""Prices and offerings as plans read them, from the files of a snapshot."""
