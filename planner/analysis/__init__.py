"""Analysis of a solved plan: recommendation, warnings, risk, comparison, views for finance."""
