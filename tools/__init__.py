"""Commands that make the data which the packages ship; no part of the wheel."""
