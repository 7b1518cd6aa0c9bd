"""Measurements, each a ratio inside one run; `make bench` prints them. Nothing here is a test."""
