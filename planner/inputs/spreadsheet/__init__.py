"""Workloads read from tables: headers, columns, units, rows."""
