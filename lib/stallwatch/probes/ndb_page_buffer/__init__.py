"""DiskPageBufferMemory: how often a page of the tables on disk is in memory when it is asked for."""
