"""Google Cloud: its catalogue files and, in fetch.py, the adapter that reads the live ones."""
