"""Prices and quotas fetched through the providers' adapters."""
