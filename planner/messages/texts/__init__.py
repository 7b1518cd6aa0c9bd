"""Texts by room of the core; a new module here is found."""
