"""What can be bought, rented or used: candidates, their payments, limits and quotas."""
