"""Prices of accelerators by provider, region and date. Knows no plan."""
