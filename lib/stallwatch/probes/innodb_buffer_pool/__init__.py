"""InnoDB's buffer pool: what it had to read from the disk, what is free, what is dirty, what holds it up."""
