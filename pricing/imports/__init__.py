"""Public catalogues and price files of users, read into a snapshot."""
