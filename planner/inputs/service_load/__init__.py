"""What people have of a service that runs already: results of load generators, histories of metrics, traces."""
