"""The gate: who and what may reach the routes of the service, within which limits, and what is recorded of it."""
