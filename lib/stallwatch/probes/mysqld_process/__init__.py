"""What the process of a database does to the processors and the memory of its host."""
