"""The methods of worked studies: one module for each, discovered by walking this folder."""
