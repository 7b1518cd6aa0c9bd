"""What a provider's adapter offers, and how it calls an API with patience."""
