"""The protocol of a provider adapter, and API calls with retries."""
