"""Plug-ins of Acme for gpu-planner."""
