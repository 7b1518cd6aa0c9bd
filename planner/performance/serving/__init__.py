"""Language models served to many requests at once: how fast a replica is, and how many replicas arrivals need."""
