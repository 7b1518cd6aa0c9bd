"""Exports of the clouds' price calculators, read as workloads."""
