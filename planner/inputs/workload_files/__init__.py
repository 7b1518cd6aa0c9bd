"""Files that start work on a cluster (SkyPilot, Kubernetes, Kueue, Volcano, Slurm), read as workloads.

Each kind of file is one module here and one in `formats`; how long work runs is asked where a file does not say it.
"""
