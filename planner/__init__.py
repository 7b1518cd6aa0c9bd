"""What GPU capacity to rent, commit to or buy, month by month, and what it will cost."""
