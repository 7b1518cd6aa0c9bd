"""Demand by month and load block, and where each workload can run: placement, gangs, shared accelerators."""
