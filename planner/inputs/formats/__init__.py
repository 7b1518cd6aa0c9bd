"""One module for each file format that is read; a new file here is found."""
