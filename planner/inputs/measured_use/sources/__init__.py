"""One module for each kind of file with measured use; a new file here is found."""
