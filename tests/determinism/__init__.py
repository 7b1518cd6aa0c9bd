"""Whether a plan depends on the machine's load: the same requests planned by the command under other conditions."""
