"""How fast a job runs and how much memory it needs: throughput, memory, parallelism, goodput."""
