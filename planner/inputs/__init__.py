"""Files that people have, read as a request: spreadsheets, documents, exports of calculators, bills."""
