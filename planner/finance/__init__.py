"""Cash flows, the time value of money, and figures that remember how they were computed."""
