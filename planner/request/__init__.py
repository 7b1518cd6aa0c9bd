"""The request: pydantic models, their form checked without any catalogue, errors and assumptions."""
