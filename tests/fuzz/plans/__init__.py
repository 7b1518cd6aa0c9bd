"""Random requests over the whole schema through the command, and a checker of plans that is written apart from it.

`python -m tests.fuzz.plans --help` runs them; docs/guides/proof.md says what they show.
"""
