"""What InnoDB shows of itself: its redo log, the dump of its buffer pool, its status."""
