"""InnoDB's redo log: how near it comes to the point at which writers wait, and whether they did."""
