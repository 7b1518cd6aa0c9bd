"""The freeze: recorded plans, reports and answers of the command line, to compare with what the code gives now."""
