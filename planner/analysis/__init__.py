"""What follows from a solved plan: recommendation, warnings, risk, comparison, views for finance."""
